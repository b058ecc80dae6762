//! Failures on request, and the count of calls.

use std::collections::BTreeMap;

use crate::abi;
use crate::errno::Errno;

/// Names of calls that are no ioctls: opens of the two kinds of device node.
const OPENS: &[&str] = &[OPEN_KFD, OPEN_RENDER];
/// An open of `/dev/kfd`.
pub(crate) const OPEN_KFD: &str = "OPEN";
/// An open of a render node.
pub(crate) const OPEN_RENDER: &str = "OPEN_RENDER";

/// The call of that name: an ioctl of `/dev/kfd` or the render node, or an open. `AMDKFD_IOC_`, `DRM_IOCTL_` may
/// stand before it.
pub(crate) fn call(name: &str) -> Option<&'static str> {
    let short = name.strip_prefix("AMDKFD_IOC_").or_else(|| name.strip_prefix("DRM_IOCTL_")).unwrap_or(name);
    let requests = abi::KFD.iter().chain(abi::DRM).map(|r| r.name);
    requests.chain(OPENS.iter().copied()).find(|n| *n == short)
}

#[derive(Debug)]
struct Order {
    name: &'static str,
    /// Calls until it fires; `None` fires at every one.
    left: Option<u64>,
    errno: Errno,
}

/// The failures that were asked for and have not happened yet, and how often each call was made.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    orders: Vec<Order>,
    counts: BTreeMap<&'static str, u64>,
}

impl Plan {
    /// The `k`-th call of that name from now fails; with 0 each one does.
    pub(crate) fn add(&mut self, name: &'static str, k: u64, errno: Errno) {
        self.orders.push(Order { name, left: (k > 0).then_some(k), errno });
    }

    /// Reads `NAME:k[:errno]`, comma-separated; the part that is not one, otherwise.
    pub(crate) fn add_text(&mut self, text: &str) -> Result<(), String> {
        for item in text.split(',').map(str::trim).filter(|i| !i.is_empty()) {
            let mut parts = item.split(':');
            let name = parts.next().and_then(call);
            let k = parts.next().and_then(|k| k.parse().ok());
            let errno = parts.next().map_or(Some(Errno::EINVAL), Errno::parse);
            match (name, k, errno, parts.next()) {
                (Some(name), Some(k), Some(errno), None) => self.add(name, k, errno),
                _ => return Err(item.to_owned()),
            }
        }
        Ok(())
    }

    /// Counts one call: whether it is to fail.
    pub(crate) fn next(&mut self, name: &'static str) -> Result<(), Errno> {
        *self.counts.entry(name).or_default() += 1;
        let mut answer = Ok(());
        self.orders.retain_mut(|order| {
            if order.name != name {
                return true;
            }
            match &mut order.left {
                Some(left) if *left > 1 => {
                    *left -= 1;
                    true
                }
                left => {
                    answer = answer.and(Err(order.errno));
                    left.is_none()
                }
            }
        });
        answer
    }

    /// How often each call was made.
    pub(crate) fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// How often a call was made.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }
}
