//! The environment, read here and nowhere else.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::log;
use crate::abi::generation::Generation;
use crate::platform::{Choice, GfxVersion, Host, MemoryOptions, Options, os};

/// What the environment said at the first open (dxg.md 1.4).
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where absolute paths start (`ROCDXG_ROOT`).
    pub host: Host,
    /// `ROCDXG_PLATFORM`: the platform to use instead of the one that the machine has.
    pub platform: Choice,
    /// `ROCDXG_KMD_PROVIDER`: shared object to ask instead of the one beside the library.
    pub kmd_provider: Option<PathBuf>,
    /// `HSAKMT_DEBUG_LEVEL`.
    pub log_threshold: i32,
    /// Remarks on values that were not understood.
    pub remarks: Vec<String>,
}

/// A variable whose value makes it impossible to go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value:?} is not major.minor.stepping with major at most 63 and the others at most 255")]
pub struct BadOverride {
    name: String,
    value: String,
}

impl Settings {
    /// Reads what holds from the first open to the last close.
    pub fn read() -> Self {
        let mut remarks = Vec::new();
        let host = match file_variable("ROCDXG_ROOT", &mut remarks) {
            Some(root) => Host::rooted(root),
            None => Host::live(),
        };
        if let Some(value) = text("ROCR_VISIBLE_DEVICES") {
            // Which GPUs are used is the runtime's business; the thunk only says when a number cannot be one.
            let odd = |part: &str| part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u32>().is_err();
            if value.split(',').map(str::trim).any(|part| !part.is_empty() && odd(part)) {
                remarks.push(format!("ROCR_VISIBLE_DEVICES={value:?} names a device number that cannot exist"));
            }
        }
        const PLATFORM: &str = "ROCDXG_PLATFORM";
        let platform = match text(PLATFORM) {
            None => Choice::Automatic,
            Some(value) => choice(&value).unwrap_or_else(|| {
                remarks.push(format!("{PLATFORM}={value:?} is neither kfd nor dxg; ignored"));
                Choice::Automatic
            }),
        };
        let kmd_provider = file_variable("ROCDXG_KMD_PROVIDER", &mut remarks);
        Self { host, platform, kmd_provider, log_threshold: log_threshold(), remarks }
    }
}

/// `HSAKMT_DEBUG_LEVEL`, or the default.
pub fn log_threshold() -> i32 {
    text("HSAKMT_DEBUG_LEVEL").and_then(|value| integer(&value)).unwrap_or(log::DEFAULT_THRESHOLD)
}

/// Reads what holds for one snapshot.
pub fn snapshot_options(remarks: &mut Vec<String>) -> Result<Options, BadOverride> {
    let gfx_override = match text(GFX_OVERRIDE) {
        None => None,
        Some(value) => Some(required_version(GFX_OVERRIDE, value)?),
    };
    let mut gfx_override_per_node = BTreeMap::new();
    for (name, value) in env::vars_os() {
        let Some(node) = name.to_str().and_then(|name| name.strip_prefix(GFX_OVERRIDE)?.strip_prefix('_')) else {
            continue;
        };
        if let (Ok(node), false) = (node.parse(), value.is_empty()) {
            gfx_override_per_node.insert(node, required_version(&name.to_string_lossy(), lossy(value))?);
        }
    }
    const ADMIT: &str = "LIBROCDXG_ENABLE_UNSUPPORTED_ADAPTERS";
    let admit_unlisted = match text(ADMIT) {
        None => false,
        Some(value) => switch(&value).unwrap_or_else(|| {
            remarks.push(format!("{ADMIT}={value:?} is neither on nor off; taken as off"));
            false
        }),
    };
    let use_svm = text("HSA_USE_SVM").as_deref() != Some("0");
    let memory = memory_options(remarks);
    Ok(Options { admit_unlisted, gfx_override, gfx_override_per_node, use_svm, memory, ..Options::default() })
}

