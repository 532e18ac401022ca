//! Reads the data files: `mechanisms/**.toml`, `mechanisms/families.toml`, `probes/*/probe.toml` and `data/published.toml`.
//!
//! The form is described in `mechanisms/README.md`; an unknown field is an error, so that a typing error cannot silently weaken a rule of evidence.

mod files;
mod mechanisms;
mod probes;
mod published;

pub use files::CatalogueError;
pub use mechanisms::{Catalogue, load};
pub use probes::load_probes;
pub use published::{Published, published};
