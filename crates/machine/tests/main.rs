//! The tests of this crate from outside, in one program: it links once.

#[cfg(target_os = "linux")]
mod spawn;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod watch;
