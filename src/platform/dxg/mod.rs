//! WSL: `/dev/dxg` through Microsoft's libdxcore.

pub mod d3dkmt;

/// Why a call on the WSL side failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {}
