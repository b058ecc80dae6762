//! Which layouts each calling module was built with (design.md, "ABI generations").
//!
//! What a module announces is true of its code, so it holds in fork children too, whatever becomes of the session.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::settings;
use crate::abi::HsaStructureSizes;
use crate::abi::generation::{Generation, UnknownSize};
use crate::platform::caller::{Identity, Module};

/// What a module that says nothing is served: every known caller of this library has at least that.
const SILENT: Generation = if cfg!(libhsakmt) { Generation::V5_2 } else { Generation::V2025_08 };

/// One announcement.
#[derive(Debug, Clone)]
struct Announced {
    module: Module,
    identity: Identity,
    generation: Generation,
}

/// What modules have announced, and what the user says of all of them.
pub struct Generations {
    announced: ArcSwapOption<Vec<Announced>>,
    /// What `ROCDXG_ABI` says, once it has been read.
    forced: ArcSwapOption<Option<Generation>>,
}

impl Generations {
    /// Nobody has announced anything.
    pub const fn new() -> Self {
        Self { announced: ArcSwapOption::const_empty(), forced: ArcSwapOption::const_empty() }
    }

    fn forced(&self) -> Option<Generation> {
        if let Some(forced) = &*self.forced.load() {
            return **forced;
        }
        let forced = settings::forced_generation();
        self.forced.store(Some(Arc::new(forced)));
        forced
    }

    /// The generation of the module that `caller` finds.
    pub fn of(&self, caller: impl FnOnce() -> Option<Module>) -> Generation {
        if let Some(forced) = self.forced() {
            return forced;
        }
        // While everybody is silent nobody needs to be told from others.
        let announced = self.announced.load();
        let Some(announced) = announced.as_ref() else { return SILENT };
        let Some(module) = caller() else { return SILENT };
        let known = announced.iter().find(|known| known.module == module);
        // Another module may have been loaded where the one that announced was.
        match known {
            Some(known) if module.is(&known.identity) => known.generation,
            _ => SILENT,
        }
    }

    /// Keeps what `module` announces; a module that cannot be told stays silent.
    pub fn announce(&self, module: Option<Module>, sizes: &HsaStructureSizes) -> Result<(), UnknownSize> {
        let generation = SILENT.announced(sizes)?;
        if let Some((module, identity)) = module.and_then(|module| Some((module, module.identity()?))) {
            let announced = Announced { module, identity, generation };
            self.announced.rcu(|known| {
                let others = known.iter().flat_map(|list| list.iter()).filter(|known| known.module != module);
                Some(Arc::new(others.chain([&announced]).cloned().collect::<Vec<_>>()))
            });
        }
        Ok(())
    }
}
