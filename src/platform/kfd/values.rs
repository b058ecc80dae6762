//! The text format of topology files: lines of a key, a blank and a decimal number.
//!
//! Order does not matter and unknown keys are skipped whatever their value (kfd.md 2.1). A value that is used and is
//! not a number of its width counts as 0 and is remarked on with file and key.

use super::super::notes::Notes;

/// Largest file that is read, in bytes; the kernel's are at most a page.
pub(super) const MOST_BYTES: usize = 64 << 10;

/// The lines of one file.
pub(super) struct Values<'t> {
    /// Name of the file below the tree.
    file: &'t str,
    lines: Vec<(&'t [u8], &'t [u8])>,
    notes: &'t mut Notes,
}

/// What a file says about one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// The key is not there.
    Absent,
    /// The key has a number that fits.
    Number(u64),
    /// The key has something else; a remark was made.
    Malformed,
}

impl Entry {
    /// The number, 0 without one.
    pub(super) fn or_zero(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Absent | Self::Malformed => 0,
        }
    }
}

impl<'t> Values<'t> {
    /// Splits the text of `file`. Text beyond [`MOST_BYTES`] is left out, with the line that the limit cuts.
    pub(super) fn new(file: &'t str, mut text: &'t [u8], notes: &'t mut Notes) -> Self {
        if text.len() > MOST_BYTES {
            let whole = text[..MOST_BYTES].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
            text = &text[..whole];
            notes.say(format!("{file} has more than {MOST_BYTES} bytes: the rest is not read"));
        }
        let lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let lines = lines.map(|line| {
            let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
            (&line[..end], line[end..].trim_ascii())
        });
        Self { file, lines: lines.collect(), notes }
    }

    /// The text behind `key`: the last one where lines repeat, with a remark where they disagree.
    fn text(&mut self, key: &str) -> Option<&'t [u8]> {
        let mut found = self.lines.iter().filter(|(k, _)| *k == key.as_bytes()).map(|(_, value)| *value);
        let first = found.next()?;
        let (last, differ) = found.fold((first, false), |(_, differ), value| (value, differ || value != first));
        if differ {
            self.notes.say(format!("{}: {key} is there several times, the last value is taken", self.file));
        }
        Some(last)
    }

    /// Remarks on the first of `keys` that is not there. They are those that every kernel writes, the last one of the
    /// file among them: without it the file was cut.
    pub(super) fn need(&mut self, keys: &[&str]) {
        if let Some(key) = keys.iter().find(|key| !self.lines.iter().any(|(k, _)| *k == key.as_bytes())) {
            self.notes.incomplete(format!("{}: {key} is missing, taken as 0", self.file));
        }
    }

    /// The number behind `key`, at most `most`.
    pub(super) fn entry(&mut self, key: &str, most: u64) -> Entry {
        let Some(text) = self.text(key) else { return Entry::Absent };
        match decimal(text).filter(|number| *number <= most) {
            Some(number) => Entry::Number(number),
            None => {
                let shown = shown(text);
                self.notes.say(format!("{}: {key} is {shown}, not a decimal number up to {most}", self.file));
                Entry::Malformed
            }
        }
    }

    /// The 64-bit number behind `key`.
    pub(super) fn u64(&mut self, key: &str) -> u64 {
        self.entry(key, u64::MAX).or_zero()
    }

    /// The 32-bit number behind `key`.
    pub(super) fn u32(&mut self, key: &str) -> u32 {
        self.entry(key, u32::MAX.into()).or_zero() as u32
    }

    /// The 16-bit number behind `key`.
    pub(super) fn u16(&mut self, key: &str) -> u16 {
        self.entry(key, u16::MAX.into()).or_zero() as u16
    }

    /// The 8-bit number behind `key`.
    pub(super) fn u8(&mut self, key: &str) -> u8 {
        self.entry(key, u8::MAX.into()).or_zero() as u8
    }

    /// Fills `list` from the comma-separated numbers behind `key`; numbers beyond it are dropped with a remark.
    pub(super) fn fill(&mut self, key: &str, list: &mut [u32]) {
        let Some(text) = self.text(key) else { return };
        let text = text.strip_suffix(b",").unwrap_or(text);
        if text.is_empty() {
            return;
        }
        for (index, item) in text.split(|b| *b == b',').enumerate() {
            let Some(slot) = list.get_mut(index) else {
                let room = list.len();
                self.notes.say(format!("{}: {key} has more than {room} entries, the rest is dropped", self.file));
                return;
            };
            match decimal(item.trim_ascii()).and_then(|number| u32::try_from(number).ok()) {
                Some(number) => *slot = number,
                None => {
                    let item = shown(item);
                    self.notes.say(format!("{}: entry {index} of {key} is {item}, taken as 0", self.file));
                }
            }
        }
    }

    /// Makes a remark about `key`.
    pub(super) fn remark(&mut self, key: &str, what: &str) {
        self.notes.say(format!("{}: {key} {what}", self.file));
    }
}

