//! Where things are in this repository.

use std::path::Path;

/// The runs that the pages rest on.
pub const KEPT: &str = "data/example/answers";

/// This repository.
pub fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
