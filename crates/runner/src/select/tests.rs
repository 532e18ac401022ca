use super::carried_out::{cannot, known_parameters, senseless};
use super::*;
use switchcost_model::{Described, ProbeInfo, Silence, Timing};

fn variant(mechanism: &str, placement: Placement) -> Variant {
    Variant {
        mechanism: mechanism.parse().unwrap(),
        probe: "p".into(),
        experiment: Experiment::usual(),
        contexts: 2,
        placement,
        timing: Timing::Batch,
        parameters: Parameters::new(),
        label: String::new(),
    }
}

#[test]
fn a_probe_is_sent_every_parameter_that_it_describes_and_no_other() {
    let catalogue =
        switchcost_catalogue::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms").as_ref(), &[], &|_| Ok(()))
            .unwrap();
    let mechanism = catalogue.mechanisms.iter().find(|mechanism| mechanism.parameters.len() > 1).unwrap();
    let defaults: Vec<(&str, &str)> =
        mechanism.parameters.iter().map(|(name, known)| (name.as_str(), known.default.as_str())).collect();
    let described = Described {
        id: mechanism.id.clone(),
        experiments: vec![Experiment::usual()],
        timings: vec![Timing::Batch],
        parameters: vec![defaults[0].0.to_owned()],
        unavailable: None,
    };
    let of = |name: &str, value: &str| {
        let given = [(name.to_owned(), value.to_owned())].into();
        let asked = Variant {
            parameters: filled(mechanism, &given, Experiment::usual()),
            ..variant("a/x", Placement::usual())
        };
        let shape = known_parameters(mechanism, &described, &asked);
        let sent = shape.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        (sent.join(" "), cannot(mechanism, &described, &shape))
    };
    let (name, default) = defaults[0];
    assert_eq!(of("nothing", ""), (format!("{name}={default}"), None));
    assert_eq!(of(name, "x"), (format!("{name}=x"), None));
    assert!(matches!(of(defaults[1].0, "x").1.unwrap(), Reason::ProbeLacks { what, .. } if what == "parameter"));
}

#[test]
fn what_has_no_single_switches_is_not_timed_one_by_one() {
    let catalogue =
        switchcost_catalogue::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms").as_ref(), &[], &|_| Ok(()))
            .unwrap();
    for mechanism in &catalogue.mechanisms {
        for &experiment in &mechanism.experiments {
            let shape = Variant {
                experiment,
                timing: Timing::Each,
                ..variant(mechanism.id.as_str(), mechanism.usual_placement(experiment))
            };
            let refused = matches!(senseless(mechanism, &shape), Some(Reason::NotOneByOne { .. }));
            assert_eq!(refused, !experiment.each, "{} {experiment}", mechanism.id);
        }
    }
}

fn twins(rows: &[(&str, Placement)]) -> Vec<String> {
    let catalogue = Catalogue::default();
    let variants = rows.iter().map(|(mechanism, placement)| variant(mechanism, *placement)).collect();
    let mut selection =
        Selection { variants, not_run: BTreeMap::from([(0, Reason::RingOfOne)]), ..Selection::default() };
    selection.add_twins(&catalogue, &[]);
    selection.variants.iter().filter(|v| v.is_twin()).map(|v| v.mechanism.to_string()).collect()
}

#[test]
fn large_families_have_a_twin_of_their_own_and_pinned_rows_go_first() {
    let (one_cpu, free) = (Placement::usual(), Placement::of_cpus(0));
    let small = [("a/not", one_cpu), ("a/x", one_cpu), ("b/x", free), ("b/y", free), ("c/x", free)];
    assert_eq!(twins(&small), ["a/x"]);
    assert_eq!(twins(&small[2..]), ["c/x"]);
    assert_eq!(twins(&small[..1]), [] as [String; 0]);
    let mut large: Vec<(&str, Placement)> = small.to_vec();
    large.extend(["a/p", "a/q", "a/r"].map(|name| (name, one_cpu)));
    assert_eq!(twins(&large), ["a/q"], "of x, p, q and r; the first cannot run");
    large.extend([("b/v", one_cpu), ("b/w", free)]);
    assert_eq!(twins(&large), ["a/q", "b/v"]);
}

#[test]
fn a_probe_that_is_slow_to_start_is_not_measured_twice() {
    let one_cpu = Placement::usual();
    let rows = ["a/not", "a/x", "a/slow", "a/y", "a/z"].map(|name| (name, one_cpu));
    let mut variants: Vec<Variant> = rows.iter().map(|(name, placement)| variant(name, *placement)).collect();
    variants[2].probe = "slow".into();
    let known = |id: &str, start_timeout_ms: u64| KnownProbe {
        info: ProbeInfo { id: id.into(), start_timeout_ms, ..ProbeInfo::default() },
        answer: Err(Silence::NotAsked.into()),
    };
    let twin = |probes: &[KnownProbe]| {
        let mut selection = Selection { variants: variants.clone(), ..Selection::default() };
        selection.add_twins(&Catalogue::default(), probes);
        selection.variants.last().map(|last| last.mechanism.to_string())
    };
    assert_eq!(twin(&[]).as_deref(), Some("a/slow"));
    assert_eq!(twin(&[known("p", 2000), known("slow", 20_000)]).as_deref(), Some("a/y"));
}

