//! Names as the fixed arrays of `HsaNodeProperties` hold them: always ended by a zero.

use super::GfxVersion;

/// UTF-16 text of at most 63 units, never cut inside a character.
pub fn wide(name: &str) -> [u16; 64] {
    let mut out = [0; 64];
    let mut used = 0;
    for character in name.chars() {
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units);
        if used + units.len() >= out.len() {
            break;
        }
        out[used..used + units.len()].copy_from_slice(units);
        used += units.len();
    }
    out
}

/// ASCII text of at most 63 bytes; what is not ASCII becomes '?'.
pub fn ascii(name: &str) -> [u8; 64] {
    let mut out = [0; 64];
    for (slot, character) in out[..63].iter_mut().zip(name.chars()) {
        *slot = u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(b'?');
    }
    out
}

/// "GFX" and six lower-case hexadecimal digits: major, minor, stepping (dxg.md 2.4, kfd.md 2.4).
pub fn numbered(version: GfxVersion) -> String {
    format!("GFX{:02x}{:02x}{:02x}", version.major, version.minor, version.stepping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters_and_ended() {
        let name = wide(&("x".repeat(62) + "\u{1f600}"));
        assert_eq!((name[61], name[62], name[63]), (u16::from(b'x'), 0, 0));
        assert_eq!(ascii(&"y".repeat(100))[63], 0);
        assert_eq!(&ascii("a\u{e9}")[..3], b"a?\0");
    }

    #[test]
    fn gfx90a_is_spelled_in_hexadecimal() {
        assert_eq!(numbered(GfxVersion { major: 9, minor: 0, stepping: 10 }), "GFX09000a");
    }
}
