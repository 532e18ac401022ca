//! A task that wakes at fixed times, and those that only say so.

use super::*;
use switchcost_model::{Histogram, KernelSwitches, Obstacle, Scheduled};

fn waking() -> Experiment {
    Experiment::all().into_iter().find(|experiment| experiment.paced).unwrap()
}

/// 1,040 times of 500 µs after 160 of the warm-up, beside two hogs.
fn asked(parameters: &[(&str, &str)]) -> Plan {
    let mut plan = plan();
    plan.variant.experiment = waking();
    plan.variant.contexts = 1;
    plan.variant.parameters = [("period", "500"), ("hogs", "2"), ("class", "other"), ("nice", "0"), ("slice", "0")]
        .iter()
        .chain(parameters)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    (plan.batches, plan.warmup_batches) = (26, 4);
    plan
}

/// Latencies of 20 µs, but for one of 3 ms.
fn recorded(phase: Phase, units: u64) -> Histogram {
    let sum = (units - 1) * 20_000 + 3_000_000;
    Histogram {
        phase,
        units,
        bits: 7,
        buckets: vec![(19_968, units - 1), (2_998_272, 1)],
        sum,
        min: 20_000,
        max: 3_000_000,
        pair_sum: 0,
        pair_count: units,
        span_counter: units * 500_000,
        span_clock: units * 500_000,
    }
}

fn told() -> Transcript {
    let mut transcript = honest();
    let echo = transcript.plan.as_mut().unwrap();
    (echo.experiment, echo.contexts) = (waking(), 1);
    (echo.batch_units, echo.batches, echo.warmup_batches) = (40, 26, 4);
    echo.parameters = [("period".to_owned(), "500".to_owned())].into();
    transcript.samples.clear();
    transcript.histograms = vec![recorded(Phase::Warmup, 160), recorded(Phase::Measure, 1040)];
    transcript.evidence = Some(Evidence {
        units: 1200,
        turns: Some(Turns { total: 1200, min: 1200, max: 1200, contexts: 1 }),
        token: Some(1200),
        kernel: Some(KernelSwitches { voluntary: 1196, involuntary: 3, tasks: 1, source: "s".into() }),
        cpus: Some(vec![1]),
        ..Evidence::default()
    });
    transcript.end.as_mut().unwrap().samples = 1200;
    transcript
}

fn looked_at() -> Seen {
    let scheduled = Scheduled {
        classes: ["other".to_owned()].into(),
        nices: [0].into(),
        slices_ns: [2_800_000].into(),
        channels: ["hrtimer_nanosleep".to_owned()].into(),
        waited_ns: Some(20_000_000),
        between_ns: 602_000_000,
        hogs: 2,
        hogs_cpu_ns: 590_000_000,
        loaded_ns: Some(3_000_000),
        ..Scheduled::default()
    };
    Seen {
        first_samples_ns: Some(604_000_000),
        // As much as any of these transcripts claims.
        last_samples_ns: Some(10_000_000_000),
        voluntary: 1400,
        involuntary: 20,
        cpu_ns: 12_000_000,
        part: PartSeen { scheduled: Some(scheduled), ..PartSeen::default() },
        ..seen()
    }
}

fn ruling(plan: &Plan, lie: impl FnOnce(&mut Transcript, &mut Scheduled, &mut Seen)) -> Ruling {
    let (mut transcript, mut seen) = (told(), looked_at());
    let mut scheduled = seen.part.scheduled.take().unwrap();
    lie(&mut transcript, &mut scheduled, &mut seen);
    seen.part.scheduled = Some(scheduled);
    let rule = EvidenceRule { turns: true, ..EvidenceRule::default() };
    let process = ProcessEnd::Exited(0);
    judge(
        &rule,
        plan,
        &ProbeAnswer { transcript: &transcript, process, log: "", seen: Some(&seen), bound: &Bounds::default() },
    )
}

