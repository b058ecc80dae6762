//! Failures on request: the k-th call of a kind fails as the real stack would show it.

use crate::Status;
use crate::calls::{Call, Selector};
use crate::d3dkmt::ntstatus;

/// This call is to fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    status: Option<Status>,
}

impl Failure {
    /// The requested status, or that of a refusal by the host where the caller cannot tell more.
    pub(crate) fn or(self, refusal: Status) -> Status {
        self.status.unwrap_or(refusal)
    }

    /// The status when it stems from the guest, which shows it even where the host's status is lost.
    pub(crate) fn of_guest(self) -> Option<Status> {
        self.status.filter(|s| {
            matches!(
                *s,
                ntstatus::NO_MEMORY | ntstatus::UNSUCCESSFUL | ntstatus::DEVICE_REMOVED | ntstatus::INVALID_PARAMETER
            )
        })
    }
}

/// What a caller sees of a status that comes from below (dxgkrnl.md 6.1, rules 26 and 133).
pub(crate) fn visible(status: Status) -> Status {
    /// `STATUS_NOT_IMPLEMENTED`.
    const NOT_IMPLEMENTED: Status = 0xC000_0002_u32 as Status;
    match status {
        positive if positive >= 0 => positive,
        ntstatus::OBJECT_NAME_NOT_FOUND => ntstatus::OBJECT_NAME_INVALID,
        NOT_IMPLEMENTED => ntstatus::NOT_SUPPORTED,
        ntstatus::OBJECT_NAME_COLLISION
        | ntstatus::NO_MEMORY
        | ntstatus::OBJECT_NAME_INVALID
        | ntstatus::BUFFER_TOO_SMALL
        | ntstatus::DEVICE_REMOVED
        | ntstatus::ACCESS_DENIED
        | ntstatus::NOT_SUPPORTED
        | ntstatus::ILLEGAL_INSTRUCTION
        | ntstatus::INVALID_HANDLE
        | ntstatus::GRAPHICS_ALLOCATION_BUSY
        | ntstatus::OBJECT_TYPE_MISMATCH
        | ntstatus::UNSUCCESSFUL => status,
        _ => ntstatus::INVALID_PARAMETER,
    }
}

#[derive(Debug)]
struct Order {
    selector: Selector,
    /// Calls until it fires; `None` fires at every one.
    left: Option<u64>,
    status: Option<Status>,
}

/// The failures that were asked for and have not happened yet.
#[derive(Debug)]
pub(crate) struct Plan {
    orders: Vec<Order>,
}

impl Plan {
    /// Nothing fails.
    pub(crate) const fn new() -> Self {
        Self { orders: Vec::new() }
    }

    /// The `k`-th covered call from now fails; with 0 each one does.
    pub(crate) fn add(&mut self, selector: Selector, k: u64, status: Option<Status>) {
        let left = (k > 0).then_some(k);
        self.orders.push(Order { selector, left, status: status.map(visible) });
    }

    /// Reads `Name:k[:status]`, comma-separated; the part that is not one, otherwise.
    pub(crate) fn add_text(&mut self, text: &str) -> Result<(), String> {
        for item in text.split(',').map(str::trim).filter(|i| !i.is_empty()) {
            let mut parts = item.split(':');
            let selector = parts.next().and_then(Selector::parse);
            let k = parts.next().and_then(|k| k.parse().ok());
            let status = parts.next().map(|s| u32::from_str_radix(s.trim_start_matches("0x"), 16));
            match (selector, k, status, parts.next()) {
                (Some(selector), Some(k), None, None) => self.add(selector, k, None),
                (Some(selector), Some(k), Some(Ok(status)), None) => self.add(selector, k, Some(status as Status)),
                _ => return Err(item.to_owned()),
            }
        }
        Ok(())
    }

    /// Looks at one call: whether it is to fail.
    pub(crate) fn next(&mut self, call: Call, variant: Option<u32>) -> Option<Failure> {
        let mut failure = None;
        self.orders.retain_mut(|order| {
            if !order.selector.covers(call, variant) {
                return true;
            }
            match &mut order.left {
                Some(left) if *left > 1 => {
                    *left -= 1;
                    true
                }
                left => {
                    failure.get_or_insert(Failure { status: order.status });
                    left.is_none()
                }
            }
        });
        failure
    }
}
