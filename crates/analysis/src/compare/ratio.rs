//! The verdict on a pair of rows: slower, faster, the same, or not to be told.
//!
//! | rows of | what is compared | interval |
//! |---|---|---|
//! | one run | log-ratio of what was measured in the same round, median over the rounds | sign test, interpolated ([`switchcost_stats::paired`]); as for two runs where the rounds are too few for so many comparisons |
//! | two runs | difference of the medians of log invocation medians | exact bootstrap over invocations ([`switchcost_stats::median_difference`]), widened where starts that follow one another are alike, joined by what rows of the family scatter by between runs |
//!
//! "Slower" and "faster" need three things: the interval excludes 1, the difference exceeds the
//! noise floor, and it exceeds the threshold.

use super::why::{Side, Why};
use crate::figures::modes_phrase;
use crate::noise::{Noise, floor};
use crate::percentile::CONFIDENCE;
use crate::rounds::{apart, basis, fraction, logarithms, ratio, reach, reach_of_both, round_ratios, starts_of};
use crate::row::{Judged, Of};
use crate::series::batch_ns;
use switchcost_model::Timing;
use switchcost_stats::{
    FEWEST, Interval, LogRatio, Mode, Shared, WIDEST, autocorrelation_of_ranks, each_of, fewest_each, fewest_pairs,
    half_width, inflation, median, median_difference, paired, shared, sorted, wanders,
};

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
    /// Figure of B ÷ figure of A.
    pub ratio: f64,
    /// Interval of the ratio, lower and upper end; over all of [`Self::modes`], and of rows that
    /// wander over all of their starts.
    pub interval: Option<(f64, f64)>,
    /// Least and greatest ratio of one mode to another, where a row has several and they are not
    /// compared one by one: no single ratio stands for these.
    pub modes: Option<(f64, f64)>,
    /// The greater figure is the better one, so that B costs more where it is smaller.
    pub more_is_better: bool,
    /// Level of the interval.
    pub confidence: f64,
    /// What stands for a start: its median, or that of its undisturbed batches.
    pub of: Of,
    /// Paired by round; otherwise two independent sets of invocations.
    pub paired: bool,
    /// Rounds (paired), or invocations of A and of B.
    pub counts: (usize, usize),
    /// Half-width at this level of what scatters between runs, part of the interval, as a
    /// logarithm; 0 within one run.
    pub component: f64,
    /// Noise floor used, as a fraction.
    pub floor: f64,
    /// Smallest true difference that this data shows in 95 of 100 cases, as a fraction.
    pub detectable: Option<f64>,
    /// Verdict.
    pub outcome: Outcome,
    /// Why there is no more than this to say; None for slower, faster and the same.
    pub why: Option<Why>,
}

impl Comparison {
    /// B costs more than A by more than `gate`, by the rules of the verdict.
    #[must_use]
    pub fn fails(&self, gate: f64) -> bool {
        self.outcome == Outcome::Slower && self.cost() > 1.0 + gate
    }

    /// Cost of B ÷ cost of A: where more is better, a figure's inverse is its cost.
    #[must_use]
    pub fn cost(&self) -> f64 {
        if self.more_is_better { 1.0 / self.ratio } else { self.ratio }
    }

    /// Upper end of the interval of [`Self::cost`].
    #[must_use]
    pub fn most_cost(&self) -> Option<f64> {
        self.interval.map(|(low, high)| if self.more_is_better { 1.0 / low } else { high })
    }

    /// Starts a side (rounds, if paired) that an interval at this level needs, where they are too
    /// few for any.
    #[must_use]
    pub fn lacks_starts(&self) -> Option<usize> {
        let needed = if self.paired { fewest_pairs(self.confidence) } else { fewest_each(self.confidence) };
        (self.counts.0.min(self.counts.1) < needed && self.interval.is_none()).then_some(needed)
    }