/// How memory is given out (kfd.md 1.6).
fn memory_options(remarks: &mut Vec<String>) -> MemoryOptions {
    let on = |name| text(name).is_some_and(|value| value != "0");
    let mut number = |name: &str, default: u32, most: u32| match text(name) {
        None => default,
        Some(value) => match value.trim().parse() {
            Ok(number) if number <= most => number,
            _ => {
                remarks.push(format!("{name}={value:?} is no number from 0 to {most}; taken as {default}"));
                default
            }
        },
    };
    let plain = MemoryOptions::default();
    MemoryOptions {
        disable_cache: on("HSA_DISABLE_CACHE"),
        user_pages: text("HSA_USERPTR_FOR_PAGED_MEM").as_deref() != Some("0"),
        zero_frame_buffer: text("HSA_ZFB").and_then(|value| integer(&value)).is_some_and(|value| value != 0),
        reserve: on("HSA_RESERVE_SVM"),
        guard_pages: number("HSA_SVM_GUARD_PAGES", plain.guard_pages, 1 << 20),
        sub_allocator: text("WSL_ENABLE_THUNK_SUB_ALLOCATOR").as_deref() != Some("0"),
        most_alignment: number("HSA_MAX_VA_ALIGN", plain.most_alignment, 30),
    }
}

const GFX_OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";

fn required_version(name: &str, value: String) -> Result<GfxVersion, BadOverride> {
    gfx_version(&value).ok_or_else(|| BadOverride { name: name.to_owned(), value })
}

/// `ROCDXG_ABI`, where it names a release.
pub fn forced_generation() -> Option<Generation> {
    Generation::named(text("ROCDXG_ABI")?.trim())
}

/// The value of a variable; empty counts as unset, what is not UTF-8 is replaced.
fn text(name: &str) -> Option<String> {
    env::var_os(name).filter(|value| !value.is_empty()).map(lossy)
}

fn lossy(value: OsString) -> String {
    value.into_string().unwrap_or_else(|raw| raw.to_string_lossy().into_owned())
}

/// A variable that names a file; not followed in programs that run with more rights than their user.
fn file_variable(name: &str, remarks: &mut Vec<String>) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty())?;
    if os::is_privileged() {
        remarks.push(format!("{name} is ignored: this program runs with more rights than its user"));
        return None;
    }
    Some(PathBuf::from(value))
}

/// Decimal, with blanks before and blanks or line ends after; anything else, or out of range, is no number.
fn integer(value: &str) -> Option<i32> {
    let value = value.trim_start().trim_end_matches([' ', '\t', '\r', '\n']);
    value.parse().ok()
}

fn switch(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn choice(value: &str) -> Option<Choice> {
    match value.trim().to_ascii_lowercase().as_str() {
        "kfd" => Some(Choice::Kfd),
        "dxg" => Some(Choice::Dxg),
        _ => None,
    }
}

/// "major.minor.stepping", exactly three decimal numbers.
pub fn gfx_version(value: &str) -> Option<GfxVersion> {
    let mut parts = value.trim().split('.');
    let mut next = |most: u8| {
        let part = parts.next()?;
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<u8>().ok().filter(|&number| digits && number <= most)
    };
    let version = GfxVersion { major: next(63)?, minor: next(255)?, stepping: next(255)? };
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_follow_the_rule_of_the_original() {
        assert_eq!(integer("7"), Some(7));
        assert_eq!(integer(" -1 \r\n"), Some(-1));
        assert_eq!(integer("7x"), None);
        assert_eq!(integer("99999999999"), None);
        assert_eq!(integer(""), None);
    }

    #[test]
    fn gfx_versions_are_three_numbers() {
        assert_eq!(gfx_version("11.0.0"), Some(GfxVersion { major: 11, minor: 0, stepping: 0 }));
        assert_eq!(gfx_version("63.255.255").map(|v| v.stepping), Some(255));
        for bad in
            ["", "11", "11.0", "11.0.0.0", "64.0.0", "11.256.0", "11.0.-1", "11.0.+1", "gfx1100", "a.b.c", "11..0"]
        {
            assert_eq!(gfx_version(bad), None, "{bad}");
        }
    }

    #[test]
    fn platforms_have_two_names() {
        assert_eq!(choice("kfd"), Some(Choice::Kfd));
        assert_eq!(choice(" DXG "), Some(Choice::Dxg));
        for bad in ["", "wsl", "/dev/kfd", "kfd,dxg"] {
            assert_eq!(choice(bad), None, "{bad}");
        }
    }

    #[test]
    fn switches_know_eight_words() {
        for (word, value) in [("1", true), ("TRUE", true), ("Yes", true), ("on", true), ("0", false), ("off", false)] {
            assert_eq!(switch(word), Some(value));
        }
        assert_eq!(switch("maybe"), None);
    }
}
