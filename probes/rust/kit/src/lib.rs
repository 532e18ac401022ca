//! What is the same for every mechanism of the Rust probe: plan, messages, clock and counter,
//! calibration, the batch loop, the ring, evidence. The mechanisms are in the probe itself; the kit
//! names none.

mod arguments;
mod clock;
mod evidence;
mod experiments;
mod histogram;
mod measure;
mod mechanism;
mod memory;
mod offsets;
mod os;
mod own;
mod plan;
mod program;
mod refusal;
mod ring;
mod ruler;
mod series;
mod waiter;
mod wire;
mod working_set;

pub use arguments::parse;
pub use clock::{now, read_counter, COUNTER_NAME};
pub use evidence::{disjoint, Trace, Turns};
pub use histogram::Histogram;
pub use mechanism::{Claim, Hold, Mechanism, Population, SetUp, Wait, Workload};
pub use memory::{map_pages, require_memory};
pub use offsets::{blocks, driver_offset, stack_offset, HEAP_OFFSET, STACK_OFFSET};
pub use os::{current_cpu, pin_this_thread};
pub use own::{of_resumed, own_probe, Resumed};
pub use plan::{Parameter, Plan};
pub use program::{probe, MORE_ROOM};
pub use refusal::{Refusal, Stop};
pub use ring::{memory_of, Context, Contexts, PassToken, BROKEN, PUBLISH, RESET};
pub use ruler::work;
pub use series::{Done, Recorder, Series, Units};
pub use waiter::{Waiter, PERIOD};
pub use wire::{Build, Writer};
pub use working_set::{Touch, WorkingSet, WorkingSets, WORKING_SET};

/// What the probe was compiled by.
pub const COMPILER: &str = env!("PROBE_COMPILER");

/// And how.
pub const FLAGS: &str = env!("PROBE_FLAGS");
