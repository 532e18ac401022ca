//! Verdicts on pairs of rows: slower, faster, the same, or not to be told.
//!
//! | rows of | what is compared | interval |
//! |---|---|---|
//! | one run | log-ratio of what was measured in the same round, median over the rounds | sign test, interpolated ([`switchcost_stats::paired`]); as for two runs where the rounds are too few for so many comparisons |
//! | two runs | difference of the medians of log invocation medians | exact bootstrap over invocations ([`switchcost_stats::median_difference`]), widened where starts that follow one another are alike, joined by what rows of the family scatter by between runs |
//!
//! "Slower" and "faster" need three things: the interval excludes 1, the difference exceeds the noise floor, and it exceeds the threshold.

use crate::Row;
use crate::rounds::{Of, by_round, common_rounds};
use crate::rulers::slower_clock;
use crate::summary::{CONFIDENCE, modes_phrase};
use std::collections::BTreeMap;
use switchcost_model::{TWIN, Variant, Verdict};
use switchcost_stats::{
    FEWEST, LogRatio, OF_A_MEDIAN, SIGMAS, autocorrelation_of_ranks, each_of, fewest_each, fewest_pairs, half_width,
    inflation, mad, median, median_difference, paired,
};

/// Level at which the A/A pair is tested: a sound run is refused by chance once in a hundred runs, not once in twenty.
const UNSTABLE_CONFIDENCE: f64 = 0.99;

/// Noise floor of a run that holds no A/A pair, and the difference within an A/A pair that is of no consequence.
pub const DEFAULT_FLOOR: f64 = 0.01;

/// What the A/A pairs of a run say of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noise {
    /// What equal things differ by, for each family that has a pair of its own.
    pub families: BTreeMap<String, Equals>,
    /// Why the run is unstable: equal things differ.
    pub unstable: Option<String>,
}

/// What an A/A pair differs by, as fractions; of several pairs the largest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Equals {
    /// At most, with 95 % certainty.
    pub reach: f64,
    /// If chance does not explain it; otherwise 0.
    pub beyond: f64,
}

impl Noise {
    /// Largest difference that the run may show between equal things, as a fraction; None: no A/A pair, or too few rounds of it.
    #[must_use]
    pub fn floor(&self) -> Option<f64> {
        self.families.values().map(|equals| equals.reach).max_by(f64::total_cmp)
    }

    /// What the A/A pair of a row's family differs by beyond chance; where no pair was measured, the documented default.
    fn beyond(&self, row: &Row<'_>) -> f64 {
        self.families.get(row.variant.mechanism.family()).map_or(DEFAULT_FLOOR, |equals| equals.beyond)
    }
}

/// The noise floor of two rows, as a fraction: what they would differ by with their own scatter if they cost the same, or what A/A pairs of their families
/// differ by beyond chance, if that is more.
fn floor(a: (&Row<'_>, &Noise), b: (&Row<'_>, &Noise), of: Of) -> f64 {
    // Variances add up: two rows with the scatter of both differ by the root mean square of what twins of each do.
    let own = f64::midpoint(own_reach(a.0, of).powi(2), own_reach(b.0, of).powi(2)).sqrt();
    fraction(own).max(a.1.beyond(a.0)).max(b.1.beyond(b.0))
}

/// What two rows that scatter like this one differ by at most in 95 % of runs, as a logarithm: each start beside that of the next round as if it were a twin's,
/// by the estimate of [`within`]. Neighbours, and less their drift, which does not count there either. It needs no twin, and a noisy row does not hide
/// behind a quiet one of its family.
///
/// The estimate is the median of n such steps, whose standard error is 1.2533 σ ÷ √n; σ is 1.4826 times their MAD.
fn own_reach(row: &Row<'_>, of: Of) -> f64 {
    let logs: Vec<f64> = by_round(row, of, f64::ln, false).into_values().collect();
    if logs.len() < FEWEST || logs.iter().any(|log| !log.is_finite()) {
        return 0.0;
    }
    let steps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let error = OF_A_MEDIAN * SIGMAS / (steps.len() as f64).sqrt();
    half_width(error * mad(&steps).unwrap_or_default(), CONFIDENCE)
}

