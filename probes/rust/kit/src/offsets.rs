//! Where contexts lie inside their pages: drawn from the seed, which is another in every start.

use crate::plan::{Parameter, Plan};

const WORDS: &[&str] = &["drawn", "fixed"];

/// Of stacks that are mapped for a ring.
pub const STACK_OFFSET: Parameter = Parameter { name: "stack_offset", words: WORDS };

/// Of contexts that live on the heap.
pub const HEAP_OFFSET: Parameter = Parameter { name: "heap_offset", words: WORDS };

const LINE: usize = 64;
const PAGE: usize = 4096;
const LARGEST_BLOCK: usize = 1024;
const MOST_BLOCKS_OF_A_SIZE: u64 = 16;

/// SplitMix64: seeds of neighbouring starts have nothing in common.
fn drawn(seed: u64) -> impl Iterator<Item = u64> {
    let step = 0x9E37_79B9_7F4A_7C15_u64;
    (1..).map(move |number: u64| {
        let mut seed = seed.wrapping_add(step.wrapping_mul(number));
        seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        seed ^ (seed >> 31)
    })
}

/// By how much the stacks of a ring are moved: whole cache lines, within a page and no more than an
/// eighth of a small stack.
#[must_use]
pub fn stack_offset(plan: &Plan, size: usize) -> usize {
    offset(plan, size, 0)
}

/// The same for the stack of whoever drives the ring.
#[must_use]
pub fn driver_offset(plan: &Plan, size: usize) -> usize {
    offset(plan, size, 1)
}

fn offset(plan: &Plan, size: usize, which: usize) -> usize {
    let lines = PAGE.min(size / 8) / LINE;
    match plan.parameter(STACK_OFFSET.name) {
        "fixed" => 0,
        _ => drawn(plan.seed).nth(which).map_or(0, |number| number as usize % lines * LINE),
    }
}

/// A drawn number of blocks of every size, to be kept, so that what is made next lies elsewhere in
/// its page: the first free places of a fresh heap are the same in every start. None where the plan
/// says so.
#[must_use]
pub fn blocks(plan: &Plan) -> Vec<Box<[u8]>> {
    if plan.parameter(HEAP_OFFSET.name) != "drawn" {
        return Vec::new();
    }
    let sizes = (16..=LARGEST_BLOCK).step_by(16).zip(drawn(plan.seed));
    // Not of zeros: calloc of glibc leaves the places that were freed last.
    let block = |(size, number)| (0..number % MOST_BLOCKS_OF_A_SIZE).map(move |_| vec![1_u8; size].into_boxed_slice());
    // Of its last size at once: what a list that grows gives back would be where the contexts lie,
    // at the same place in most starts.
    let mut kept = Vec::with_capacity(LARGEST_BLOCK / 16 * MOST_BLOCKS_OF_A_SIZE as usize);
    kept.extend(sizes.flat_map(block));
    kept
}
