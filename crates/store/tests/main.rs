//! The tests of this crate from outside, in one program: it links once.

#[cfg(unix)]
mod kill;
mod round_trip;
mod run_files;
mod shareable;
mod store_file;
mod support;
