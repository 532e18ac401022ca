//! What came of the lateness that ends a row.

use super::tail::{UNEXPLAINED, shares, throttled, time};
use switchcost_model::{Invocation, LateLimit, LateWake, Remark, Seen, TracedEvent, TracedWake, Utc, Value, remark};

/// The start was traced because its row seeks a late wake-up, as all starts of the row are.
pub(super) fn seeks(seen: &Seen) -> bool {
    seen.part.scheduled.as_ref().is_some_and(|scheduled| scheduled.limit.is_some())
}

/// A wake-up was later than that, which ends the row.
pub(super) fn found(seen: &Seen) -> bool {
    seen.part.scheduled.as_ref().and_then(|scheduled| scheduled.limit.as_ref()).is_some_and(LateLimit::exceeded)
}

fn limit(start: &Invocation) -> Option<&LateLimit> {
    start.seen.as_ref()?.part.scheduled.as_ref()?.limit.as_ref()
}

/// The wake-up that ended the row, with what went on around it; or that none did.
pub(super) fn answer(starts: &[&Invocation]) -> Vec<Remark> {
    let Some(first) = starts.iter().find_map(|start| limit(start)) else { return Vec::new() };
    let wakes = starts.iter().filter_map(|start| limit(start)).map(|limit| limit.wakes).fold(0, u64::saturating_add);
    let found = starts.iter().find_map(|start| limit(start).filter(|limit| limit.exceeded()).map(|own| (*start, own)));
    let Some((start, own)) = found else {
        let why = starts.iter().find_map(|start| untraced(start));
        return vec![remark!(limit_kept, limit = time(first.ns), wakes, why)];
    };
    let (latest, limit) = (time(own.latest_ns), time(own.ns));
    let Some(traced) = &own.traced else {
        let at = Utc::new(start.started_unix_ns).to_string();
        let why = untraced(start).unwrap_or_else(|| "the trace has no wake-up of its tasks".to_owned());
        return vec![remark!(limit_untraced, latest, limit, wakes, at, why)];
    };
    let TracedWake { unix_ns, cpu, wake, .. } = traced;
    let at = Utc::new(*unix_ns).to_string();
    let held = (wake.waited_ns > 0).then(|| shares(wake.held.iter(), throttled(start)));
    let missing = 1.0 - wake.late_ns() as f64 / own.latest_ns as f64;
    let missing = (missing > UNEXPLAINED).then(|| Value::Percent(missing).to_string());
    let LateWake { interrupt_ns, idle, handler_ns, waited_ns, returned_ns, .. } = wake;
    let [interrupt, handler, waited, returned] = [*interrupt_ns, *handler_ns, *waited_ns, *returned_ns].map(time);
    let cpu = u64::from(*cpu);
    let found = if traced.by_timer {
        let idle = idle.clone();
        remark!(limit_late, latest, limit, wakes, at, cpu, interrupt, idle, handler, waited, held, returned, missing)
    } else {
        remark!(limit_waited, latest, limit, wakes, at, cpu, waited, held, missing)
    };
    let half = traced.events.len() / 2;
    let told = traced.events.iter().enumerate().flat_map(|(place, event)| {
        let left_out = (traced.left_out > 0 && place == half).then(|| remark!(limit_left_out, count = traced.left_out));
        left_out.into_iter().chain([around(event)])
    });
    std::iter::once(found).chain(told).collect()
}

fn around(event: &TracedEvent) -> Remark {
    let at = format!("{:+.3}", event.ns as f64 / 1e6).replace('-', "−");
    remark!(limit_event, at, cpu = u64::from(event.cpu), what = event.what.as_str())
}

