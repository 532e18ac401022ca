//! Run records on disk: a store (one SQLite file) and run files (JSON Lines), and nothing else.
//!
//! - [`Store`] keeps runs. Each invocation is one transaction, so a host that is killed loses at
//!   most the invocation under way, and its run stays `unfinished`.
//! - [`export_jsonl`] and [`import_jsonl`] write and read one run as a text file with a checksum.
//!   The same run always gives the same bytes. Files come from strangers: every limit and every
//!   rule is checked on import.
//! - [`strip_personal`] makes a run fit to be shown to strangers.
//!
//! Raw data goes in and comes out unchanged: no statistic is stored, no sample is dropped or
//! corrected, and a probe's nonsense is kept as it was said. What is checked is only what the
//! records need in order to hang together (`rules.rs`). Only an invocation has a form of its own on
//! disk (`disk.rs`), in which what it holds lies side by side; `convert.rs` is the one place that
//! knows both.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice))]

mod baseline;
mod cells;
mod convert;
mod disk;
mod error;
mod header;
mod jsonl;
mod limits;
mod place;
mod rows;
mod rules;
mod schema;
mod seal;
mod selector;
mod shareable;
mod store;
mod ticks;

pub use baseline::{Baseline, PREFIX as BASELINE};
pub use disk::FORMAT;
pub use error::{RunFileError, StoreError};
pub use header::RunHeader;
pub use jsonl::{Imported, export_jsonl, import_jsonl};
pub use limits::{MAX_FILE_BYTES, MAX_LINE_BYTES};
pub use place::default_path;
pub use schema::APPLICATION_ID;
pub use shareable::strip_personal;
pub use store::{Insertion, Store};
