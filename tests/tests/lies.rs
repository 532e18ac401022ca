//! Real probes, misquoted: each lie of `protocol/lies.toml` must get the verdict that stands there,
//! and the same probes quoted faithfully must be verified. `recorded` judges what was recorded of
//! them, in no time; `real` starts them.

mod edges;
mod list;
mod real;
mod reasons;
mod recorded;
