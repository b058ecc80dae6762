//! What is alive in the kernel for one process, by kind.

use core::fmt;

use crate::backing::Backing;
use crate::device::Object;
use crate::process::{State, control};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident: $words:literal;)*) => {
        /// Kernel objects of this process that are alive.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Ledger {
            $($(#[doc = $doc])* pub $name: u64,)*
            /// Adapter handles that an enumeration with too small an array lost (dxgkrnl.md rule 17); nobody can close
            /// them, so they are no part of [`Ledger::total`].
            pub lost_opens: u64,
        }

        impl Ledger {
            /// All that the client has to destroy.
            pub const fn total(&self) -> u64 {
                0 $(+ self.$name)*
            }

            /// How many of a kind, by the name of its field.
            pub fn of(&self, kind: &str) -> Option<u64> {
                match kind {
                    $(stringify!($name) => Some(self.$name),)*
                    "lost_opens" => Some(self.lost_opens),
                    _ => None,
                }
            }

            fn in_words(&self) -> Vec<(u64, &'static str)> {
                vec![$((self.$name, $words)),*]
            }
        }
    };
}

kinds! {
    /// Adapter handles that were issued and not closed (dxgkrnl.md rule 15).
    adapter_opens: "adapter opens";
    /// Devices.
    devices: "devices";
    /// Paging queues.
    paging_queues: "paging queues";
    /// Allocations.
    allocations: "allocations";
    /// Resources.
    resources: "resources";
    /// Resources that were shared, or opened.
    shared: "shared resources";
    /// Allocations that hold pages of the client.
    pins: "pins";
    /// Allocations that are resident, each counted as often as it was made so.
    residents: "residencies";
    /// Locks on allocations that device memory backs.
    locks: "locks";
    /// Ranges of GPU addresses, by the calls that took them.
    ranges: "GPU ranges";
    /// Mappings of memory into them.
    mappings: "GPU mappings";
    /// Monitored fences.
    fences: "fences";
    /// Waits whose event was not raised yet.
    waits: "waits";
}

impl fmt::Display for Ledger {
    /// The first three kinds, and of the others those that are left.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = self.in_words().into_iter().enumerate().filter(|(i, (count, _))| *i < 3 || *count > 0);
        let words: Vec<String> = kinds.map(|(_, (count, name))| format!("{count} {name}")).collect();
        f.write_str(&words.join(", "))
    }
}

impl State {
    /// What is alive.
    pub(crate) fn ledger(&self) -> Ledger {
        let lost = self.adapters.iter().map(|a| u64::from(a.lost)).sum();
        let mut ledger = Ledger {
            adapter_opens: self.opens.live() - lost,
            devices: self.live_devices(),
            paging_queues: self.live_paging_queues(),
            shared: self.live_shared(),
            ranges: self.adapters.iter().map(|a| a.space.live_ranges()).sum(),
            mappings: self.adapters.iter().map(|a| a.space.live_mappings()).sum(),
            waits: self.waits(),
            lost_opens: lost,
            ..Ledger::default()
        };
        for (_, object) in self.main.iter() {
            match object {
                Object::Resource(_) => ledger.resources += 1,
                Object::MonitoredFence(_) => ledger.fences += 1,
                Object::Allocation(a) => {
                    ledger.allocations += 1;
                    ledger.pins += u64::from(matches!(a.backing, Backing::Pinned { .. }));
                    ledger.residents += u64::from(a.resident);
                    ledger.locks += a.lock.as_ref().map_or(0, |lock| u64::from(lock.count));
                }
                _ => {}
            }
        }
        ledger
    }
}

/// What is alive.
pub fn ledger() -> Ledger {
    control(|state| state.ledger()).unwrap_or_default()
}
