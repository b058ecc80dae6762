//! User memory that a buffer takes: whether the driver could fault its pages in for writing.

use crate::errno::{Answer, Errno};

/// Checks a range against the text of `/proc/<pid>/maps` (kfd-kernel.md 2.9 step 8). `devices` are marks in the name of a
/// mapping that tell one of a device.
///
/// Errors: EFAULT for a hole, a mapping without access or of a device; EPERM for one that cannot be written.
pub fn pinnable(maps: &str, address: u64, bytes: u64, devices: &[&str]) -> Answer {
    let end = address.checked_add(bytes).ok_or(Errno::EFAULT)?;
    let mut next = address;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (words.next(), words.next()) else { continue };
        let bound = |text: &str| u64::from_str_radix(text, 16).ok();
        let Some((Some(first), Some(last))) = range.split_once('-').map(|(a, b)| (bound(a), bound(b))) else {
            continue;
        };
        if last <= next || next >= end {
            continue;
        }
        if first > next || !access.starts_with('r') || devices.iter().any(|mark| line.contains(mark)) {
            return Err(Errno::EFAULT);
        }
        if access.as_bytes().get(1) != Some(&b'w') {
            return Err(Errno::EPERM);
        }
        next = last;
    }
    if next >= end { Ok(()) } else { Err(Errno::EFAULT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_34_holes_and_devices_fault_and_read_only_memory_is_eperm() {
        let maps = "1000-3000 rw-p 00000000 00:00 0 \n3000-4000 r--p 00000000 00:00 0 [x]\n\
                    4000-5000 ---p 00000000 00:00 0\n8000-9000 rw-s 00000000 00:01 7 /memfd:device (deleted)\n";
        let check = |address, bytes| pinnable(maps, address, bytes, &["/memfd:device"]);
        assert_eq!(check(0x1000, 0x2000), Ok(()));
        assert_eq!(check(0x2000, 0x1000), Ok(()));
        assert_eq!(check(0x2000, 0x2000), Err(Errno::EPERM));
        assert_eq!(check(0x4000, 0x1000), Err(Errno::EFAULT));
        assert_eq!(check(0x5000, 0x1000), Err(Errno::EFAULT));
        assert_eq!(check(0x0, 0x2000), Err(Errno::EFAULT));
        assert_eq!(check(0x8000, 0x1000), Err(Errno::EFAULT));
        assert_eq!(check(0x9000, 0x1000), Err(Errno::EFAULT));
        assert_eq!(check(u64::MAX - 0xfff, 0x1000), Err(Errno::EFAULT));
    }
}
