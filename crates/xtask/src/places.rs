//! Where things are in this repository.

use std::path::Path;
use switchcost_catalogue::Catalogue;

/// The runs that the pages rest on.
pub const KEPT: &str = "data/example/answers";

/// This repository.
pub fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The pages of mechanisms/.
pub fn catalogue() -> anyhow::Result<Catalogue> {
    Ok(switchcost_catalogue::load(&top().join("mechanisms"), &[], &|_| Ok(()))?)
}
