//! Reads the data files: `mechanisms/**.toml`, `mechanisms/families.toml` and `probes/*/probe.toml`.
//!
//! The form is described in `mechanisms/README.md`; an unknown field is an error, so that a typing error cannot silently weaken a rule of evidence.

mod files;
mod mechanisms;
mod probes;

pub use files::CatalogueError;
pub use mechanisms::{Catalogue, load};
pub use probes::load_probes;
