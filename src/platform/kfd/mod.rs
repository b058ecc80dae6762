//! Bare metal: `/dev/kfd`, sysfs and DRM render nodes.

/// Why a call on the bare-metal side failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {}
