use super::*;
use core::time::Duration;
use switchcost_model::Wanted;

fn price(kind: SwitchKind, channels: &[&str], ns: f64) -> Price {
    let rule = PriceRule {
        kind,
        channels: channels.iter().map(|c| (*c).to_owned()).collect(),
        wanted: Wanted::plain("a/b".parse().unwrap(), Placement::usual()),
        also: Vec::new(),
        between: Vec::new(),
        apart: Vec::new(),
        unit_is_delay: true,
        why: String::new(),
    };
    Price {
        rule,
        cpu: around(ns),
        each_ns: ns,
        points: Vec::new(),
        delay_ns: Some(ns),
        disturbed: false,
        run: String::new(),
        measured_unix_ns: 0,
    }
}

fn around(ns: f64) -> Estimate {
    Estimate { value: ns, low: ns * 0.9, high: ns * 1.1 }
}

fn prices() -> Vec<Price> {
    vec![
        price(SwitchKind::SameCpu, &["pipe_*"], 1000.0),
        price(SwitchKind::SameCpu, &[], 800.0),
        price(SwitchKind::IdleCpu, &[], 30_000.0),
        price(SwitchKind::Timer, &["hrtimer_*"], 20_000.0),
        price(SwitchKind::Preempted, &[], 500.0),
    ]
}

fn thread(voluntary: u64, involuntary: u64, channel: &str) -> ThreadSeen {
    let channels = if channel.is_empty() { BTreeMap::new() } else { [(channel.to_owned(), 3)].into() };
    ThreadSeen { voluntary, involuntary, channels, cpu_ns: Some(1_000_000_000), ..ThreadSeen::default() }
}

fn observed(threads: Vec<ThreadSeen>, wake_interrupts: Option<u64>) -> Observed {
    Observed { threads, wake_interrupts, ..Observed::default() }
}

#[test]
fn hand_overs_on_one_cpu_are_half_involuntary() {
    let seen = observed(vec![thread(500, 0, "pipe_read"), thread(0, 500, "pipe_read")], Some(0));
    let audit = audit(&seen, &prices());
    assert_eq!((audit.cost.value, audit.cost.low, audit.cost.high), (1e6, 9e5, 1.1e6));
    assert_eq!((audit.switches(), audit.cpu_ns, audit.unseen), (1000, Some(2e9), 0));
    assert_eq!(audit.threads[0].cost.value, audit.threads[1].cost.value);
}

#[test]
fn no_more_wake_ups_of_idle_cpus_than_interrupts() {
    let cost = |idle| audit(&observed(vec![thread(1000, 0, "futex_wait")], idle), &prices()).cost.value;
    assert_eq!(cost(Some(1000)), 30_000_000.0);
    assert_eq!(cost(Some(100)), 100.0 * 30_000.0 + 900.0 * 800.0);
    assert_eq!(cost(Some(0)), 800_000.0);
    assert_eq!(cost(None), 30_000_000.0);
}

#[test]
fn preemption_is_cheap_and_what_no_look_saw_is_priced_too() {
    let alone = audit(&observed(vec![thread(0, 1000, "")], Some(5)), &prices());
    assert_eq!(alone.cost.value, 500_000.0);
    let seen = Observed { totals: Some((300, 1300)), ..observed(vec![thread(300, 300, "pipe_read")], Some(0)) };
    let audit = audit(&seen, &prices());
    assert_eq!((audit.unseen, audit.involuntary, audit.threads.len()), (1000, 1300, 1));
    // 600 switches by pipe, of which the thread seen has 300 + 300 × 3/13; the rest is preemption.
    assert!((audit.cost.value - (600.0 * 1000.0 + 1000.0 * 500.0)).abs() < 1e-6, "{}", audit.cost.value);
}

#[test]
fn several_channels_share_and_widen() {
    let mut both = thread(100, 100, "pipe_read");
    both.channels.insert("ep_poll".into(), 1);
    let audit = audit(&observed(vec![both], Some(0)), &prices());
    assert!((audit.cost.value - 200.0 * 950.0).abs() < 1e-6, "{}", audit.cost.value);
    assert!((audit.cost.low - 200.0 * 720.0).abs() < 1e-6 && (audit.cost.high - 200.0 * 1100.0).abs() < 1e-6);
}