#[test]
fn an_honest_waiter_is_believed_however_late_it_was() {
    check(&ruling(&asked(&[]), |_, _, _| {}), Verdict::Verified, "");
    // The last wake-up came 300 ms late.
    let late = |t: &mut Transcript, s: &mut Scheduled, _: &mut Seen| {
        let measured = &mut t.histograms[1];
        (measured.max, measured.sum) = (300_000_000, measured.sum + 297_000_000);
        measured.buckets[1].0 = 299_892_736;
        measured.span_clock += 300_000_000;
        measured.span_counter = measured.span_clock;
        s.between_ns += 310_000_000;
    };
    check(&ruling(&asked(&[]), late), Verdict::Verified, "");
    // Helpers of a runtime waited for a CPU, and nobody for them.
    let helped = |_: &mut Transcript, s: &mut Scheduled, seen: &mut Seen| {
        s.waited_ns = Some(700_000_000);
        seen.tree.as_mut().unwrap().tasks = 20;
    };
    check(&ruling(&asked(&[]), helped), Verdict::Verified, "");
    // A timer wheel wakes the waiter four times for each of its times.
    let woken = |t: &mut Transcript, s: &mut Scheduled, seen: &mut Seen| {
        s.waited_ns = Some(500_000_000);
        t.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = 4_800;
        seen.voluntary = 5_000;
    };
    check(&ruling(&asked(&[]), woken), Verdict::Verified, "");
    // A file may say any number.
    let endless = |t: &mut Transcript, s: &mut Scheduled, seen: &mut Seen| {
        woken(t, s, seen);
        seen.voluntary = u64::MAX;
    };
    check(&ruling(&asked(&[]), endless), Verdict::Verified, "");
    // Those that came before the plan are none of them.
    let slept = |t: &mut Transcript, s: &mut Scheduled, seen: &mut Seen| {
        woken(t, s, seen);
        seen.tree.as_mut().unwrap().switches = 3_800;
    };
    check(&ruling(&asked(&[]), slept), Verdict::Contradicted, "waited_longer least_ms=195.9");
    // Hogs of the class idle get nothing beside others, and those that fork use little.
    let nothing = |_: &mut Transcript, s: &mut Scheduled, _: &mut Seen| s.hogs_cpu_ns = 0;
    for own in [("hog_class", "idle"), ("hog_kind", "fork")] {
        check(&ruling(&asked(&[own]), nothing), Verdict::Verified, "");
    }
}

/// Ten chains of seven latencies, so far apart; the kernel counts so many sleeps.
fn chains(transcript: &mut Transcript, distance: u64, sleeps: u64) {
    many_chains(transcript, 10, distance, sleeps);
}

fn many_chains(transcript: &mut Transcript, many: u64, distance: u64, sleeps: u64) {
    let measured = &mut transcript.histograms[1];
    let late = (1..=6).map(|at| (at * distance + 20_000, many));
    measured.buckets = [(19_968, measured.units - 6 * many)].into_iter().chain(late).collect();
    (measured.sum, measured.max) = (21 * many * distance + measured.units * 20_000, 6 * distance + 20_500);
    transcript.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = sleeps;
}

#[test]
fn latencies_of_times_that_share_a_wake_up_are_a_period_apart() {
    check(&ruling(&asked(&[]), |t, _, _| chains(t, 500_000, 1140)), Verdict::Verified, "");
    // Of few most may lie at the edges of batches.
    check(&ruling(&asked(&[]), |t, _, _| many_chains(t, 7, 350_000, 1164)), Verdict::Verified, "");
    // A waiter that needs long until it sleeps again, and drawn times, have other distances.
    let busy = |t: &mut Transcript, _: &mut Scheduled, seen: &mut Seen| {
        chains(t, 420_000, 1140);
        seen.cpu_ns += 90_000_000;
    };
    check(&ruling(&asked(&[]), busy), Verdict::Verified, "");
    let drawn = |sleeps| {
        let lie = move |t: &mut Transcript, _: &mut Scheduled, _: &mut Seen| {
            chains(t, 420_000, sleeps);
            t.plan.as_mut().unwrap().parameters.insert("phase".to_owned(), "drawn".to_owned());
        };
        ruling(&asked(&[("phase", "drawn")]), lie)
    };
    check(&drawn(1140), Verdict::Verified, "");
    check(&drawn(1100), Verdict::Contradicted, "few_late late=61 shared=100");
}

