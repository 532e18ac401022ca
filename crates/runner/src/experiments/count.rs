//! Counted experiments: the probe runs under callgrind, which counts what it executes. The kit says
//! where a stretch of units begins and ends (PROTOCOL.md, section 9), and the host reads what
//! callgrind wrote of each.

mod callgrind;

use super::part::{Acts, Around};
use crate::no_answer::NoAnswer;
use callgrind::Counts;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use switchcost_machine::spawn::{self, SpawnError, SpawnRequest};
use switchcost_model::{
    Executed, FUNCTIONS_KEPT, Obstacle, PartSeen, Phase, PlanEcho, Reason, Samples, Transcript, Variant,
};

/// The program that counts, and the package that brings it.
const VALGRIND: &str = "valgrind";

/// Stretches that a batch is done in: the second is twice as long as the first.
const STRETCHES: u64 = 2;

/// The first stretch of a batch is one part of so many.
const FIRST_OF: u64 = 3;

/// Name of the files that callgrind writes.
const FILE: &str = "executed";

/// A CPU that is emulated takes some fifty times as long to start a probe.
const EMULATED: Duration = Duration::from_secs(60);

pub(super) const ACTS: Acts = Acts {
    refusal,
    parts_of_a_batch: FIRST_OF,
    patience: EMULATED,
    around: |_, _, _| Some(Box::new(Counting { folder: spawn::scratch() })),
    ..Acts::NONE
};

fn refusal(_: &Variant, _: usize) -> Option<Reason> {
    let missing = || {
        let found = spawn::find_program(VALGRIND, &[]);
        found.is_none().then(|| Obstacle::NotInstalled { program: VALGRIND.to_owned() })
    };
    let why = spawn::emulation_refusal().or_else(missing)?;
    Some(Reason::CountRefused { why })
}

/// How one start is counted: callgrind writes to a folder, which is removed with the probe's end.
struct Counting {
    folder: PathBuf,
}

impl Around for Counting {
    fn change(&self, request: &mut SpawnRequest) -> Result<(), NoAnswer> {
        switchcost_machine::root_may_run(&request.program).map_err(SpawnError::NotTrusted)?;
        let parent = self.folder.parent().unwrap_or(&self.folder).to_owned();
        let cannot = |error: std::io::Error| SpawnError::Scratch(parent, switchcost_machine::cause(&error));
        std::fs::create_dir(&self.folder).map_err(cannot)?;
        let mut words = self.words();
        words.push(request.program.to_string_lossy().into_owned());
        words.append(&mut request.arguments);
        (request.program, request.arguments) = (VALGRIND.into(), words);
        request.environment.retain(|(name, _)| name != spawn::SCRATCH);
        request.environment.push((spawn::SCRATCH.to_owned(), self.folder.to_string_lossy().into_owned()));
        Ok(())
    }

    fn seen(self: Box<Self>, transcript: &mut Transcript) -> PartSeen {
        let echo = transcript.plan.clone().ok_or(Obstacle::NoPlan);
        let executed = match echo.and_then(|echo| self.counted(&echo, transcript)) {
            Ok(executed) => executed,
            Err(why) => Executed { refused: Some(why), ..Executed::default() },
        };
        PartSeen { executed: Some(executed), ..PartSeen::default() }
    }
}

impl Counting {
    /// Arguments before the program. Nothing of the user's own settings, and no pipes for
    /// debuggers.
    fn words(&self) -> Vec<String> {
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
        words.map(str::to_owned).to_vec()
    }

    /// Adds to the transcript what was counted of its batches.
    fn counted(&self, echo: &PlanEcho, transcript: &mut Transcript) -> Result<Executed, Obstacle> {
        let batches = echo.warmup_batches.saturating_add(echo.batches);
        // Between two stretches lies a part of its own, and what comes after the last stands in a
        // file without a number.
        let numbered = batches.saturating_mul(2 * STRETCHES);
        let names = (1..=numbered).map(|number| format!("{FILE}.{number}")).chain([FILE.to_owned()]);
        let mut parts = Vec::new();
        for name in names {
            let part = parts.len() as u64 + 1;
            let missing = |_| Obstacle::PartMissing { part, parts: numbered + 1 };
            let text = std::fs::read_to_string(self.folder.join(&name)).map_err(missing)?;
            parts.push(Counts::parse(&text)?);
        }
        if self.folder.join(format!("{FILE}.{}", numbered + 1)).exists() {
            return Err(Obstacle::MoreParts { parts: numbered + 1 });
        }
        let first = echo.batch_units / FIRST_OF;
        let second = echo.batch_units - first;
        let stretches: Vec<(&Counts, &Counts)> =
            parts[1..].chunks_exact(2 * STRETCHES as usize).map(|four| (&four[0], &four[2])).collect();
        let scale = |longer: u64, shorter: u64| {
            let difference = i128::from(longer) - i128::from(shorter);
            i64::try_from(difference * i128::from(echo.batch_units) / i128::from(second - first).max(1))
                .unwrap_or(i64::MAX)
        };
        let (warmup, measured) = stretches.split_at(echo.warmup_batches as usize);
        for (quantity, of) in [
            ("instructions", (|part: &Counts| part.instructions) as fn(&Counts) -> u64),
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
            executed.functions = more(&one.functions, &two.functions);
            executed.callers = more(&one.callers, &two.callers);
        }
        Ok(executed)
    }
}

/// What is of the longer stretch alone, the largest of it.
fn more(shorter: &BTreeMap<String, u64>, longer: &BTreeMap<String, u64>) -> BTreeMap<String, i64> {
    let own =
        |(name, count): (&String, &u64)| (name.clone(), *count as i64 - shorter.get(name).copied().unwrap_or(0) as i64);
    let mut all: Vec<(String, i64)> = longer.iter().map(own).filter(|(_, count)| *count != 0).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(count.abs()));
    all.truncate(FUNCTIONS_KEPT);
    all.into_iter().collect()
}
