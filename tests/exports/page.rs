//! `docs/status.md`: one row for each export, and each says what a call returns.

use std::collections::BTreeMap;

use crate::caller::{Client, Library, MOST, Words};
use crate::facts::{self, Function, Kind};

const PAGE: &str = include_str!("../../docs/status.md");

/// What a row says.
pub struct Row {
    pub function: String,
    library: String,
    pub state: String,
    /// Before the first open, and with an open device and a snapshot.
    pub returns: [String; 2],
}

pub fn rows() -> Vec<Row> {
    let (_, table) = PAGE.split_once("\n## The table\n").expect("the page has a table");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
        let [function, library, state, before, after] = cells.try_into().unwrap_or_else(|_| panic!("{line}"));
        Row { function, library, state, returns: [before, after] }
    })
    .collect()
}

/// What the page calls a returned value.
pub fn spelled(function: &Function, returned: i32) -> String {
    let errno = [(0, "0"), (-1, "-1"), (-libc::EINVAL, "-EINVAL"), (-libc::ENOTSUP, "-ENOTSUP")];
    if function.is_drm() {
        let known = errno.iter().find(|(value, _)| *value == returned).map(|(_, name)| (*name).to_owned());
        return known.unwrap_or_else(|| if returned > 0 { "a file".into() } else { returned.to_string() });
    }
    let abi = facts::abi();
    let constants = abi["enums"]["HSAKMT_STATUS"]["constants"].as_object().expect("an enumeration");
    let name = constants.iter().find(|(_, value)| value.as_i64() == Some(returned.into()));
    name.map_or_else(|| returned.to_string(), |(name, _)| name.trim_start_matches("HSAKMT_STATUS_").to_owned())
}

/// Arguments as a program that knows the API would pass them: GPU node 1, one page, one element, handles that are not 0.
pub fn sensible(client: &mut Client<'_>) -> Words {
    let mut words = client.zeros();
    let parameters: [_; MOST] = std::array::from_fn(|index| client.function.parameters.get(index).cloned());
    for (index, parameter) in parameters.into_iter().enumerate() {
        let Some(parameter) = parameter else { break };
        if let Some(object) = &mut client.objects[index] {
            let first: &[u8] = match parameter.c_type.as_str() {
                // The size that comes first in these.
                "HsaStructureSizes*" => &16_u16.to_ne_bytes(),
                "rocdxg_smi_device_info_t*" => &3632_u32.to_ne_bytes(),
                "HSAuint32*" => &1_u32.to_ne_bytes(),
                _ => &[],
            };
            object.zeroed()[..first.len()].copy_from_slice(first);
            continue;
        }
        words[index] = match (parameter.c_type.as_str(), parameter.name.as_str()) {
            ("HSA_QUEUE_TYPE", _) => 21,
            ("HSA_QUEUE_PRIORITY" | "HSA_EXTERNAL_SEMAPHORE_HANDLE_TYPE", _) => 0,
            ("HSA_EXTERNAL_SEMAPHORE_HANDLE", _) => 1 << 32 | 1,
            ("HsaMemFlags", _) => 1 << 6,
            ("enum amdgpu_bo_handle_type", _) => 2,
            (_, "CUMaskCount") => 32,
            (_, name) if name.to_lowercase().contains("size") => 4096,
            _ if parameter.kind == Kind::Bool => 0,
            _ => 1,
        };
    }
    words
}

#[test]
fn every_export_has_one_row_and_every_row_tells_its_library() {
    let of_hsakmt = facts::listed(include_str!("../../hsakmt/libhsakmt.ver"));
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for row in self::rows() {
        let name = row.function.clone();
        assert!(rows.insert(name.clone(), row).is_none(), "{name} has two rows");
    }
    for function in facts::exports() {
        let row = rows.remove(&function.name).unwrap_or_else(|| panic!("{} has no row", function.name));
        let library = if of_hsakmt.contains(&function.name) { "both" } else { "librocdxg" };
        assert_eq!(row.library, library, "{}", function.name);
        match row.state.split_once(": ") {
            None => assert_eq!(row.state, "works", "{}", function.name),
            Some((kind, why)) => {
                assert!(["checks only", "cannot exist"].contains(&kind) && !why.is_empty(), "{}", function.name);
                assert!(!["SUCCESS", "0"].contains(&row.returns[1].as_str()), "{}: not done", function.name);
            }
        }
    }
    assert_eq!(rows.into_keys().collect::<Vec<_>>(), Vec::<String>::new(), "not exported");
}

#[test]
fn every_row_tells_what_the_function_returns() {
    let library = Library::load();
    let functions = facts::exports();
    let mut wrong = Vec::new();
    for row in rows() {
        let function = functions.iter().find(|function| function.name == row.function).expect("it is exported");
        let compared = library.in_child(function, |client| {
            let words = sensible(client);
            let before = spelled(function, client.call(words)?);
            client.library.open();
            let words = sensible(client);
            let after = spelled(function, client.call(words)?);
            if [&before, &after] == [&row.returns[0], &row.returns[1]] {
                Ok(())
            } else {
                Err(format!("`{before}` | `{after}`, and the page says {:?}", row.returns))
            }
        });
        wrong.extend(compared.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