/// Rows by their variants, twins beside their originals: imported runs may hold many thousands, and few of them are pairs.
/// Other labels tell rows of different sizes apart.
fn by_variant<'a, 'r>(rows: &[&'a Row<'r>]) -> Vec<Vec<&'a Row<'r>>> {
    let mut groups: BTreeMap<Variant, Vec<&Row<'r>>> = BTreeMap::new();
    for &row in rows {
        groups.entry(original(row.variant)).or_default().push(row);
    }
    groups.into_values().collect()
}

fn original(variant: &Variant) -> Variant {
    let label = if variant.is_twin() { String::new() } else { variant.label.clone() };
    Variant { label, ..variant.clone() }
}

/// Noise of a run, from those of its rows that differ only in their label.
///
/// The floor is the far end of the 95 % interval of the A/A pair's ratio: with that certainty two equal things in this run differ, as compared
/// here (median over the rounds), by no more. It is not a percentile of single rounds: a comparison rests on the median of all rounds, which
/// scatters by much less than one round does. It holds both what scatters and what is systematic (the order, the layout of memory). A pair speaks for its family:
/// a noisy one hides no small difference among quiet rows of another kind.
///
/// The run is unstable when a pair's interval at 99 % (shared by all pairs) (95 % where there are too few rounds for that) excludes 1 and the difference exceeds 1 %.
#[must_use]
pub fn noise(rows: &[&Row<'_>]) -> Noise {
    let mut pairs = Vec::new();
    for mut equal in by_variant(rows) {
        equal
            .retain(|row| usable(row).is_ok() && row.figure(row.basis()).is_some_and(|(_, _, modes)| modes.is_empty()));
        for (i, &first) in equal.iter().enumerate() {
            pairs.extend(equal[i + 1..].iter().map(|&second| (first, second)));
        }
    }
    let mut noise = Noise::default();
    let strict = each_of(pairs.len(), UNSTABLE_CONFIDENCE);
    for (first, second) in pairs {
        add_pair(&mut noise, first, second, strict);
    }
    noise
}

fn add_pair(noise: &mut Noise, first: &Row<'_>, second: &Row<'_>, strict: f64) {
    let ratios = round_ratios(first, second, basis(first, second));
    let Some(estimate) = paired(&ratios, CONFIDENCE) else { return };
    let Some(reach) = estimate.reach() else { return };
    let off = fraction(estimate.centre.abs());
    let family = noise.families.entry(first.variant.mechanism.family().to_owned()).or_default();
    family.reach = family.reach.max(fraction(reach));
    if estimate.excludes_zero() {
        family.beyond = family.beyond.max(off);
    }
    let strict = paired(&ratios, strict).filter(|strict| strict.interval.is_some()).unwrap_or(estimate);
    if strict.excludes_zero() && off > DEFAULT_FLOOR {
        noise.unstable = Some(format!(
            "its {TWIN} pair ({} twice) differs by {:.1} %, more than chance allows",
            first.variant.mechanism,
            off * 100.0
        ));
    }
}

/// What the user decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Smallest difference that matters, as a fraction.
    pub threshold: f64,
    /// Comparisons in the same table.
    pub comparisons: usize,
}

impl Rules {
    /// Level of each interval.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        each_of(self.comparisons, CONFIDENCE)
    }
}

/// Verdict on B, measured against A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// B costs more.
    Slower,
    /// B costs less.
    Faster,
    /// They differ by no more than this fraction.
    Same(f64),
    /// The data shows neither a difference nor that there is none.
    CannotTell,
}

