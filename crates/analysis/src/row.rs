//! A row: a variant with all that is known of it.

use crate::at::At;
use crate::clock::SAME;
use crate::figures::Summary;
use crate::percentile::{CONFIDENCE, in_time};
use crate::rulers::Undisturbed;
use std::ops::Deref;
use switchcost_model::{Invocation, Quantity, Reason, Remark, Variant, Verdict};
use switchcost_stats::{Interval, Mode, Shared, half_width, mean, wanders};

/// What stands for a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The median of its batches or intervals.
    Medians,
    /// The median of its undisturbed batches.
    Undisturbed,
}

/// Half-width of what lies between two figures that scatter alike ÷ that of one: √2, and a little
/// more because the width is itself an estimate from as few as ten starts. By simulation
/// (docs/notebook/coverage.md).
const OF_TWO_RUNS: f64 = 1.5;

/// A variant with its starts, its verdict and its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged<'r> {
    /// Index of the variant in its run.
    pub index: usize,
    /// What stands for each of its starts.
    pub at: At,
    /// The variant.
    pub variant: &'r Variant,
    /// The variant with every parameter of its mechanism written out: rows of two runs are of one
    /// kind if these are equal, also where one run is of a version that did not have the parameter
    /// yet.
    pub full: Variant,
    /// Short name, unique within the run.
    pub label: String,
    /// What one unit is: switch, context, round trip …
    pub unit: String,
    /// What its figures are.
    pub quantity: Quantity,
    /// No switch takes place.
    pub control: bool,
    /// Starts of its probe, in order of execution.
    pub starts: Vec<&'r Invocation>,
    /// Worst verdict over its starts.
    pub verdict: Verdict,
    /// Its reason.
    pub reason: Option<Reason>,
    /// Figures and evidence.
    pub summary: Summary,
    /// The figure by those batches beside which the machine was as fast as it gets; None: the probe
    /// has no rulers.
    pub undisturbed: Option<Undisturbed>,
    /// Standard deviation of the figure between runs of one hour, as a fraction: that of the
    /// mechanism's family.
    pub run_to_run: f64,
    /// A few words for what switches; empty where the page has none.
    pub short: String,
    /// A program can choose it.
    pub choice: bool,
}

/// A factor whose interval reaches further than this to either side enters no sentence.
const WIDEST_FACTOR: f64 = 0.10;

/// What a row costs beside another of its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Median of the ratios round by round.
    pub ratio: f64,
    /// Its 95 % interval; None where `compare` gives none.
    pub interval: Option<(f64, f64)>,
}

impl Times {
    /// The ratio, if its interval is narrow enough for a sentence to give one number.
    #[must_use]
    pub fn carried(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        let within = |end: f64| (end / self.ratio - 1.0).abs() <= WIDEST_FACTOR;
        (within(low) && within(high)).then_some(self.ratio)
    }
}

/// The same beside the other rows of its run: all that is known of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'r> {
    /// What is known of it alone.
    pub judged: Judged<'r>,
    /// × the run's reference ([`crate::Analysis::reference`]), as `compare` gives it.
    pub times_reference: Option<Times>,
    /// What it sought and what came of it: shown also where notes are not.
    pub answer: Vec<Remark>,
    /// What a reader must know of it, with that answer.
    pub notes: Vec<Remark>,
    /// Those of its notes that change how this figure is read; the rest holds of the mechanism
    /// wherever it runs, or stands in other columns.
    pub caveats: Vec<Remark>,
}

impl<'r> Deref for Row<'r> {
    type Target = Judged<'r>;

    fn deref(&self) -> &Judged<'r> {
        &self.judged
    }
}

