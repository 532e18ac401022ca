//! A fleet: which nodes are not like the others, and what they point to.
//!
//! Nodes are only held against nodes of the same hardware, and never scaled onto others.

mod facts;
mod kinds;
mod node;
mod odd;
mod reduce;
mod sample;
mod suspect;
mod verdict;

pub use facts::{FactDifference, FactSplit};
pub use kinds::KindsSeen;
pub use node::{Centre, NodeFigures, NodeRun, NodeStarts, Timed};
pub use odd::What;
pub use reduce::Reducer;
pub use sample::NodeSample;
pub use suspect::Suspect;
pub use verdict::{CommonChange, GroupSeen, NodeFinding, NodeVerdict, RowSeen, changed, judge_fleet};