/// B measured against A.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Cost of B ÷ cost of A.
    pub ratio: f64,
    /// Interval of the ratio, lower and upper end.
    pub interval: Option<(f64, f64)>,
    /// Level of the interval.
    pub confidence: f64,
    /// What stands for a start: its median, or that of its undisturbed batches.
    pub of: Of,
    /// Paired by round; otherwise two independent sets of invocations.
    pub paired: bool,
    /// Rounds (paired), or invocations of A and of B.
    pub counts: (usize, usize),
    /// Half-width at this level of what scatters between runs, part of the interval, as a logarithm; 0 within one run.
    pub component: f64,
    /// Noise floor used, as a fraction.
    pub floor: f64,
    /// Smallest true difference that this data shows in 95 of 100 cases, as a fraction.
    pub detectable: Option<f64>,
    /// Verdict.
    pub outcome: Outcome,
    /// Why there is no more than this to say; empty for slower and faster.
    pub reason: String,
}

impl Comparison {
    /// B costs more than A by more than `gate`, by the rules of the verdict.
    #[must_use]
    pub fn fails(&self, gate: f64) -> bool {
        self.outcome == Outcome::Slower && self.ratio > 1.0 + gate
    }

    /// Starts a side (rounds, if paired) that an interval at this level needs, where they are too few for any.
    #[must_use]
    pub fn lacks_starts(&self) -> Option<usize> {
        let needed = if self.paired { fewest_pairs(self.confidence) } else { fewest_each(self.confidence) };
        (self.counts.0.min(self.counts.1) < needed && self.interval.is_none()).then_some(needed)
    }

    /// Without verdict and interval where there is a reason against any: no gate passes on it either.
    #[must_use]
    pub fn unless(self, reason: Option<String>) -> Self {
        match reason {
            Some(reason) => Self { interval: None, detectable: None, outcome: Outcome::CannotTell, reason, ..self },
            None => self,
        }
    }
}

/// Why a ratio of these rows is none of costs: a row has modes that reach into the other's. Then it follows the shares of the modes, which are chance.
fn mixed(a: &Row<'_>, b: &Row<'_>, of: Of) -> Option<String> {
    let ends = |row: &Row<'_>| {
        let (median, _, modes) = row.figure(of)?;
        let values = || modes.iter().map(|mode| mode.value).chain([median]);
        Some((values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?))
    };
    let (low, high) = (ends(a)?, ends(b)?);
    if high.0 > low.1 || low.0 > high.1 {
        return None;
    }
    let kinds: Vec<String> = [("A", a), ("B", b)]
        .iter()
        .filter_map(|(side, row)| Some(format!("{side} has modes: {}", modes_phrase(row.figure(of)?.2)?)))
        .collect();
    (!kinds.is_empty()).then(|| format!("{}; the ratio follows their shares, which are chance", kinds.join(", ")))
}

/// Whether a row may be compared at all.
///
/// # Errors
/// A clause that says why not.
pub fn usable(row: &Row<'_>) -> Result<(), String> {
    believed(row)?;
    let medians = &row.summary.invocation_medians;
    if medians.is_empty() {
        return Err("it has no figure".into());
    }
    if let Some((round, value)) = medians.iter().find(|(_, value)| *value <= 0.0) {
        return Err(format!("its cost in round {round} is {value}, and a ratio to nothing or less has no meaning"));
    }
    // An invocation that was disturbed is repeated in its round.
    if medians.iter().all(|(round, _)| *round == medians[0].0) {
        return Err("it has one start only, which says nothing of its scatter; measure at least 6 rounds".into());
    }
    Ok(())
}

/// Whether anything may be computed from a row.
pub(crate) fn believed(row: &Row<'_>) -> Result<(), String> {
    match row.verdict {
        Verdict::Verified | Verdict::Unobservable => Ok(()),
        Verdict::Contradicted => Err(format!("its evidence contradicts its claim ({})", row.reason)),
        Verdict::Unsupported | Verdict::Unmeasured | Verdict::Broken => {
            Err(format!("it is {} ({})", row.verdict, row.reason))
        }
    }
}

