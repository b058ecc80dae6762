//! Remarks on what was read, bounded however bad the input is.

use std::collections::BTreeMap;

/// Remarks that are kept; further ones are only counted.
const MOST_LINES: usize = 100;

/// Collects remarks.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    lines: Vec<String>,
    /// Kind of remark: its line, and how many more of it came.
    kinds: BTreeMap<String, (usize, usize)>,
    beyond: usize,
    incomplete: usize,
}

/// A place among the remarks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    lines: usize,
    passing: usize,
}

impl Notes {
    /// Adds a remark.
    pub(crate) fn say(&mut self, line: impl Into<String>) {
        if self.lines.len() < MOST_LINES {
            self.lines.push(line.into());
        } else {
            self.beyond += 1;
        }
    }

    /// Adds a remark of a kind of which only the first is spelled out.
    pub(crate) fn once(&mut self, kind: &str, line: impl Into<String>) {
        if let Some((_, more)) = self.kinds.get_mut(kind) {
            *more += 1;
        } else if self.lines.len() < MOST_LINES {
            self.kinds.insert(kind.to_owned(), (self.lines.len(), 0));
            self.lines.push(line.into());
        } else {
            self.beyond += 1;
        }
    }

    /// Adds a remark on something of which a part was not there.
    pub(crate) fn incomplete(&mut self, line: impl Into<String>) {
        self.incomplete += 1;
        self.say(line);
    }

    /// Where the remarks are now, for [`Notes::since`].
    pub(crate) fn mark(&self) -> Mark {
        Mark { lines: self.lines.len(), passing: self.passing() }
    }

    /// The remarks since `mark`, if the same input would bring just these again: none has no line of its own, and none
    /// is on something incomplete, which may be whole the next time.
    pub(crate) fn since(&self, mark: Mark) -> Option<Vec<String>> {
        (self.passing() == mark.passing).then(|| self.lines[mark.lines..].to_vec())
    }

    /// Remarks that [`Notes::since`] cannot give.
    fn passing(&self) -> usize {
        self.incomplete + self.beyond + self.kinds.values().map(|(_, more)| more).sum::<usize>()
    }

    /// The remarks, in the order in which they came.
    pub(crate) fn into_lines(mut self) -> Vec<String> {
        for (line, more) in self.kinds.into_values().filter(|(_, more)| *more > 0) {
            self.lines[line].push_str(&format!(" (and {more} more like it)"));
        }
        if self.beyond > 0 {
            self.lines.push(format!("{} further remarks are left out", self.beyond));
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_spelled_out_once_and_counted() {
        let mut notes = Notes::default();
        notes.once("gpu_id", "nodes/0/gpu_id is absent");
        notes.say("something else");
        notes.once("gpu_id", "nodes/1/gpu_id is absent");
        notes.once("gpu_id", "nodes/2/gpu_id is absent");
        assert_eq!(notes.into_lines(), ["nodes/0/gpu_id is absent (and 2 more like it)", "something else"]);
    }

    #[test]
    fn what_was_said_since_a_mark_is_known_if_it_would_be_said_again() {
        let mut notes = Notes::default();
        notes.once("kind", "before");
        let mark = notes.mark();
        assert_eq!(notes.since(mark), Some(vec![]));
        notes.say("after");
        assert_eq!(notes.since(mark), Some(vec!["after".to_owned()]));
        notes.once("kind", "again");
        assert_eq!(notes.since(mark), None);
        let mark = notes.mark();
        notes.incomplete("cut");
        assert_eq!(notes.since(mark), None);
        (0..MOST_LINES).for_each(|n| notes.say(n.to_string()));
        let mark = notes.mark();
        notes.say("left out");
        assert_eq!(notes.since(mark), None);
    }

    #[test]
    fn a_flood_is_cut_and_counted() {
        let mut notes = Notes::default();
        (0..MOST_LINES + 7).for_each(|n| notes.say(n.to_string()));
        let lines = notes.into_lines();
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines.last().map(String::as_str), Some("7 further remarks are left out"));
    }
}