#[test]
fn no_program_pays_more_than_it_used() {
    let mut sleeper = thread(100, 0, "hrtimer_nanosleep");
    sleeper.cpu_ns = Some(1_500_000);
    let audit = audit(&observed(vec![sleeper], Some(0)), &prices());
    assert!(audit.misfit, "{audit:?}");
    assert_eq!((audit.cost.value, audit.cost.low, audit.cost.high), (1_500_000.0, 0.0, 1_500_000.0));
}

#[test]
fn parts_add_up_to_the_whole_whatever_it_is_bounded_by() {
    for cpu_ns in [1_000_000_000, 1_400_000, 100_000] {
        let (mut one, mut other) = (thread(300, 300, "pipe_read"), thread(700, 20, "futex_wait"));
        (one.cpu_ns, other.cpu_ns) = (Some(0), Some(cpu_ns));
        let seen =
            Observed { totals: Some((1100, 400)), group_cpu_ns: Some(cpu_ns), ..observed(vec![one, other], Some(0)) };
        let audit = audit(&seen, &prices());
        let kinds: f64 = audit.kinds.iter().map(|kind| kind.cost.value).sum();
        let threads: f64 = audit.threads.iter().map(|thread| thread.cost.value).sum();
        for sum in [kinds, threads + audit.unseen_cost] {
            assert!((sum / audit.cost.value - 1.0).abs() < 1e-9, "{cpu_ns}: {sum} of {}", audit.cost.value);
        }
        assert!(audit.cost.high <= cpu_ns as f64 && audit.misfit == (cpu_ns < 1_000_000_000), "{audit:?}");
        let (least, most) = audit.indirect((0.0, 1e9));
        assert_eq!((least, most), (0.0, cpu_ns as f64 - audit.cost.low));
    }
}

#[test]
fn prices_that_explain_nearly_all_are_not_believed() {
    let of = |cpu_ns| {
        let mut busy = thread(500, 500, "pipe_read");
        busy.cpu_ns = Some(cpu_ns);
        audit(&observed(vec![busy], Some(0)), &prices())
    };
    // They come to 1 ms, 1.1 ms at most.
    let believed = of(1_120_000);
    assert_eq!((believed.misfit, believed.cost.value, believed.cost.high), (false, 1e6, 1.1e6));
    let capped = of(1_112_000);
    assert_eq!((capped.misfit, capped.cost.high), (false, 1.1e6));
    let doubtful = of(1_105_000);
    assert_eq!((doubtful.misfit, doubtful.cost.low, doubtful.cost.high), (true, 0.0, 1.1e6));
}

#[test]
fn sleepers_pay_for_their_timers() {
    let mut sleeper = thread(100, 0, "hrtimer_nanosleep");
    let cost = |sleeper: &ThreadSeen, interrupts| {
        audit(&observed(vec![sleeper.clone()], Some(interrupts)), &prices()).cost.value
    };
    assert_eq!(cost(&sleeper, 0), 2_000_000.0);
    sleeper.channels.insert("pipe_read".into(), 3);
    assert_eq!(cost(&sleeper, 0), 50.0 * 20_000.0 + 50.0 * 1000.0);
    assert_eq!(cost(&sleeper, 10), 50.0 * 20_000.0 + 10.0 * 30_000.0 + 40.0 * 1000.0);
}

