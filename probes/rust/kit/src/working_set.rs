//! What a context touches between two switches (parameter `working_set`): whole cache lines, each
//! visited once, in steps of about 0.618 of the set, as METHODOLOGY.md says.
//!
//! A touch adds one to the first word of a line, so that the memory itself is the record of what
//! was touched.

use crate::memory::{map_pages, require_memory};
use crate::plan::{Parameter, Plan};
use crate::refusal::Refusal;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The parameter of mechanisms whose contexts can have a working set.
pub const WORKING_SET: Parameter = Parameter { name: "working_set", words: &[] };

const LINE: usize = 64;
const PAGE: usize = 4096;

/// Three cache lines from the beginning of one set to that of the next, beside whole pages: small
/// sets that all began at the same offset of a page would share one set of the first-level cache.
const COLOUR_GAP: usize = 3 * LINE;

/// What a context does with its memory. A context of type `()` touches nothing, and its loop is
/// compiled without.
pub trait Touch: Copy + Send + 'static {
    /// The memory of this context.
    fn of(sets: Option<&WorkingSets>, context: u64) -> Self;

    /// Touches all of it.
    fn touch(self);
}

impl Touch for () {
    fn of(_: Option<&WorkingSets>, _: u64) -> Self {}

    #[inline(always)]
    fn touch(self) {}
}

/// What one context touches. Empty: nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkingSet {
    words: &'static [AtomicU64],
    /// In words.
    step: usize,
}

impl Touch for WorkingSet {
    fn of(sets: Option<&WorkingSets>, context: u64) -> Self {
        sets.map_or_else(Self::default, |sets| sets.sets[context as usize])
    }

    /// Every line once. Only the set's own context writes, so that no locked operation is needed.
    #[inline(never)]
    fn touch(self) {
        let mut index = 0;
        while let Some(word) = self.words.get(index) {
            word.store(word.load(Relaxed) + 1, Relaxed);
            index += self.step;
            if index >= self.words.len() {
                index -= self.words.len();
            }
            if index == 0 {
                return;
            }
        }
    }
}

impl WorkingSet {
    /// Also writes, so that the pages are there.
    fn touched(self) -> u64 {
        let first_words = self.words.iter().step_by(LINE / 8);
        first_words
            .map(|word| {
                let touches = black_box(word.load(Relaxed));
                word.store(touches, Relaxed);
                touches
            })
            .sum()
    }
}

/// The sets of all contexts, in one mapping that lasts until the process ends.
#[derive(Debug)]
pub struct WorkingSets {
    sets: Vec<WorkingSet>,
    touched_at_reset: u64,
}

impl WorkingSets {
    /// Maps and touches the sets of a ring. None: the plan asks for none.
    ///
    /// # Errors
    /// More than there is memory for.
    pub fn new(plan: &Plan) -> Result<Option<Self>, Refusal> {
        let lines = plan.number(WORKING_SET.name).div_ceil(LINE as u64) as usize;
        if lines == 0 {
            return Ok(None);
        }
        let (bytes, contexts) = (lines * LINE, plan.contexts as usize);
        let pitch = bytes.next_multiple_of(PAGE) + COLOUR_GAP;
        const CURE: &str = "use fewer contexts or a smaller working_set";
        require_memory(((pitch + PAGE) * contexts) as u64, CURE)?;
        let words = map_pages(pitch * contexts, CURE)?;
        let (pitch, step) = (pitch / 8, step(lines) * LINE / 8);
        let sets: Vec<_> =
            (0..contexts).map(|i| WorkingSet { words: &words[i * pitch..][..bytes / 8], step }).collect();
        let touched_at_reset = sets.iter().map(|set| set.touched()).sum();
        Ok(Some(Self { sets, touched_at_reset }))
    }

    fn touched(&self) -> u64 {
        self.sets.iter().map(|set| set.touched()).sum()
    }

    /// Begins to count. To be called while no context runs.
    pub fn reset(&mut self) {
        self.touched_at_reset = self.touched();
    }

    /// Touches of all contexts since `reset`.
    #[must_use]
    pub fn touches(&self) -> i64 {
        (self.touched() - self.touched_at_reset) as i64
    }
}

/// Nearest to the golden section of `lines` from above that walks through all of them.
fn step(lines: usize) -> usize {
    let mut step = lines * 618 / 1000 + 1;
    while greatest_common_divisor(step, lines) != 1 {
        step += 1;
    }
    if lines == 1 {
        1
    } else {
        step % lines
    }
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_touched_once() {
        for lines in (1..200).chain([256, 1000, 4096, 16_384]) {
            let words = map_pages(lines * LINE, "").unwrap();
            let set = WorkingSet { words, step: step(lines) * LINE / 8 };
            set.touch();
            assert!(words.iter().step_by(8).all(|word| word.load(Relaxed) == 1), "{lines} lines");
            assert_eq!(set.touched(), lines as u64);
        }
    }
}