impl Judged<'_> {
    /// Why it has its verdict, as a sentence; empty for verified.
    #[must_use]
    pub fn why(&self) -> String {
        self.reason.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Its headline figure.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        self.summary.figures.as_ref().map(|figures| figures.median)
    }

    /// The same where one number stands for the row: it has no modes.
    #[must_use]
    pub fn one(&self) -> Option<f64> {
        self.median().filter(|_| self.summary.modes.is_empty())
    }

    /// The figure that stands for it in a list: of modes the most frequent.
    #[must_use]
    pub fn usual(&self) -> Option<f64> {
        self.summary.shares().first().map(|mode| mode.0).or_else(|| self.median())
    }

    /// Both ends of the 95 % interval of its headline figure.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.summary.figures.as_ref()?.interval.map(|interval| (interval.low, interval.high))
    }

    /// From where to where its cost reaches: the interval, from its lowest mode to its highest, or
    /// the range of starts that wander. None: it has none of these.
    #[must_use]
    pub fn reach(&self) -> Option<(f64, f64)> {
        let modes = self.summary.modes.iter().map(|mode| mode.value);
        let ends = modes.clone().min_by(f64::total_cmp).zip(modes.max_by(f64::total_cmp));
        ends.or_else(|| self.interval()).or_else(|| self.range())
    }

    /// Starts that have the figure which most of them have, to the last digit.
    #[must_use]
    pub fn equal_starts(&self) -> Option<usize> {
        let values = switchcost_stats::sorted(
            &self.summary.invocation_medians.iter().map(|(_, value)| *value).collect::<Vec<_>>(),
        );
        values.chunk_by(|a, b| a.to_bits() == b.to_bits()).map(<[f64]>::len).max()
    }

    /// How long one of its starts takes, on average, in ns.
    #[must_use]
    pub fn start_takes(&self) -> Option<f64> {
        mean(&self.starts.iter().map(|start| start.wall_ns as f64).collect::<Vec<_>>())
    }

    /// Undisturbed medians of its starts with their rounds, as far as its probe has rulers.
    #[must_use]
    pub fn undisturbed_medians(&self) -> &[(u64, f64)] {
        self.undisturbed.as_ref().map_or(&[], |undisturbed| &undisturbed.starts)
    }

    /// Median, interval and modes: the headline's by its basis, else those of the other.
    #[must_use]
    pub fn figure(&self, of: Of) -> Option<(f64, Option<Interval>, &[Mode])> {
        let figures = self.summary.figures.as_ref()?;
        match (of, &self.summary.as_measured) {
            (Of::Medians, Some(measured)) => Some((measured.median, measured.interval, &measured.modes)),
            (Of::Undisturbed, None) => None,
            _ => Some((figures.median, figures.interval, &self.summary.modes)),
        }
    }

    /// What the median of all its batches is, as they were read, if that lies beyond the interval
    /// of the headline and more than [`SAME`] from it.
    #[must_use]
    pub fn beside(&self) -> Option<f64> {
        let measured = self.summary.as_measured.as_ref()?.median;
        let (low, high) = self.interval()?;
        let differs = !(low..=high).contains(&measured) && (measured / self.median()?).ln().abs() > SAME;
        (self.summary.modes.is_empty() && differs).then_some(measured)
    }

    /// The figures of its starts that the headline is the median of, with their rounds.
    #[must_use]
    pub fn of_starts(&self) -> &[(u64, f64)] {
        match self.basis() {
            Of::Undisturbed => self.undisturbed_medians(),
            Of::Medians => &self.summary.invocation_medians,
        }
    }

    /// The machine moved its figure as measured, or nobody knows what it is without that.
    #[must_use]
    pub fn slowed(&self) -> bool {
        let measured = self.figure(Of::Medians).map(|figure| figure.0);
        measured
            .zip(self.undisturbed.as_ref())
            .is_some_and(|(own, other)| other.factor(own).is_some() || other.lacking().is_some())
    }

    /// What all rows of the run know of how much each of these starts is like the one before.
    pub(crate) fn shared(&self, of: Of) -> Shared {
        let clear = self.undisturbed.as_ref().filter(|_| of == Of::Undisturbed);
        clear.map_or(self.summary.shared, |clear| clear.shared)
    }

    /// What its headline rests on: the undisturbed batches, where they carry it.
    #[must_use]
    pub fn basis(&self) -> Of {
        if self.summary.as_measured.is_some() { Of::Undisturbed } else { Of::Medians }
    }

    /// Least and greatest start of a row whose starts follow one another so closely that no
    /// interval of their median holds ([`wanders`]).
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let starts: Vec<f64> = in_time(self.of_starts());
        let wanders = self.summary.modes.is_empty() && wanders(&starts, &self.shared(self.basis()));
        let ends = || starts.iter().copied();
        ends().min_by(f64::total_cmp).zip(ends().max_by(f64::total_cmp)).filter(|_| wanders)
    }

    /// Why its figure says nothing beyond its run: its starts wander, or somebody else was there
    /// too often.
    #[must_use]
    pub fn unsettled(&self) -> Option<String> {
        self.disturbed().or_else(|| self.wandering())
    }

    /// Why no interval of its figure holds.
    pub(crate) fn wandering(&self) -> Option<String> {
        self.range().map(|_| "its figure drifts during the run".to_owned())
    }

    /// Why its figure says nothing beyond its run: somebody else was there too often.
    #[must_use]
    pub fn disturbed(&self) -> Option<String> {
        self.undisturbed.as_ref().and_then(Undisturbed::lacking).or_else(|| self.others())
    }

    /// How many of its starts others disturbed; None of counts, which they do not move.
    #[must_use]
    pub fn others(&self) -> Option<String> {
        let (disturbed, starts) = (self.summary.disturbed_counted, self.summary.invocation_medians.len());
        let moved = disturbed > 0 && !self.quantity.exact;
        moved.then(|| format!("other programs disturbed {disturbed} of its {starts} starts"))
    }

    /// Where the figure of another run of the same hour lies in 95 % of cases: it scatters as much
    /// as this one, and both between runs. `None` of a row that no single figure stands for.
    #[must_use]
    pub fn another_run(&self) -> Option<(f64, f64)> {
        if self.unsettled().is_some() {
            return None;
        }
        let (median, interval, modes) = self.figure(self.basis())?;
        let Interval { low, high } = interval.filter(|_| modes.is_empty())?;
        let between = half_width(self.run_to_run, CONFIDENCE);
        let half = |ratio: f64| (OF_TWO_RUNS * ratio.ln().hypot(between)).exp();
        (low > 0.0).then(|| (median / half(median / low), median * half(high / median)))
    }

    /// What its figures are measured in, such as `ns/switch`.
    #[must_use]
    pub fn measure(&self) -> String {
        format!("{}/{}", self.quantity.unit, self.unit)
    }
}

/// Whether a row may be compared at all.
///
/// # Errors
/// A clause that says why not.
pub fn usable(row: &Judged<'_>) -> Result<(), String> {
    believed(row)?;
    let medians = &row.summary.invocation_medians;
    if medians.is_empty() {
        return Err(row.at.lacking());
    }
    if let Some((round, value)) = medians.iter().find(|(_, value)| *value <= 0.0) {
        return Err(format!("its cost in round {round} is {value}, and a ratio to nothing or less has no meaning"));
    }
    Ok(())
}

/// Whether anything may be computed from a row.
pub(crate) fn believed(row: &Judged<'_>) -> Result<(), String> {
    match row.verdict {
        Verdict::Unobservable if matches!(row.reason, Some(Reason::Translated { .. })) => Err(row.why()),
        Verdict::Verified | Verdict::Unobservable => Ok(()),
        Verdict::Contradicted => Err(format!("its evidence contradicts its claim ({})", row.why())),
        Verdict::Unsupported | Verdict::Unmeasured | Verdict::Broken => {
            Err(format!("it is {} ({})", row.verdict, row.why()))
        }
    }
}