/// A number of decimal digits and nothing else.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| match byte {
        b'0'..=b'9' => number.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// `text` in quotes and short enough for a line of a log.
pub(super) fn shown(text: &[u8]) -> String {
    let cut = &text[..text.len().min(24)];
    format!("\"{}\"{}", cut.escape_ascii(), if cut.len() < text.len() { "..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(text: &[u8], ask: impl FnOnce(&mut Values<'_>) -> T) -> (T, Vec<String>) {
        let mut notes = Notes::default();
        let answer = ask(&mut Values::new("f", text, &mut notes));
        (answer, notes.into_lines())
    }

    #[test]
    fn lines_may_end_anyhow_and_blanks_do_not_matter() {
        for text in [&b"a 1\nb 22\n"[..], b"a 1\r\nb 22\r\n", b"\n  a\t 1  \n\n b  22"] {
            assert_eq!(with(text, |v| (v.u32("a"), v.u32("b"))), ((1, 22), vec![]));
        }
    }

    #[test]
    fn what_is_not_a_number_of_the_width_counts_as_zero_and_is_named() {
        for value in ["-1", "+1", "0x10", "", "4294967296", "99999999999999999999999", "1 2", "1,", "\u{663}"] {
            let (number, remarks) = with(format!("key {value}\n").as_bytes(), |v| v.u32("key"));
            assert_eq!((number, remarks.len()), (0, 1), "{value}");
            assert!(remarks[0].starts_with("f: key is \""), "{remarks:?}");
        }
        assert_eq!(with(b"key 256", |v| v.u8("key")).1, ["f: key is \"256\", not a decimal number up to 255"]);
        assert_eq!(with(b"other 0x10\n", |v| v.u32("key")), (0, vec![]));
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        assert_eq!(with(b"a 1\na 1\n", |v| v.u32("a")), (1, vec![]));
        let (number, remarks) = with(b"a 1\na 2\n", |v| v.u32("a"));
        assert_eq!((number, remarks.len()), (2, 1));
    }

    #[test]
    fn lists_are_filled_and_bounded() {
        let mut list = [7; 3];
        assert_eq!(with(b"m 1,0,1,\n", |v| v.fill("m", &mut list)).1, [""; 0]);
        assert_eq!(list, [1, 0, 1]);
        assert_eq!(with(b"m 1,1,1,1", |v| v.fill("m", &mut list)).1.len(), 1);
        assert_eq!(with(b"m 1,x,1", |v| v.fill("m", &mut [0; 3])).1, ["f: entry 1 of m is \"x\", taken as 0"]);
        assert_eq!(with(b"m ", |v| v.fill("m", &mut [0; 3])).1, [""; 0]);
    }

    #[test]
    fn a_number_that_the_limit_cuts_is_not_used() {
        let mut text = b"a 1\n".to_vec();
        text.resize(MOST_BYTES - 3, b'\n');
        text.extend_from_slice(b"b 123456\n");
        let ((a, b), remarks) = with(&text, |v| (v.u32("a"), v.entry("b", u64::MAX)));
        assert_eq!((a, b, remarks.len()), (1, Entry::Absent, 1));
    }
}
