//! Reads the data files: `mechanisms/**.toml`, `mechanisms/families.toml`, `probes/*/probe.toml`,
//! `data/published.toml`, `data/audit.toml`, `data/fleet.toml`, `data/crosscheck/` and
//! `protocol/plans.toml`.
//!
//! The form is described in `mechanisms/README.md`; an unknown field is an error, so that a typing
//! error cannot silently weaken a rule of evidence.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod files;
pub mod grammar;
mod layers;
mod mechanisms;
mod names;
mod own;
mod pages;
mod plans;
mod probes;
mod published;
mod rules;
mod values;

pub use files::{CatalogueError, entries, read};
pub use layers::wanted;
pub use mechanisms::{Broken, Catalogue};
pub use own::add_words;
pub use pages::load;
pub use plans::{PlanAnswer, PlanCommand, PlanEnd, PlanEntry, PlanNeed, PlanScope, PlanTable, ProtocolRule};
pub use probes::{Probes, Trusted, load_probes, load_trusted_probe};
pub use published::{Published, published};
