//! The software libdxcore with answers about shared memory that a test changes: what another process made is not to be
//! believed.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use dxcore::d3dkmt::D3DKMT_OPENRESOURCEFROMNTHANDLE as Open;
pub use dxcore::d3dkmt::D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE as Query;

/// Changes what a call that succeeded has written.
type Change<T> = Box<dyn Fn(&mut T) + Send>;

static QUERY: Mutex<Option<Change<Query>>> = Mutex::new(None);
static OPEN: Mutex<Option<Change<Open>>> = Mutex::new(None);

/// Takes the place of `dxcore::lookup` for this process, when nothing else has.
pub fn embed() {
    rocdxg::process::embed_dxcore(lookup);
}

/// Changes the sizes of shared resources from now on.
pub fn change_sizes(change: impl Fn(&mut Query) + Send + 'static) {
    *QUERY.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(change));
}

/// Changes shared resources as they are opened from now on.
pub fn change_contents(change: impl Fn(&mut Open) + Send + 'static) {
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(change));
}

/// Changes nothing any more.
pub fn honest() {
    *QUERY.lock().unwrap_or_else(PoisonError::into_inner) = None;
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

fn lookup(name: &str) -> Option<NonNull<c_void>> {
    match name {
        "D3DKMTQueryResourceInfoFromNtHandle" => NonNull::new(query as *mut c_void),
        "D3DKMTOpenResourceFromNtHandle" => NonNull::new(open as *mut c_void),
        _ => dxcore::lookup(name),
    }
}

/// The real call, then the change.
///
/// # Safety
/// `args` is what the call of that name takes.
unsafe fn pass<T>(name: &str, args: *mut T, change: &Mutex<Option<Change<T>>>) -> i32 {
    let real = dxcore::lookup(name).expect("it has the call");
    // SAFETY: every call has this signature, with the structure of its name.
    let real: unsafe extern "C" fn(*mut T) -> i32 = unsafe { std::mem::transmute(real) };
    // SAFETY: the caller vouches for `args`.
    let status = unsafe { real(args) };
    if status == 0
        && let Some(change) = &*change.lock().unwrap_or_else(PoisonError::into_inner)
    {
        // SAFETY: as above; the call is over.
        change(unsafe { &mut *args });
    }
    status
}

unsafe extern "C" fn query(args: *mut Query) -> i32 {
    // SAFETY: the caller vouches for `args`.
    unsafe { pass("D3DKMTQueryResourceInfoFromNtHandle", args, &QUERY) }
}

unsafe extern "C" fn open(args: *mut Open) -> i32 {
    // SAFETY: the caller vouches for `args`.
    unsafe { pass("D3DKMTOpenResourceFromNtHandle", args, &OPEN) }
}
