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
    fn a_flood_is_cut_and_counted() {
        let mut notes = Notes::default();
        (0..MOST_LINES + 7).for_each(|n| notes.say(n.to_string()));
        let lines = notes.into_lines();
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines.last().map(String::as_str), Some("7 further remarks are left out"));
    }
}
