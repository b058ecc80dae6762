//! The thunk inside the test, over the software libdxcore that is linked into it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dxcore::control;
use rocdxg::abi::*;
use rocdxg::ffi::*;

/// One test at a time: the thunk and the software machine are one per process.
static ONE: Mutex<()> = Mutex::new(());

/// A machine that this test has for itself.
pub struct Machine {
    _one: MutexGuard<'static, ()>,
    variables: Vec<&'static str>,
}

impl Machine {
    /// Starts `name` of `fakes/machines`.
    pub fn named(name: &str) -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        rocdxg::process::embed_dxcore(dxcore::lookup);
        announce();
        // What a test that failed half-way left behind.
        while close() == HSAKMT_STATUS_SUCCESS {}
        control::set_machine(name).expect("the machine exists and nothing is alive");
        Self { _one: one, variables: Vec::new() }
    }

    /// Sets an environment variable until the machine goes.
    #[allow(dead_code)] // Not every test of those that share this file needs it.
    pub fn set(&mut self, variable: &'static str, value: &str) {
        // SAFETY: the lock keeps every other test away, and nothing else in this process reads the environment.
        unsafe { std::env::set_var(variable, value) };
        self.variables.push(variable);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for variable in &self.variables {
            // SAFETY: as in `set`.
            unsafe { std::env::remove_var(variable) };
        }
    }
}

/// Announces the newest structures, which are those of this test.
fn announce() {
    let mut sizes = HsaStructureSizes {
        StructureSizes: size_of::<HsaStructureSizes>() as u16,
        SizeOfHsaNodeProperties: size_of::<HsaNodeProperties>() as u16,
        SizeOfHsaExternalHandleDesc: size_of::<HsaHandleImportDesc>() as u16,
        Reserved: [size_of::<HsaCacheProperties>() as u16, 0, 0, 0, 0],
    };
    // SAFETY: `sizes` is one structure.
    assert_eq!(unsafe { DxgAbiCheck(&mut sizes) }, HSAKMT_STATUS_SUCCESS);
}

/// `hsaKmtOpenKFD`.
pub fn open() -> HSAKMT_STATUS {
    // SAFETY: no pointers.
    unsafe { hsaKmtOpenKFD() }
}

/// `hsaKmtCloseKFD`.
pub fn close() -> HSAKMT_STATUS {
    // SAFETY: no pointers.
    unsafe { hsaKmtCloseKFD() }
}

/// `hsaKmtAcquireSystemProperties`: the number of nodes.
pub fn acquire() -> Result<u32, HSAKMT_STATUS> {
    let mut system = HsaSystemProperties::ZERO;
    // SAFETY: `system` is a place for one structure.
    match unsafe { hsaKmtAcquireSystemProperties(&mut system) } {
        HSAKMT_STATUS_SUCCESS => Ok(system.NumNodes),
        status => Err(status),
    }
}

/// `hsaKmtReleaseSystemProperties`.
#[allow(dead_code)] // As above.
pub fn release() -> HSAKMT_STATUS {
    // SAFETY: no pointers.
    unsafe { hsaKmtReleaseSystemProperties() }
}

/// `hsaKmtGetNodeProperties`.
#[allow(dead_code)] // As above.
pub fn node(id: u32) -> HsaNodeProperties {
    let mut node = HsaNodeProperties::ZERO;
    // SAFETY: `node` is a place for one structure.
    assert_eq!(unsafe { hsaKmtGetNodeProperties(id, &mut node) }, HSAKMT_STATUS_SUCCESS);
    node
}

/// Nothing is alive, and no rule of the kernel was broken.
#[allow(dead_code)] // As above.
pub fn assert_clean() {
    assert_eq!(control::ledger().total(), 0, "{:?}", control::ledger());
    assert_eq!(control::violations(), Vec::<String>::new());
}