/// Compares B with A within one run: round by round.
///
/// A test on n pairs cannot reach beyond a level of 1 − 2^(1 − n), whatever its statistic: there are only so many signs. Where many comparisons at once
/// need more than that, both sides are taken as independent sets of invocations, which have far more orders (10 and 10: one in 92 378). What drifts
/// over the rounds then widens the interval instead of cancelling: the answer errs on the safe side. The ratio stays that of the rounds: a pair has one,
/// however many others are asked with it.
///
/// # Errors
/// When they share no round.
pub fn within(a: &Row<'_>, b: &Row<'_>, noise: &Noise, rules: &Rules) -> Result<Comparison, String> {
    let of = basis(a, b);
    let ratios = round_ratios(a, b, of);
    let needed = fewest_pairs(rules.confidence());
    let floor = floor((a, noise), (b, noise), of);
    if (FEWEST..needed).contains(&ratios.len()) {
        let (logs_a, logs_b) = (logarithms(a, of), logarithms(b, of));
        let independent = median_difference(&logs_a, &logs_b, rules.confidence());
        if let Some(estimate) = independent.filter(|found| found.interval.is_some()) {
            let counts = (logs_a.len(), logs_b.len());
            let by_round = paired(&ratios, rules.confidence()).map_or(estimate, |rounds| estimate.about(rounds.centre));
            let estimate = either_way(by_round, a, b, of);
            return Ok(conclude(estimate, floor, rules, (of, false), counts, "").unless(mixed(a, b, of)));
        }
    }
    let lacking = format!("{} rounds hold both, and this level needs {needed}", ratios.len());
    let estimate =
        paired(&ratios, rules.confidence()).ok_or("no round holds both of them; measure them together again")?;
    let estimate = either_way(estimate, a, b, of);
    Ok(conclude(estimate, floor, rules, (of, true), (ratios.len(), ratios.len()), &lacking).unless(mixed(a, b, of)))
}

/// Compares B of one run with A of another. `clock`: how much slower B's clock was ([`crate::clocks_differ`]). A row that may follow it is compared as it is
/// and clock for clock, and the interval holds both: a clock is a setting that people compare, and on a shared host an accident.
///
/// # Errors
/// When a side has no figure.
pub fn between(
    a: &Row<'_>,
    b: &Row<'_>,
    noise: (&Noise, &Noise),
    clock: Option<f64>,
    rules: &Rules,
) -> Result<Comparison, String> {
    let of = basis(a, b);
    let floor = floor((a, noise.0), (b, noise.1), of);
    let (logs_a, logs_b) = (logarithms(a, of), logarithms(b, of));
    let needed = fewest_each(rules.confidence());
    let counts = (logs_a.len(), logs_b.len());
    let lacking = format!("there are {} and {} starts; this level needs {needed} each", counts.0, counts.1);
    let estimate = median_difference(&logs_a, &logs_b, rules.confidence()).ok_or("one of them has no figure")?;
    // Variances add up, and the bootstrap errs on the wide side as it is: the root will do, also where a row knows its correlation by itself only.
    let inflated = |logs: &[f64], row: &Row<'_>| inflation(autocorrelation_of_ranks(logs), logs.len(), &row.shared(of));
    let wider = f64::midpoint(inflated(&logs_a, a), inflated(&logs_b, b)).sqrt();
    let estimate = estimate.widened(wider);
    let deviation = a.run_to_run.hypot(b.run_to_run);
    let estimate = either_way(estimate.with_component(deviation, rules.confidence()), a, b, of);
    let component = half_width(deviation, rules.confidence());
    let same_clock = conclude(estimate, floor, rules, (of, false), counts, &lacking);
    let ignores = |row: &Row<'_>| row.undisturbed.as_ref().is_some_and(|found| found.follows_clock == Some(false));
    let compared = match clock.filter(|_| !(ignores(a) && ignores(b))) {
        None => same_clock,
        Some(off) => {
            let compared = conclude(estimate.or_less(off), floor, rules, (of, false), counts, &lacking);
            let reason = format!("{}, which may be all of it", slower_clock(off));
            if compared.outcome == same_clock.outcome { compared } else { Comparison { reason, ..compared } }
        }
    };
    let unsettled = [("A", a), ("B", b)]
        .iter()
        .find_map(|(side, row)| Some(format!("{side}: {}; measure it again", row.unsettled()?)));
    Ok(Comparison { component, ..compared }.unless(unsettled.or_else(|| mixed(a, b, of))))
}

