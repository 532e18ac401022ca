//! Percentiles of latencies, of a tool that prints a histogram and of ours, counted by one rule.
//!
//! A loop that was late by more than a period finds several of its times due at once. Ours counts
//! each of them; a tool that skips the times it missed counts the first. Of the latencies L, L − P,
//! L − 2P … of such a wake-up it has L alone. So of ours those are left out that lie one period
//! below another.

use switchcost_model::{Histogram, Phase, Transcript};

/// Lines `VALUE COUNT` of whole numbers, and how many lay above them all; None: the tool does not
/// say how many.
pub(crate) fn printed(text: &str) -> Option<(Vec<(f64, u64)>, u64)> {
    let pair = |line: &str| {
        let mut words = line.split_whitespace();
        let (value, count) = (words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u64>().ok()?);
        words.next().is_none().then_some((f64::from(value), count))
    };
    let beyond = text.lines().find_map(|line| line.strip_prefix("# Histogram Overflows:")?.trim().parse().ok())?;
    Some((text.lines().filter_map(pair).collect(), beyond))
}

/// The value below which this share lies, in unit steps, as if values were spread evenly within
/// each. None: it lies above all steps, or there is none.
pub(crate) fn percentile(steps: &[(f64, u64)], beyond: u64, share: f64) -> Option<f64> {
    let all = steps.iter().map(|(_, count)| count).sum::<u64>() + beyond;
    let mut left = share * all as f64;
    for (value, count) in steps {
        if *count > 0 && left <= *count as f64 {
            return Some(value + left / *count as f64);
        }
        left -= *count as f64;
    }
    None
}

/// Latencies of a start of ours.
pub(crate) struct Latencies {
    /// Lower edge of each bucket, ns, with how many of the latencies lie below it.
    below: Vec<(f64, f64)>,
    longest: f64,
    all: f64,
}

impl Latencies {
    /// Of its measured histogram; None: it has none.
    pub(crate) fn of(transcript: &Transcript) -> Option<Self> {
        let ns = 1e9 / transcript.hello.as_ref()?.clock.ticks_per_second as f64;
        let measured = |histogram: &&Histogram| histogram.phase == Phase::Measure;
        let histogram = transcript.histograms.iter().find(measured)?;
        let mut sum = 0.0;
        let below = histogram.buckets.iter().map(|(edge, count)| {
            let point = (*edge as f64 * ns, sum);
            sum += *count as f64;
            point
        });
        let below = below.collect();
        Some(Self { below, longest: histogram.max as f64 * ns, all: sum })
    }

    /// How many are at most this long.
    fn up_to(&self, ns: f64) -> f64 {
        let next = self.below.partition_point(|(edge, _)| *edge <= ns);
        let Some(&(edge, count)) = next.checked_sub(1).and_then(|at| self.below.get(at)) else { return 0.0 };
        let (end, total) = self.below.get(next).copied().unwrap_or((self.longest.max(edge + 1.0), self.all));
        let part = ((ns - edge) / (end - edge)).clamp(0.0, 1.0);
        count + part * (total - count)
    }

    /// How long this share of them is at most, ns. `skipped`: the period, of a rule that skips
    /// missed times.
    pub(crate) fn percentile(&self, share: f64, skipped: Option<f64>) -> f64 {
        let kept = |ns: f64| {
            let left_out = skipped.map_or(0.0, |period| self.up_to(ns + period) - self.up_to(period));
            self.up_to(ns) - left_out
        };
        let wanted = share * kept(f64::MAX);
        let (mut low, mut high) = (0.0, self.longest);
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if kept(middle) < wanted { low = middle } else { high = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_histogram_is_read_between_its_steps() {
        let text = "WARN: x\n# Histogram\n000010 000002\n000011 000006\n000012 000000\n# Total: 000000008\n# Histogram Overflows: 00002\n";
        let (steps, beyond) = printed(text).unwrap();
        assert_eq!(printed(&text.replace("Overflows: 00002", "Overflows: ?")), None);
        assert_eq!((steps.len(), beyond), (3, 2));
        assert_eq!(percentile(&steps, beyond, 0.1), Some(10.5));
        assert_eq!(percentile(&steps, beyond, 0.5), Some(11.5));
        assert_eq!(percentile(&steps, beyond, 0.9), None);
        assert_eq!(percentile(&[], 0, 0.5), None);
    }

    /// 1,000 wake-ups of 10 µs, and 10 that are late by 2.25 ms to a period of 0.5 ms: 2.25, 1.75,
    /// 1.25, 0.75 and 0.25 ms.
    #[test]
    fn a_rule_that_skips_counts_the_first_of_a_late_wake_up() {
        let of = |times: &[f64]| {
            let mut below = Vec::new();
            let mut sum = 0.0;
            for (at, count) in [(10e3, 1000.0)].into_iter().chain(times.iter().map(|ns| (*ns, 10.0))) {
                below.push((at, sum));
                sum += count;
                below.push((at + 1.0, sum));
            }
            Latencies { below, longest: times.last().unwrap() + 1.0, all: sum }
        };
        let all = of(&[250e3, 750e3, 1250e3, 1750e3, 2250e3]);
        let near = |ns: f64, expected: f64| assert!((ns - expected).abs() < 2.0, "{ns} is not {expected}");
        // 1,050 latencies, of which 5 % are late; by the rule that skips 10 of 1,010 are.
        near(all.percentile(0.98, None), 1250e3);
        near(all.percentile(0.98, Some(500e3)), 10e3);
        near(all.percentile(0.995, Some(500e3)), 2250e3);
        near(all.percentile(0.5, None), 10e3);
    }
}
