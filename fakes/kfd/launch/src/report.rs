//! What is told at the end: a line, or a JSON file.
//!
//! Touches the report file.

use core::fmt::Write as _;

use rocdxg_fake_kfd::{Kernel, Ledger};

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            // Writing to a string does not fail.
            c if c < ' ' => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A JSON object of numbers.
fn object(entries: impl IntoIterator<Item = (String, u64)>) -> String {
    let entries: Vec<_> = entries.into_iter().map(|(name, count)| format!("{}: {count}", quoted(&name))).collect();
    format!("{{{}}}", entries.join(", "))
}

/// The report: `status` is the exit status, `left` what processes had when they ended.
pub fn json(kernel: &Kernel, left: &Ledger, status: u8) -> String {
    let ledger = [
        ("kfd_opens", left.kfd_opens),
        ("render_opens", left.render_opens),
        ("processes", left.processes),
        ("bound_vms", left.bound_vms),
        ("buffers", left.buffers),
        ("mappings", left.mappings),
        ("events", left.events),
    ];
    let violations: Vec<_> = kernel.violations().iter().map(|text| quoted(text)).collect();
    format!(
        "{{\n  \"status\": {status},\n  \"left\": {},\n  \"calls\": {},\n  \"unknown\": {},\n  \
         \"violation_count\": {},\n  \"violations\": [{}]\n}}\n",
        object(ledger.map(|(name, count)| (name.to_owned(), count))),
        object(kernel.call_counts().iter().map(|(name, count)| ((*name).to_owned(), *count))),
        object(kernel.unknown().iter().map(|(request, count)| (format!("{request:#010x}"), *count))),
        kernel.violation_count(),
        violations.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quoted("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    }
}