/// With what of either figure may be the clock's, and without.
fn either_way(estimate: LogRatio, a: &Row<'_>, b: &Row<'_>, of: Of) -> LogRatio {
    let open = |row: &Row<'_>| {
        row.undisturbed.as_ref().filter(|_| of == Of::Undisturbed).map_or(0.0, |undisturbed| undisturbed.open)
    };
    estimate.or_less(open(b)).or_less(-open(a))
}

/// What two rows are compared by: their undisturbed starts, where both have enough of them.
fn basis(a: &Row<'_>, b: &Row<'_>) -> Of {
    if a.basis() == b.basis() { a.basis() } else { Of::Medians }
}

fn logarithms(row: &Row<'_>, of: Of) -> Vec<f64> {
    let starts = if of == Of::Undisturbed { row.undisturbed_medians() } else { &row.summary.invocation_medians };
    starts.iter().map(|(_, value)| value.ln()).collect()
}

/// B ÷ A by the estimate of [`within`], without a verdict; None where no round holds both, or a cost is not above 0.
pub(crate) fn plain_ratio(a: &Row<'_>, b: &Row<'_>) -> Option<f64> {
    let positive = |row: &Row<'_>| row.summary.invocation_medians.iter().all(|(_, value)| *value > 0.0);
    (positive(a) && positive(b)).then(|| median(&round_ratios(a, b, basis(a, b))).map(ratio))?
}

/// ln(b ÷ a) of each round that holds both; of a round with several invocations their median.
fn round_ratios(a: &Row<'_>, b: &Row<'_>, of: Of) -> Vec<f64> {
    let form = |all| -> Vec<f64> {
        let (a, b) = (by_round(a, of, f64::ln, all), by_round(b, of, f64::ln, all));
        a.iter().filter_map(|(round, a)| Some(b.get(round)? - a)).collect()
    };
    common_rounds(form, Vec::len)
}

fn conclude(
    estimate: LogRatio,
    floor: f64,
    rules: &Rules,
    (of, paired): (Of, bool),
    counts: (usize, usize),
    lacking: &str,
) -> Comparison {
    let ln_floor = floor.ln_1p();
    let (outcome, reason) = verdict(&estimate, floor, rules.threshold, lacking);
    Comparison {
        ratio: ratio(estimate.centre),
        interval: estimate.interval.map(|interval| (ratio(interval.low), ratio(interval.high))),
        confidence: rules.confidence(),
        of,
        paired,
        counts,
        component: 0.0,
        floor,
        detectable: estimate.detectable(ln_floor).map(fraction),
        outcome,
        reason,
    }
}

fn verdict(estimate: &LogRatio, floor: f64, threshold: f64, lacking: &str) -> (Outcome, String) {
    let limit = threshold.max(floor);
    let Some(reach) = estimate.reach() else { return (Outcome::CannotTell, lacking.to_owned()) };
    let effect = fraction(estimate.centre.abs());
    let percent = |fraction: f64| format!("{:.1} %", fraction * 100.0);
    if estimate.excludes_zero() && effect > limit {
        return (if estimate.centre > 0.0 { Outcome::Slower } else { Outcome::Faster }, String::new());
    }
    if fraction(reach) <= limit {
        return (Outcome::Same(limit), String::new());
    }
    let reason = match (estimate.excludes_zero(), effect > floor) {
        (false, _) => "there may be no difference".to_owned(),
        (true, false) => format!("the difference does not exceed the noise floor of {}", percent(floor)),
        (true, true) => format!(
            "they differ, but the interval holds differences on both sides of the threshold of {}",
            percent(threshold)
        ),
    };
    (Outcome::CannotTell, reason)
}

/// From logarithm to factor, without the last digits that logarithms garble (1.1, not 1.1000000000000003).
fn ratio(log: f64) -> f64 {
    let scale = 1e12;
    (log.exp() * scale).round() / scale
}

/// From the size of a logarithm to a fraction: 0.0296 → 3 %.
fn fraction(log: f64) -> f64 {
    ratio(log) - 1.0
}