    /// With all that the modes of either row can make of it.
    fn over(self, modes: Option<(f64, f64)>) -> Self {
        let Some((least, most)) = modes else { return self };
        let interval = self.interval.map(|(low, high)| (low.min(least), high.max(most)));
        // One mode may be told from the other row, and the other not.
        let near = [least, most].into_iter().any(|ratio| fraction(ratio.ln().abs()) <= self.floor);
        let far = |limit| interval.is_some_and(|(low, high)| fraction(high.ln().max(-low.ln())) > limit);
        let why = match self.outcome {
            Outcome::Slower | Outcome::Faster if near => Some(Why::WithinFloor(self.floor)),
            Outcome::Same(limit) if far(limit) => Some(Why::MaybeNone),
            _ => None,
        };
        let outcome = if why.is_some() { Outcome::CannotTell } else { self.outcome };
        let detectable = self.detectable.filter(|_| why.is_none());
        Self { interval, modes, outcome, detectable, why: why.or(self.why), ..self }
    }

    /// With the ratio of the headlines, where the starts are too few for one of their own, or where
    /// only one of these leaves out what slowed the machine and is not what was compared: then
    /// without a verdict.
    fn of_headlines(self, a: &Judged<'_>, b: &Judged<'_>) -> Self {
        let corrected = |row: &Judged<'_>| row.basis() != self.of && row.beside().is_some();
        let apart = (corrected(a) || corrected(b)).then_some(Why::OneCorrected(self.ratio));
        match a.median().zip(b.median()).filter(|_| self.modes.is_none()) {
            Some((a, b)) if apart.is_some() || self.lacks_starts().is_some() => {
                Self { ratio: b / a, ..self }.unless(apart)
            }
            _ => self,
        }
    }

    /// Without verdict and interval where there is a reason against any: no gate passes on it
    /// either.
    pub(super) fn unless(self, why: Option<Why>) -> Self {
        match why {
            Some(_) => Self { interval: None, detectable: None, outcome: Outcome::CannotTell, why, ..self },
            None => self,
        }
    }
}

/// Least and greatest figure of a row: those of its modes and what stands for all of them.
fn ends(row: &Judged<'_>, of: Of) -> Option<(f64, f64)> {
    let (median, _, modes) = row.figure(of)?;
    let values = || modes.iter().map(|mode| mode.value).chain([median]);
    Some((values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?))
}

/// Least and greatest ratio of a mode of B to one of A; None where neither has modes.
fn modes(a: &Judged<'_>, b: &Judged<'_>, of: Of) -> Option<(f64, f64)> {
    let several = [a, b].iter().any(|row| row.figure(of).is_some_and(|(_, _, modes)| !modes.is_empty()));
    let (a, b) = (ends(a, of)?, ends(b, of)?);
    several.then_some((b.0 / a.1, b.1 / a.0))
}

/// Why a ratio of these rows is none of costs: a row has modes that reach into the other's. Then it
/// follows the shares of the modes, which are chance.
fn mixed(a: &Judged<'_>, b: &Judged<'_>, of: Of) -> Option<Why> {
    let (low, high) = (ends(a, of)?, ends(b, of)?);
    if high.0 > low.1 || low.0 > high.1 {
        return None;
    }
    let kinds: Vec<(Side, String)> = [(Side::A, a), (Side::B, b)]
        .into_iter()
        .filter_map(|(side, row)| Some((side, modes_phrase(row.figure(of)?.2)?)))
        .collect();
    (!kinds.is_empty()).then_some(Why::Modes(kinds))
}

/// What the starts of two rows can differ by at least and at most, as logarithms.
fn range(a: &Judged<'_>, b: &Judged<'_>, of: Of) -> Option<Interval> {
    let ends = |row| {
        let starts = sorted(&logarithms(row, of));
        Some((*starts.first()?, *starts.last()?))
    };
    let (a, b) = (ends(a)?, ends(b)?);
    Some(Interval { low: b.0 - a.1, high: b.1 - a.0 })
}