#[test]
fn each_way_to_look_better_is_found() {
    let found = |lie: fn(&mut Transcript, &mut Scheduled, &mut Seen), reason| {
        check(&ruling(&asked(&[]), lie), Verdict::Contradicted, reason);
    };
    // Missed periods are skipped: as many wake-ups as were asked for take longer.
    found(
        |t, _, _| t.histograms[1].span_clock += 130_000_000,
        "off_beat due_ms=600.0 intended=1200 took_ms=730.0 most_ms=",
    );
    found(|_, s, _| s.between_ns += 550_000_000, "off_beat due_ms=600.0 intended=1200 took_ms=1152.0");
    // Fewer were waited for than are claimed.
    found(|_, s, _| s.between_ns = 400_000_000, "off_beat due_ms=600.0 intended=1200 took_ms=402.0 least_ms=");
    found(|_, _, seen| seen.cpu_ns = 590_000_000, "never_slept most_ms=429.6 of_ms=602.0 used_ms=588.5");
    found(|_, s, _| s.hogs_stopped = true, "hogs_stopped");
    found(
        |_, s, _| s.classes.extend(["fifo".to_owned()]),
        r#"scheduled_otherwise asked="other" seen="fifo and other" what="class""#,
    );
    found(|_, s, _| s.nices = [-10].into(), r#"scheduled_otherwise asked="0" seen="-10" what="nice value""#);
    // Each latency is counted from the wake-up before: 200 times were found due together with
    // others, and one is late.
    found(
        |t, _, _| t.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = 1000,
        "few_late late=2 shared=200 spared=11.0",
    );
    // 0.7 of what they were: ten chains of seven, each 0.35 ms apart.
    found(|t, _, _| chains(t, 350_000, 1146), "unfollowed alone=51 of=51 spared=8.08");
    found(|_, s, _| s.waited_ns = Some(700_000_000), "waited_longer claimed_ms=29.96 least_ms=300.0 waited_ms=700.0");
}

#[test]
fn what_cannot_be_measured_is_said_and_not_accused() {
    let unsupported = |lie: fn(&mut Transcript, &mut Scheduled, &mut Seen), reason| {
        check(&ruling(&asked(&[]), lie), Verdict::Unsupported, reason);
    };
    unsupported(
        |t, s, _| {
            t.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = 100;
            for late in &mut t.histograms {
                // Twelve times each found due together.
                late.buckets = (0..12)
                    .map(|at| (at * 500_000 + 20_000, late.units / 12 + u64::from(at < late.units % 12)))
                    .collect();
                late.sum = late.buckets.iter().map(|(low, count)| low * count).sum();
                late.max = 5_520_000;
            }
            s.waited_ns = Some(300_000_000);
        },
        "overloaded intended=1200 most=10.0 wakes=100",
    );
    unsupported(|_, s, _| s.cut = true, "starved after_ms=602");
    // The host was slow to end the hogs.
    unsupported(|_, s, _| (s.cut, s.between_ns) = (true, 9_460_000_000), "starved after_ms=9460");
    unsupported(|_, s, _| s.refused = Some(Obstacle::NotTried), r#"load_refused why={"kind":"not_tried"}"#);
    let unobservable = |lie: fn(&mut Transcript, &mut Scheduled, &mut Seen), reason| {
        check(&ruling(&asked(&[]), lie), Verdict::Unobservable, reason);
    };
    unobservable(|_, s, _| s.between_ns = 0, "not_looked_at");
    unobservable(|_, s, _| s.hogs_cpu_ns = 1_000_000, "hogs_starved least=0.02 share=0.00166");
    // So many wake-ups may take that CPU time.
    unobservable(|_, _, seen| seen.cpu_ns = 400_000_000, "may_spin most_ms=310.0 of_ms=602.0 used_ms=398.5");
    // All waits may have come after the last time then.
    unobservable(
        |_, s, _| (s.loaded_ns, s.waited_ns) = (Some(90_000_000), Some(700_000_000)),
        "load_late late_ms=88 most_ms=",
    );
    unobservable(
        |t, _, _| t.evidence.as_mut().unwrap().kernel = None,
        r#"not_seen what="the kernel's switch count" why=null"#,
    );
}

#[test]
fn a_class_that_was_asked_for_must_be_there() {
    let fifo = asked(&[("class", "fifo")]);
    let with = |class: &'static str| {
        ruling(&fifo, move |_: &mut Transcript, s: &mut Scheduled, _: &mut Seen| s.classes = [class.to_owned()].into())
    };
    check(&with("fifo"), Verdict::Verified, "");
    check(&with("other"), Verdict::Contradicted, r#"scheduled_otherwise asked="fifo" seen="other" what="class""#);
}

/// 1,040 requests of 500 µs that work for 400 of them, the quickest finished after 405.
fn serving(parameters: &[(&str, &str)], lie: impl FnOnce(&mut Transcript, &mut Scheduled, &mut Seen)) -> Ruling {
    let plan = asked(&[&[("load", "80"), ("hogs", "0")], parameters].concat());
    ruling(&plan, |t, s, seen| {
        let told = plan.variant.parameters.iter().filter(|(name, _)| ["load", "until"].contains(&name.as_str()));
        t.plan.as_mut().unwrap().parameters.extend(told.map(|(name, value)| (name.clone(), value.clone())));
        for histogram in &mut t.histograms {
            let units = histogram.units - 1;
            (histogram.min, histogram.max) = (405_000, 9_000_000);
            histogram.buckets = vec![(403_456, units), (8_978_432, 1)];
            histogram.sum = units * 405_000 + 9_000_000;
        }
        t.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = 230;
        (s.hogs, s.hogs_cpu_ns) = (0, 0);
        seen.cpu_ns = 495_000_000;
        lie(t, s, seen);
    })
}

#[test]
fn a_server_uses_the_cpu_for_its_load_and_is_woken_for_the_rest() {
    check(&serving(&[], |_, _, _| {}), Verdict::Verified, "");
    // Work that was not done, or was done by nobody whom the kernel counts.
    check(&serving(&[], |_, _, seen| seen.cpu_ns = 150_000_000), Verdict::Contradicted, "worked_less least_ms=");
    // Finished before it can be. A latency that ends where the work begins may be as short.
    let early = |t: &mut Transcript, _: &mut Scheduled, _: &mut Seen| {
        let measured = &mut t.histograms[1];
        (measured.min, measured.sum) = (90_000, measured.sum - 315_000);
        measured.buckets[0].1 -= 1;
        measured.buckets.insert(0, (89_600, 1));
    };
    check(&serving(&[], early), Verdict::Contradicted, "finished_early needed_us=");
    check(&serving(&[("until", "begun")], early), Verdict::Verified, "");
    // Too few wake-ups for the times: the server cannot follow.
    let few = |wakes| {
        move |t: &mut Transcript, _: &mut Scheduled, _: &mut Seen| {
            t.evidence.as_mut().unwrap().kernel.as_mut().unwrap().voluntary = wakes;
        }
    };
    check(&serving(&[], few(30)), Verdict::Verified, "");
    check(&serving(&[], few(20)), Verdict::Unsupported, "overloaded");
}
