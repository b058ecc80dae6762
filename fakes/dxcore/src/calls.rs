//! The kinds of calls, by name: for counting and for choosing which one fails.

macro_rules! calls {
    ($($name:ident),* $(,)?) => {
        /// One kind of D3DKMT call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Call {
            $($name),*
        }

        impl Call {
            const ALL: &[Self] = &[$(Self::$name),*];

            /// Name of the entry point without `D3DKMT`.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),*
                }
            }
        }
    };
}

calls!(
    EnumAdapters2,
    EnumAdapters3,
    OpenAdapterFromLuid,
    CloseAdapter,
    QueryAdapterInfo,
    QueryStatistics,
    QueryVideoMemoryInfo,
    QueryClockCalibration,
    Escape,
    CreateDevice,
    DestroyDevice,
    GetDeviceState,
    CreatePagingQueue,
    DestroyPagingQueue,
    CreateAllocation2,
    DestroyAllocation2,
    MakeResident,
    Evict,
    ReserveGpuVirtualAddress,
    MapGpuVirtualAddress,
    FreeGpuVirtualAddress,
    Lock2,
    Unlock2,
    CreateSynchronizationObject2,
    DestroySynchronizationObject,
    WaitForSynchronizationObjectFromCpu,
    ShareObjects,
    QueryResourceInfoFromNtHandle,
    OpenResourceFromNtHandle,
    QueryResourceInfo,
    OpenResource,
);

impl Call {
    /// In a process that has not opened the device, libdxcore opens it again for these (dxgkrnl.md rule 2).
    pub(crate) const fn reopens(self) -> bool {
        matches!(self, Self::EnumAdapters2 | Self::EnumAdapters3 | Self::OpenAdapterFromLuid)
    }
}

/// Which calls a test means: all, one kind, or one query type of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selector {
    call: Option<Call>,
    variant: Option<u32>,
}

impl Selector {
    /// Reads `Any`, `CreateDevice` or `QueryAdapterInfo/31`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "Any" {
            return Some(Self { call: None, variant: None });
        }
        let (name, variant) = match text.split_once('/') {
            Some((name, number)) => (name, Some(number.parse().ok()?)),
            None => (text, None),
        };
        let name = name.strip_prefix("D3DKMT").unwrap_or(name);
        let call = Call::ALL.iter().copied().find(|c| c.name() == name)?;
        Some(Self { call: Some(call), variant })
    }

    /// Whether a call is one of those meant.
    pub(crate) fn covers(self, call: Call, variant: Option<u32>) -> bool {
        self.call.is_none_or(|c| c == call) && (self.variant.is_none() || self.variant == variant)
    }
}

/// How often each kind was called.
#[derive(Debug)]
pub(crate) struct Counts {
    entries: Vec<((Call, Option<u32>), u64)>,
}

impl Counts {
    /// None so far.
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Counts one call.
    pub(crate) fn add(&mut self, call: Call, variant: Option<u32>) {
        match self.entries.iter_mut().find(|(key, _)| *key == (call, variant)) {
            Some((_, n)) => *n += 1,
            None => self.entries.push(((call, variant), 1)),
        }
    }

    /// How many calls a selector covers.
    pub(crate) fn of(&self, selector: Selector) -> u64 {
        let covered = self.entries.iter().filter(|((call, variant), _)| selector.covers(*call, *variant));
        covered.map(|(_, n)| n).sum()
    }
}
