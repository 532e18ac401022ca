//! What is the same for every mechanism of the Rust probe: plan, messages, clock and counter, calibration, the batch
//! loop, the ring, evidence. The mechanisms are in the probe itself; the kit names none.

mod arguments;
mod clock;
mod count;
mod evidence;
mod footprint;
mod histogram;
mod measure;
mod mechanism;
mod memory;
mod offsets;
mod os;
mod plan;
mod refusal;
mod ring;
mod ruler;
mod series;
mod waiter;
mod wakeup;
mod wire;
mod working_set;

pub use arguments::{check_describe, parse, report_fd};
pub use clock::{now, read_counter, COUNTER_NAME};
pub use evidence::{disjoint, Trace, Turns};
pub use histogram::Histogram;
pub use measure::measure;
pub use mechanism::{Claim, Hold, Mechanism, Population, Wait, Workload};
pub use memory::{map_pages, require_memory};
pub use offsets::{blocks, driver_offset, stack_offset, HEAP_OFFSET, STACK_OFFSET};
pub use os::{current_cpu, pin_this_thread};
pub use plan::{Parameter, Plan};
pub use refusal::{Refusal, Stop};
pub use ring::{memory_of, Context, Contexts, PassToken, BROKEN, PUBLISH, RESET};
pub use series::{Done, Recorder, Series, Units};
pub use waiter::{Waiter, PERIOD};
pub use wire::{Build, Writer};
pub use working_set::{Touch, WorkingSet, WorkingSets, WORKING_SET};