#[test]
fn more_time_is_the_cure_if_a_probe_was_late_whatever_others_lack() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms");
    let catalogue = switchcost_catalogue::load(page.as_ref(), &[], &|_| Ok(())).unwrap();
    let silent = |id: &str, answer: crate::NoAnswer| KnownProbe {
        info: ProbeInfo { id: id.into(), source: "native".into(), ..ProbeInfo::default() },
        answer: Err(answer),
    };
    let missing = crate::NoAnswer::new(Silence::Ended { words: "there is no x86_64-w64-mingw32-g++".into() }, true);
    let request = Request { patterns: vec!["thread/futex".into()], ..Request::default() };
    let probes = [silent("mingw", missing), silent("gcc-12", Silence::ShortBudget.into())];
    let reasons = select(&request, &catalogue, &probes).unwrap().not_run;
    let late = |reason: &Reason| matches!(reason, Reason::ProbeUnable { probe, .. } if probe == "gcc-12");
    assert!(!reasons.is_empty() && reasons.values().all(late), "{reasons:?}");
}

#[test]
fn merged_selections_hold_each_row_once() {
    let of = |name: &str, reason: Reason| Selection {
        variants: vec![variant("a/x", Placement::usual()), variant(name, Placement::usual())],
        not_run: BTreeMap::from([(1, reason)]),
        ..Selection::default()
    };
    let mut all = of("a/y", Reason::RingOfOne);
    assert_eq!(all.merge(of("a/z", Reason::NoBudget)), [0, 2]);
    assert_eq!((all.variants.len(), &all.not_run[&1], &all.not_run[&2]), (3, &Reason::RingOfOne, &Reason::NoBudget));
}

#[test]
fn only_probes_that_can_serve_a_request_are_asked() {
    let catalogue =
        switchcost_catalogue::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms").as_ref(), &[], &|_| Ok(()))
            .unwrap();
    let probe = |(id, source): (&str, &str)| ProbeInfo {
        id: id.into(),
        source: source.into(),
        priority: i64::from(source == "native"),
        ..ProbeInfo::default()
    };
    let all = || [("gcc-12", "native"), ("go", "go"), ("python", "python"), ("mine", "elsewhere")].map(probe).to_vec();
    let asked = |patterns: &[&str], probes: &[&str]| {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let request = Request { patterns: words(patterns), probes: words(probes), ..Request::default() };
        crate::needed(&request, &catalogue, all()).into_iter().map(|probe| probe.id).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(asked(&["thread/pipe"], &[]), "gcc-12");
    assert_eq!(asked(&["thread/pipe free", "thread/futex contexts=8"], &[]), "gcc-12");
    // The empty loop bounds it, by the probe that is preferred.
    assert_eq!(asked(&["fiber/goroutine"], &[]), "gcc-12 go");
    assert_eq!(asked(&["fiber/asyncio"], &["mine"]), "gcc-12 python mine");
    assert_eq!(asked(&["thread/pipe"], &["python"]), "gcc-12 python");
    for (patterns, probes) in
        [(&["thread/pipe@mine"][..], &[][..]), (&["thread/nothing"], &[]), (&["thread/pipe"], &["nobody"])]
    {
        assert_eq!(asked(patterns, probes), "gcc-12 go python mine", "{patterns:?} {probes:?}");
    }
}

#[test]
fn more_contexts_than_a_mechanism_has_are_refused_by_its_page() {
    let catalogue =
        switchcost_catalogue::load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms").as_ref(), &[], &|_| Ok(()))
            .unwrap();
    let asked = |pattern: &str, contexts: u64| {
        let patterns = vec![pattern.to_owned()];
        let request = Request { patterns, contexts: vec![contexts], ..Request::default() };
        select(&request, &catalogue, &[]).unwrap()
    };
    let refused = |pattern: &str, contexts: u64| {
        let selection = asked(pattern, contexts);
        selection.not_run.values().any(|reason| matches!(reason, Reason::TooManyContexts { .. }))
    };
    assert!(refused("vm/exit", 3) && refused("control/empty-loop", 8));
    assert!(!refused("vm/exit", 2) && !refused("thread/pipe", 1000));
    // Beside rings a control stays what it is.
    let all = asked("control/*", 8);
    assert!(!all.variants.is_empty() && all.variants.iter().all(|variant| variant.contexts == 1), "{all:?}");
}