#[test]
fn the_price_of_a_wake_up_grows_with_the_time_between_switches() {
    let mut prices = prices();
    let idle = prices.iter_mut().find(|price| price.rule.kind == SwitchKind::IdleCpu).unwrap();
    idle.points = vec![
        PricePoint { each_ns: 35_000.0, cpu: around(34_000.0) },
        PricePoint { each_ns: 50_000.0, cpu: around(40_000.0) },
    ];
    let cost = |cpu_ns: u64| {
        let mut busy = thread(1000, 0, "futex_wait");
        busy.cpu_ns = Some(cpu_ns);
        audit(&observed(vec![busy], Some(1000)), &prices)
    };
    // By the CPU time of a switch: below, at and above the measured ones, and between two of them.
    for (each, expected) in [(30_000, 30_000.0), (35_000, 34_000.0), (42_500, 37_000.0), (90_000, 40_000.0)] {
        let found = cost(each * 1000);
        assert!((found.cost.value / 1000.0 - expected).abs() < 1e-6, "{each}: {}", found.cost.value);
        assert_eq!(found.pace.cpu_ns, Some(each as f64));
        assert!((found.kinds[0].cost.low / 1000.0 - 27_000.0).abs() < 1e-6, "{found:?}");
        assert!((found.kinds[0].cost.high / 1000.0 - 44_000.0).abs() < 1e-6, "{found:?}");
    }
}

#[test]
fn the_price_of_a_sleep_grows_with_the_time_asleep_of_each_thread() {
    let mut prices = prices();
    let timer = prices.iter_mut().find(|price| price.rule.kind == SwitchKind::Timer).unwrap();
    timer.rule.apart = vec![timer.rule.wanted.clone()];
    timer.points = vec![PricePoint { each_ns: 2_000_000.0, cpu: around(30_000.0) }];
    let sleeper = |voluntary| thread(voluntary, 0, "hrtimer_nanosleep");
    // One beside the other: sleeps of 10 us, of 0.2 ms, which is half-way from 20 us to 2 ms, of
    // 0.2 s.
    let all = [(20_000, 20_000.0), (1000, 25_000.0), (1, 30_000.0)];
    let threads = all.iter().map(|(sleeps, _)| sleeper(*sleeps)).collect();
    let seen = Observed { wall: Duration::from_millis(200), ..observed(threads, Some(0)) };
    let found = audit(&seen, &prices);
    for (thread, (sleeps, each)) in found.threads.iter().zip(all) {
        assert!((thread.cost.value / sleeps as f64 - each).abs() < 1e-6, "{sleeps}: {thread:?}");
    }
}

#[test]
fn threads_that_no_look_placed_wait_where_those_of_their_name_do() {
    let named = |name: &str, channel| ThreadSeen { name: name.into(), ..thread(100, 100, channel) };
    let seen = observed(vec![named("worker", "pipe_read"), named("worker", ""), named("other", "")], Some(0));
    let costs: Vec<f64> = audit(&seen, &prices()).threads.iter().map(|thread| thread.cost.value).collect();
    assert_eq!(costs, [200.0 * 1000.0, 200.0 * 1000.0, 200.0 * 800.0]);
}

#[test]
fn a_sleeper_says_nothing_of_a_busy_thread_of_its_name() {
    let named = |voluntary, channel| ThreadSeen { name: "worker".into(), ..thread(voluntary, 0, channel) };
    let sleeper = named(2, "pipe_read");
    let seen = observed(vec![sleeper.clone(), named(1000, "")], Some(0));
    let found = audit(&seen, &prices());
    let busy = found.threads.iter().find(|thread| thread.seen.voluntary == 1000).unwrap();
    assert!(busy.seen.channels.is_empty() && !busy.supposed, "{busy:?}");
    assert!((busy.cost.value - 1000.0 * 800.0).abs() < 1e-6, "{busy:?}");
    // A namesake that works as much lends its channel, marked as supposed. One that sleeps lends as
    // little as it switches.
    let seen = observed(vec![named(2, "ep_poll"), named(900, "pipe_read"), named(1000, "")], Some(0));
    let found = audit(&seen, &prices());
    let supposed: Vec<_> = found.threads.iter().filter(|thread| thread.supposed).collect();
    assert!(supposed.len() == 1 && supposed[0].seen.voluntary == 1000, "{supposed:?}");
    assert_eq!(supposed[0].seen.channels.keys().collect::<Vec<_>>(), ["pipe_read"]);
}
