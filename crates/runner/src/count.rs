//! Counted experiments: the probe runs under callgrind, which counts what it executes. The kit says where a stretch of units begins and ends
//! (PROTOCOL.md, section 9), and the host reads what callgrind wrote of each.

mod callgrind;

use callgrind::Part;
use std::path::PathBuf;
use switchcost_machine::spawn;
use switchcost_model::{
    Executed, Experiment, FUNCTIONS_KEPT, Obstacle, Phase, Plan, PlanEcho, Reason, Samples, Transcript, Variant,
};

/// The program that counts, and the package that brings it.
const VALGRIND: &str = "valgrind";

/// Stretches that a batch is done in: the second is twice as long as the first.
const STRETCHES: u64 = 2;

/// The first stretch of a batch is one part of so many.
pub(crate) const FIRST_OF: u64 = 3;

/// Laps that a kit may do at once without looking at the token; a stretch holds whole ones.
const UNROLLED: u64 = 8;

/// Name of the files that callgrind writes.
const FILE: &str = "executed";

/// Why nothing can be counted of this variant, before anything is started.
pub(crate) fn refusal(variant: &Variant) -> Option<Reason> {
    if !variant.experiment.executed {
        return None;
    }
    let missing = || {
        let found = spawn::find_program(VALGRIND, &[]);
        found.is_none().then(|| Obstacle::NotInstalled { program: VALGRIND.to_owned() })
    };
    let why = spawn::emulation_refusal().or_else(missing)?;
    Some(Reason::CountRefused { why })
}

/// Units of a batch of at least so many: whole laps in each stretch.
pub(crate) fn batch_units(experiment: Experiment, least: u64, contexts: u64) -> u64 {
    let lap = if experiment.executed { contexts.max(1).saturating_mul(FIRST_OF * UNROLLED) } else { 1 };
    least.div_ceil(lap).saturating_mul(lap)
}

/// How one start is counted.
pub(crate) struct Counting {
    folder: PathBuf,
}

impl Counting {
    /// Of this plan; None: its experiment counts nothing, or the folder for callgrind's files cannot be made.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        if !plan.variant.experiment.executed {
            return None;
        }
        let folder = spawn::scratch();
        std::fs::create_dir(&folder).ok()?;
        Some(Self { folder })
    }

    /// The folder, which is removed with the probe's end.
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Program and arguments before those of the probe. Nothing of the user's own settings, and no pipes for debuggers.
    pub(crate) fn before(&self) -> (PathBuf, Vec<String>) {
        let file = format!("--callgrind-out-file={}", self.folder.join(FILE).display());
        let words = [
            "--tool=callgrind",
            &file,
            "--command-line-only=yes",
            "--vgdb=no",
            "--quiet",
            "--collect-systime=yes",
            "--compress-strings=no",
            "--compress-pos=no",
            "--dump-line=no",
        ];
        (VALGRIND.into(), words.map(str::to_owned).to_vec())
    }

    /// Adds to the transcript what was counted of its batches. To be called when the probe has left, and before its folder is removed.
    pub(crate) fn read(&self, transcript: &mut Transcript) -> Executed {
        let echo = transcript.plan.clone();
        match echo.ok_or(Obstacle::NoPlan).and_then(|echo| self.counted(&echo, transcript)) {
            Ok(executed) => executed,
            Err(why) => Executed { refused: Some(why), ..Executed::default() },
        }
    }

    fn counted(&self, echo: &PlanEcho, transcript: &mut Transcript) -> Result<Executed, Obstacle> {
        let batches = echo.warmup_batches.saturating_add(echo.batches);
        // Between two stretches lies a part of its own, and what comes after the last stands in a file without a number.
        let numbered = batches.saturating_mul(2 * STRETCHES);
        let names = (1..=numbered).map(|number| format!("{FILE}.{number}")).chain([FILE.to_owned()]);
        let mut parts = Vec::new();
        for name in names {
            let part = parts.len() as u64 + 1;
            let missing = |_| Obstacle::PartMissing { part, parts: numbered + 1 };
            let text = std::fs::read_to_string(self.folder.join(&name)).map_err(missing)?;
            parts.push(Part::parse(&text)?);
        }
        if self.folder.join(format!("{FILE}.{}", numbered + 1)).exists() {
            return Err(Obstacle::MoreParts { parts: numbered + 1 });
        }
        let first = echo.batch_units / FIRST_OF;
        let second = echo.batch_units - first;
        let stretches: Vec<(&Part, &Part)> =
            parts[1..].chunks_exact(2 * STRETCHES as usize).map(|four| (&four[0], &four[2])).collect();
        let scale = |longer: u64, shorter: u64| {
            let difference = i128::from(longer) - i128::from(shorter);
            i64::try_from(difference * i128::from(echo.batch_units) / i128::from(second - first).max(1))
                .unwrap_or(i64::MAX)
        };
        let (warmup, measured) = stretches.split_at(echo.warmup_batches as usize);
        for (quantity, of) in [
            ("instructions", (|part: &Part| part.instructions) as fn(&Part) -> u64),
            ("system_calls", |part| part.system_calls),
        ] {
            for (phase, stretches) in [(Phase::Warmup, warmup), (Phase::Measure, measured)] {
                transcript.samples.push(Samples {
                    phase,
                    units: echo.batch_units,
                    quantity: Some(quantity.to_owned()),
                    ticks: stretches.iter().map(|(one, two)| scale(of(two), of(one))).collect(),
                    rulers: Default::default(),
                });
            }
        }
        let mut executed = Executed {
            by: parts[0].by.clone(),
            instructions: parts.iter().map(|part| part.instructions).sum(),
            units: second - first,
            ..Executed::default()
        };
        if let Some((one, two)) = measured.last() {
            let own = |name: &String| {
                let count = |part: &Part| part.functions.get(name).copied().unwrap_or(0) as i64;
                (name.clone(), count(two) - count(one))
            };
            let mut functions: Vec<(String, i64)> =
                two.functions.keys().map(own).filter(|(_, count)| *count != 0).collect();
            functions.sort_by_key(|(_, count)| std::cmp::Reverse(count.abs()));
            functions.truncate(FUNCTIONS_KEPT);
            executed.functions = functions.into_iter().collect();
        }
        Ok(executed)
    }
}