/// Compares B with A within one run: round by round.
///
/// A test on n pairs cannot reach beyond a level of 1 − 2^(1 − n), whatever its statistic: there
/// are only so many signs. Where many comparisons at once need more than that, both sides are taken
/// as independent sets of invocations, which have far more orders (10 and 10: one in 92 378). What
/// drifts over the rounds then widens the interval instead of cancelling: the answer errs on the
/// safe side. The ratio stays that of the rounds: a pair has one ratio, whatever else is compared
/// with it.
///
/// Rows that scatter each by itself may wander so as well, and then no round cancels that: the
/// interval widens by what both together show of it, and where that is more than widens any, it
/// goes from range to range (docs/notebook/coverage.md).
///
/// # Errors
/// When they share no round.
pub fn within(a: &Judged<'_>, b: &Judged<'_>, noise: &Noise, rules: &Rules) -> Result<Comparison, Why> {
    let of = basis(a, b);
    let floor = floor((a, noise), (b, noise), of);
    let ratios = round_ratios(a, b, of);
    let needed = fewest_pairs(rules.confidence());
    let apart = apart(&ratios, a, b, of);
    let both = if apart { shared(&[starts_of(a, of), starts_of(b, of)]) } else { Shared::default() };
    let wandering = unsettled(a, b, Judged::wandering).filter(|_| apart);
    let wandering = wandering.or_else(|| wanders(&ratios, &both).then_some(Why::RatiosWander));
    let wider = inflation(0.0, ratios.len(), &both).sqrt();
    let spread = |estimate: LogRatio| match (&wandering, estimate.interval) {
        (Some(_), Some(_)) => LogRatio { interval: range(a, b, of), ..estimate }.widened(WIDEST),
        _ => estimate.widened(wider),
    };
    // What others take from a row depends on how it waits: no round cancels that.
    let disturbed = || unsettled(a, b, Judged::others);
    let settled = |compared: Comparison| {
        let ordered = matches!(compared.outcome, Outcome::Slower | Outcome::Faster);
        let unordered = || wandering.clone().filter(|_| !ordered);
        let against = disturbed().or_else(|| mixed(a, b, of)).or_else(unordered);
        Ok(compared.over(modes(a, b, of)).of_headlines(a, b).unless(against))
    };
    if (FEWEST..needed).contains(&ratios.len()) {
        let (logs_a, logs_b) = (logarithms(a, of), logarithms(b, of));
        let independent = median_difference(&logs_a, &logs_b, rules.confidence());
        if let Some(estimate) = independent.filter(|found| found.interval.is_some()) {
            let counts = (logs_a.len(), logs_b.len());
            let by_round = paired(&ratios, rules.confidence()).map_or(estimate, |rounds| estimate.about(rounds.centre));
            let estimate = either_way(spread(by_round), a, b, of);
            let lacking = Why::FewRounds { rounds: ratios.len(), needed };
            return settled(conclude(estimate, floor, rules, (a, of, false), counts, lacking));
        }
    }
    let lacking = Why::FewRounds { rounds: ratios.len(), needed };
    let estimate = paired(&ratios, rules.confidence()).ok_or(Why::NoRoundInCommon)?;
    let estimate = either_way(spread(estimate), a, b, of);
    settled(conclude(estimate, floor, rules, (a, of, true), (ratios.len(), ratios.len()), lacking))
}