/// Why a start was not traced.
fn untraced(start: &Invocation) -> Option<String> {
    Some(start.seen.as_ref()?.part.scheduled.as_ref()?.tail.as_ref()?.unknown.as_ref()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::{Judgement, Obstacle, PartSeen, ProcessEnd, Scheduled, Tail, Transcript, Verdict};

    fn start(limit: LateLimit, unknown: Option<Obstacle>) -> Invocation {
        let tail = Tail { unknown, ..Tail::default() };
        let scheduled = Scheduled { limit: Some(limit), tail: Some(tail), ..Scheduled::default() };
        let part = PartSeen { scheduled: Some(scheduled), ..PartSeen::default() };
        Invocation {
            variant: 0,
            round: 0,
            sequence: 0,
            started_unix_ns: 1_500_000_000,
            wall_ns: 1,
            cpus: vec![1],
            environment_padding: 0,
            peak_rss_bytes: 0,
            process: ProcessEnd::Exited(0),
            transcript: Transcript::default(),
            seen: Some(Seen { part, ..Seen::default() }),
            judgement: Judgement { verdict: Verdict::Verified, reason: None },
            disturbances: Vec::new(),
            log: String::new(),
        }
    }

    fn within() -> LateLimit {
        LateLimit { ns: 2_000_000, wakes: 1040, latest_ns: 2_000_000, traced: None }
    }

    fn said(starts: &[&Invocation]) -> Vec<String> {
        answer(starts).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_limit_that_nothing_exceeded_says_how_much_was_looked_at() {
        let (one, other) = (start(within(), None), start(within(), Some(Obstacle::NoTracefs)));
        assert_eq!(said(&[&one, &one]), ["nothing later than 2.00 ms in 2,080 wake-ups"]);
        assert!(said(&[&other])[0].contains("was not traced: "), "{:?}", said(&[&other]));
        assert!(answer(&[]).is_empty() && seeks(one.seen.as_ref().unwrap()) && !seeks(&Seen::default()));
    }

    #[test]
    fn the_wake_up_that_ended_a_row_is_told_part_by_part_with_what_went_on() {
        let held = [("cc1".to_owned(), 2_900_000)].into();
        let wake =
            LateWake { interrupt_ns: 90_000, waited_ns: 2_900_000, held, returned_ns: 10_000, ..LateWake::default() };
        let event = |ns, what: &str| TracedEvent { ns, cpu: 1, what: what.to_owned() };
        let traced = TracedWake {
            unix_ns: 1_500_000_000,
            cpu: 1,
            by_timer: true,
            wake,
            events: vec![event(-1000, "task 7 sets its timer"), event(3_000_000, "cc1 (8) → probe (7)")],
            left_out: 5,
        };
        let late = LateLimit { latest_ns: 3_010_000, traced: Some(traced.clone()), ..within() };
        let told = said(&[&start(within(), None), &start(late.clone(), None)]);
        assert!(
            told[0].starts_with("a wake-up came 3.01 ms after its time, later than 2.00 ms, in 2,080 wake-ups"),
            "{told:?}"
        );
        for part in ["1970-01-01T00:00:01.5Z on CPU 1", "90.0 µs went", "2.90 ms waiting", "had cc1 100 %"] {
            assert!(told[0].contains(part), "{part}: {told:?}");
        }
        assert!(!told[0].contains("in none of these"), "{told:?}");
        assert_eq!(
            told[1..],
            ["−0.001 ms, CPU 1: task 7 sets its timer", "… 5 more events", "+3.000 ms, CPU 1: cc1 (8) → probe (7)"]
        );
        // What the trace does not have is not left out, and one that was woken has its wait.
        let later = LateLimit { latest_ns: 6_000_000, ..late.clone() };
        assert!(said(&[&start(later, None)])[0].contains("50 % of it are in none of these"));
        let woken = LateLimit { traced: Some(TracedWake { by_timer: false, ..traced }), ..late.clone() };
        assert!(said(&[&start(woken, None)])[0].contains("and waited 2.90 ms for CPU 1, which had cc1 100 %"));
        let unseen = LateLimit { traced: None, ..late };
        assert!(said(&[&start(unseen, Some(Obstacle::NoTracefs))])[0].contains("are not known: "));
    }
}
