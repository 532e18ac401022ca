//! What commands share, those of the core and those of features: where things are, measuring and
//! storing, output, exit statuses, and the options that several of them have. Beside the commands
//! themselves only this crate prints and reads the environment.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod arguments;
mod bar;
mod command;
pub mod defaults;
pub mod exit;
mod measure;
pub mod output;
pub mod paths;
mod progress;
mod random;
mod stored;
mod wanted;

pub use bar::Progress;
pub use command::{Action, Command, Feature, Group};
pub use exit::{Exit, Failure};
pub use measure::{ANOTHER_HOST, CONTINUES, Measured, Session, not_stored, open_store, seed, status};
pub use paths::Installation;
pub use random::number as random_number;
pub use stored::{judged_here, named, now_unix_ns, read_run_file, run_file, say_future, say_left_out};
pub use wanted::{Prepared, Stored, expected, place, request};
