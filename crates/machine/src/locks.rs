//! What file systems do with locks.

/// What becomes of the locks of a store on its file system: two that write at once rely on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locks {
    /// It is a disk of this machine, or its memory.
    Kept,
    /// Files on it come from elsewhere; its name.
    Lost(&'static str),
    /// It is neither known for the one nor for the other; what it is called.
    Unknown(String),
}