/// Compares B of one run with A of another. `clock`: how much slower B's clock was
/// ([`crate::clocks_differ`]). A row that may follow it is compared as it is and clock for clock,
/// and the interval holds both: a clock is a setting that people compare, and on a shared host an
/// accident.
///
/// # Errors
/// When a side has no figure.
pub fn between(
    a: &Judged<'_>,
    b: &Judged<'_>,
    noise: (&Noise, &Noise),
    clock: Option<f64>,
    rules: &Rules,
) -> Result<Comparison, Why> {
    let of = basis(a, b);
    let by_modes = mode_by_mode(a, b, of);
    let floor = by_modes
        .as_ref()
        .map_or_else(|| floor((a, noise.0), (b, noise.1), of), |(a, b)| reach_of_both(reach(a), reach(b)));
    let mixed = || if by_modes.is_some() { None } else { mixed(a, b, of) };
    let (logs_a, logs_b) = by_modes.clone().unwrap_or_else(|| (logarithms(a, of), logarithms(b, of)));
    let needed = fewest_each(rules.confidence());
    let counts = (logs_a.len(), logs_b.len());
    let lacking = Why::FewStarts { starts: counts, needed };
    let estimate = median_difference(&logs_a, &logs_b, rules.confidence()).ok_or(Why::NoFigure)?;
    // Variances add up, and the bootstrap errs on the wide side as it is: the root will do, also
    // where a row knows its correlation by itself only.
    let inflated =
        |logs: &[f64], row: &Judged<'_>| inflation(autocorrelation_of_ranks(logs), logs.len(), &row.shared(of));
    let wider = f64::midpoint(inflated(&logs_a, a), inflated(&logs_b, b)).sqrt();
    let estimate = estimate.widened(wider);
    let deviation = a.run_to_run.hypot(b.run_to_run);
    let estimate = either_way(estimate.with_component(deviation, rules.confidence()), a, b, of);
    let component = half_width(deviation, rules.confidence());
    let same_clock = conclude(estimate, floor, rules, (a, of, false), counts, lacking.clone());
    let ignores = |row: &Judged<'_>| row.undisturbed.as_ref().is_some_and(|found| found.follows_clock == Some(false));
    let compared = match clock.filter(|_| !(ignores(a) && ignores(b))) {
        None => same_clock,
        Some(off) => {
            let compared = conclude(estimate.or_less(off), floor, rules, (a, of, false), counts, lacking);
            let may_be_all = compared.outcome != same_clock.outcome;
            Comparison { why: if may_be_all { Some(Why::Clock(off)) } else { compared.why }, ..compared }
        }
    };
    let several = if by_modes.is_some() { None } else { modes(a, b, of) };
    Ok(Comparison { component, ..compared }
        .over(several)
        .of_headlines(a, b)
        .unless(unsettled(a, b, Judged::unsettled).or_else(|| lengths(a, b)).or_else(mixed)))
}

/// The first side whose figure is not settled, by this rule.
fn unsettled<'r>(a: &Judged<'r>, b: &Judged<'r>, rule: impl Fn(&Judged<'r>) -> Option<String>) -> Option<Why> {
    let why = |(side, row)| Some(Why::Unsettled { side, reason: rule(row)? });
    [(Side::A, a), (Side::B, b)].into_iter().find_map(why)
}

/// Batches of which one is so many times as long as the other are not compared: their edges weigh
/// differently. Of one build in two runs 51 s apart a switch differed by 11 % between batches of 11
/// µs and of 1.6 ms.
const LENGTHS: f64 = 10.0;

fn lengths(a: &Judged<'_>, b: &Judged<'_>) -> Option<Why> {
    let length = |row: &Judged<'_>| {
        let all: Vec<f64> = row.starts.iter().filter_map(|start| batch_ns(&start.transcript)).collect();
        median(&all).filter(|_| row.variant.timing == Timing::Batch && row.variant.experiment.timed())
    };
    let (a, b) = (length(a)?, length(b)?);
    (a.max(b) >= LENGTHS * a.min(b)).then_some(Why::Batches { a_ns: a, b_ns: b })
}

