//! Lines on standard error.
//!
//! A line is formatted without allocation and written with one `write`: safe after a fork, whole among other lines.
//! Its form is `pid:N tid:0xN [function] text`.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::platform::os;

/// How much a line matters; the numbers are those of `HSAKMT_DEBUG_LEVEL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Level {
    /// The machine does not let the thunk do its work.
    Error = 3,
    /// Something is left out or assumed, or a caller misuses the API.
    Warning = 4,
    /// What was decided.
    Info = 6,
    /// What happens.
    Debug = 7,
}

/// Threshold: lines of this number and below are written.
#[derive(Debug)]
pub struct Log {
    threshold: AtomicI32,
}

/// What is in force when `HSAKMT_DEBUG_LEVEL` says nothing usable (dxg.md 1.4).
pub const DEFAULT_THRESHOLD: i32 = Level::Error as i32;

impl Log {
    /// A log at the default threshold.
    pub const fn new() -> Self {
        Self { threshold: AtomicI32::new(DEFAULT_THRESHOLD) }
    }

    /// Changes the threshold.
    pub fn set_threshold(&self, threshold: i32) {
        self.threshold.store(threshold, Ordering::Relaxed);
    }

    /// Writes one line if `level` is within the threshold.
    pub fn line(&self, level: Level, function: &str, text: fmt::Arguments<'_>) {
        if level as i32 > self.threshold.load(Ordering::Relaxed) {
            return;
        }
        let mut line = Line { bytes: [0; LINE_BYTES], used: 0 };
        // `Line` never fails: what does not fit is cut.
        let _ = write!(line, "pid:{} tid:{:#x} [{function}] {text}", os::pid(), os::tid());
        os::write_stderr(line.finish());
    }
}

impl Default for Log {
    fn default() -> Self {
        Self::new()
    }
}

const LINE_BYTES: usize = 1024;

struct Line {
    bytes: [u8; LINE_BYTES],
    used: usize,
}

impl Line {
    fn finish(&mut self) -> &[u8] {
        self.bytes[self.used] = b'\n';
        &self.bytes[..=self.used]
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // One place stays free for the line's end.
        let room = LINE_BYTES - 1 - self.used;
        for (slot, byte) in self.bytes[self.used..].iter_mut().zip(text.bytes().take(room)) {
            // Names come from drivers and files: no control character of theirs breaks a line or moves a cursor.
            *slot = if byte < 0x20 || byte == 0x7f { b' ' } else { byte };
        }
        self.used += text.len().min(room);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_bounded() {
        let mut line = Line { bytes: [0; LINE_BYTES], used: 0 };
        write!(line, "a\nb\x1b[31m").unwrap();
        assert_eq!(line.finish(), b"a b [31m\n");
        let mut line = Line { bytes: [0; LINE_BYTES], used: 0 };
        write!(line, "{}", "x".repeat(5000)).unwrap();
        assert_eq!(line.finish().len(), LINE_BYTES);
        assert_eq!(line.finish()[LINE_BYTES - 1], b'\n');
    }
}