/// Logarithms of two rows with equally many modes, each start beside its own mode of A: what moved
/// all modes alike moves these, and the shares of the modes, which are chance, do not.
fn mode_by_mode(a: &Judged<'_>, b: &Judged<'_>, of: Of) -> Option<(Vec<f64>, Vec<f64>)> {
    let (own, other) = (a.figure(of)?.2, b.figure(of)?.2);
    if own.len() < 2 || own.len() != other.len() {
        return None;
    }
    let beside = |row: &Judged<'_>, modes: &[Mode]| -> Vec<f64> {
        let nearest = |log: &f64| {
            let far = |mode: &Mode| (log - mode.value.ln()).abs();
            let pairs = modes.iter().zip(own);
            let best = pairs.min_by(|(x, _), (y, _)| far(x).total_cmp(&far(y)));
            best.map_or(0.0, |(_, of_a)| of_a.value.ln())
        };
        logarithms(row, of).iter().map(|log| log - nearest(log)).collect()
    };
    Some((beside(a, own), beside(b, other)))
}

/// With what of either figure may be the clock's, and without.
fn either_way(estimate: LogRatio, a: &Judged<'_>, b: &Judged<'_>, of: Of) -> LogRatio {
    let open = |row: &Judged<'_>| {
        row.undisturbed.as_ref().filter(|_| of == Of::Undisturbed).map_or(0.0, |undisturbed| undisturbed.open)
    };
    estimate.or_less(open(b)).or_less(-open(a))
}

fn conclude(
    estimate: LogRatio,
    floor: f64,
    rules: &Rules,
    (row, of, paired): (&Judged<'_>, Of, bool),
    counts: (usize, usize),
    lacking: Why,
) -> Comparison {
    let ln_floor = floor.ln_1p();
    let (outcome, why) = verdict(&estimate, floor, rules.threshold, lacking);
    let more_is_better = row.quantity.more_is_better;
    let outcome = match outcome {
        Outcome::Slower if more_is_better => Outcome::Faster,
        Outcome::Faster if more_is_better => Outcome::Slower,
        other => other,
    };
    Comparison {
        ratio: ratio(estimate.centre),
        interval: estimate.interval.map(|interval| (ratio(interval.low), ratio(interval.high))),
        modes: None,
        more_is_better,
        confidence: rules.confidence(),
        of,
        paired,
        counts,
        component: 0.0,
        floor,
        detectable: estimate.detectable(ln_floor).map(fraction),
        outcome,
        why,
    }
}

fn verdict(estimate: &LogRatio, floor: f64, threshold: f64, lacking: Why) -> (Outcome, Option<Why>) {
    let limit = threshold.max(floor);
    let Some(reach) = estimate.reach() else { return (Outcome::CannotTell, Some(lacking)) };
    let effect = fraction(estimate.centre.abs());
    if estimate.excludes_zero() && effect > limit {
        return (if estimate.centre > 0.0 { Outcome::Slower } else { Outcome::Faster }, None);
    }
    if fraction(reach) <= limit {
        return (Outcome::Same(limit), None);
    }
    let why = match (estimate.excludes_zero(), effect > floor) {
        (false, _) => Why::MaybeNone,
        (true, false) => Why::WithinFloor(floor),
        (true, true) => Why::AboutThreshold(threshold),
    };
    (Outcome::CannotTell, Some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_modes_reach_beyond_is_neither_the_same_nor_told() {
        let compared = |outcome, interval| Comparison {
            ratio: 1.0,
            interval: Some(interval),
            modes: None,
            more_is_better: false,
            confidence: 0.95,
            of: Of::Medians,
            paired: true,
            counts: (20, 20),
            component: 0.0,
            floor: 0.01,
            detectable: Some(0.02),
            outcome,
            why: None,
        };
        let over = |outcome, modes| compared(outcome, (0.99, 1.01)).over(Some(modes)).outcome;
        // Most starts of A cost as much as B, some four times as much.
        assert_eq!(over(Outcome::Same(0.03), (0.26, 1.0)), Outcome::CannotTell);
        assert_eq!(over(Outcome::Same(0.03), (0.98, 1.02)), Outcome::Same(0.03));
        assert_eq!(over(Outcome::Slower, (1.005, 2.0)), Outcome::CannotTell);
        assert_eq!(over(Outcome::Slower, (1.2, 2.0)), Outcome::Slower);
    }
}
