//! The rules of evidence of all pages: cases add up, and each parameter shows.

use std::collections::BTreeMap;
use std::path::Path;
use switchcost_catalogue::{Catalogue, load};
use switchcost_model::{
    EvidenceRule, Experiment, Mechanism, ParameterKind, Parameters, Placement, Sight, Timing, Variant,
};

fn catalogue() -> Catalogue {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms"), &[], &|_| Ok(()))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn find<'a>(catalogue: &'a Catalogue, id: &str) -> &'a Mechanism {
    catalogue.find(&id.parse().unwrap()).unwrap()
}

fn variant(mechanism: &Mechanism, experiment: Experiment, placement: Placement, contexts: u64) -> Variant {
    let defaults = mechanism.parameters.iter().map(|(name, parameter)| (name.clone(), parameter.default.clone()));
    Variant {
        mechanism: mechanism.id.clone(),
        probe: String::new(),
        experiment,
        contexts,
        placement,
        timing: Timing::Batch,
        parameters: defaults.collect(),
        label: String::new(),
    }
}

fn with(mut variant: Variant, name: &str, value: &str) -> Variant {
    variant.parameters.insert(name.into(), value.into());
    variant
}

/// Values of a parameter; of an integer the ends, which differ most.
fn values(kind: &ParameterKind) -> Vec<String> {
    match kind {
        ParameterKind::Words(words) => words.clone(),
        ParameterKind::Integer { min, max } => vec![min.to_string(), max.to_string()],
    }
}

/// Every row that a page allows, with rings of two and of three, and each two parameters away from
/// their defaults.
fn variants(mechanism: &Mechanism) -> Vec<Variant> {
    let mut settings = vec![Parameters::new()];
    for (name, parameter) in &mechanism.parameters {
        let more: Vec<Parameters> = settings
            .iter()
            .filter(|so_far| so_far.len() < 2)
            .flat_map(|so_far| {
                values(&parameter.kind).into_iter().map(|value| {
                    let mut next = so_far.clone();
                    next.insert(name.clone(), value);
                    next
                })
            })
            .collect();
        settings.extend(more);
    }
    let mut all = Vec::new();
    for &experiment in &mechanism.experiments {
        for &placement in &mechanism.placements {
            for contexts in [1, 2, 3] {
                for set in &settings {
                    let mut one = variant(mechanism, experiment, placement, contexts);
                    one.parameters.extend(set.clone());
                    all.push(one);
                }
            }
        }
    }
    all
}

#[test]
fn a_parameter_s_case_keeps_those_of_placement_and_experiment() {
    let catalogue = catalogue();
    let pipe = find(&catalogue, "process/pipe");
    let rule = |experiment, placement, contexts| {
        let plain = variant(pipe, experiment, placement, contexts);
        let guarded = pipe.rule(&with(plain.clone(), "speculation", "guarded"));
        let expected = BTreeMap::from([("tasks_guarded".to_owned(), contexts as i64)]);
        let rule = pipe.rule(&plain);
        let added = rule.at_least.clone().into_iter().chain(expected).collect();
        let seen = rule.seen.clone().into_iter().chain([(Sight::Guarded, contexts)]).collect();
        assert_eq!(guarded, EvidenceRule { at_least: added, seen, ..rule.clone() });
        rule
    };
    assert_eq!(rule(Experiment::usual(), Placement::usual(), 2).kernel_switches, Some((1.0, 1.0)));
    assert_eq!(rule(Experiment::usual(), Placement::usual(), 3).kernel_switches, Some((1.0, 2.0)));
    for placement in [Placement::of_cpus(2), Placement::of_cpus(0), Placement::on_pair(0, 1)] {
        let two = rule(Experiment::usual(), placement, 5);
        assert_eq!((two.kernel_switches, two.most_busy), (Some((0.75, 2.0)), Some(1.75)));
        assert_eq!((two.address_spaces, two.seen.get(&Sight::Processes).copied()), (Some(5), Some(5)));
        let message = rule("message".parse().unwrap(), placement, 2);
        assert_eq!((message.kernel_switches, message.most_busy), (Some((1.0, 256.0)), None));
    }
    let message = rule("message".parse().unwrap(), Placement::usual(), 2);
    assert_eq!((message.kernel_switches, message.note.as_str()), (Some((2.0, 2.0)), ""));
}

#[test]
fn contexts_that_take_long_to_end_are_granted_it_each() {
    let catalogue = catalogue();
    let granted = |mechanism: &str, experiment: Experiment, contexts| {
        let mechanism = find(&catalogue, mechanism);
        mechanism.rule(&variant(mechanism, experiment, Placement::usual(), contexts)).leaving_ms
    };
    let usual = Experiment::usual;
    let create = || "create".parse().unwrap();
    assert_eq!([2, 250].map(|contexts| granted("thread/js-worker", usual(), contexts)), [540, 5_500]);
    assert_eq!(granted("thread/js-worker", create(), 1), 500);
    assert_eq!([2, 250].map(|contexts| granted("coroutine/js-generator", usual(), contexts)), [500, 500]);
}

#[test]
fn what_is_said_of_a_ring_is_not_asked_of_what_is_made() {
    let catalogue = catalogue();
    let pipe = find(&catalogue, "container/pipe");
    let ring = pipe.rule(&variant(pipe, Experiment::usual(), Placement::usual(), 3));
    assert_eq!(
        (ring.address_spaces, ring.seen[&Sight::Namespaces("pid".into())], ring.at_least["distinct_pid_ns"]),
        (Some(3), 3, 3)
    );
    assert_eq!(
        (ring.seen.get(&Sight::ControlGroups), ring.without.keys().next().map(String::as_str)),
        (None, Some("cgroups"))
    );
    let flat = pipe.rule(&with(variant(pipe, Experiment::usual(), Placement::of_cpus(0), 3), "cgroup_depth", "0"));
    assert_eq!(flat.without["cgroups"], "");
    let own = pipe.rule(&with(variant(pipe, Experiment::usual(), Placement::of_cpus(0), 3), "cgroup", "own"));
    assert_eq!(
        (own.seen.get(&Sight::ControlGroups).copied(), own.at_least["cgroups"], own.at_least["distinct_net_ns"]),
        (Some(3), 3, 3)
    );
    let none = pipe.rule(&with(variant(pipe, Experiment::usual(), Placement::of_cpus(0), 3), "namespaces", "none"));
    assert_eq!(none.seen, [(Sight::Processes, 3), (Sight::AddressSpaces, 3)].into());
    assert_eq!(none.at_least, BTreeMap::new());
    for experiment in ["create".parse().unwrap(), "footprint".parse().unwrap()] {
        let made = pipe.rule(&variant(pipe, experiment, Placement::usual(), 1));
        let without = ring.without.clone();
        let leaving_ms = ring.leaving_ms;
        let expected =
            EvidenceRule { turns: true, seen_forks: Some(1.0), without, leaving_ms, ..EvidenceRule::default() };
        assert_eq!(made, expected);
    }
}

/// A case that changes nothing repeats what an earlier one or the general rule says.
#[test]
fn every_case_changes_a_rule() {
    for mechanism in &catalogue().mechanisms {
        let all = variants(mechanism);
        for index in 0..mechanism.evidence_when.len() {
            let mut without = mechanism.clone();
            without.evidence_when.remove(index);
            let differs = all.iter().any(|variant| without.rule(variant) != mechanism.rule(variant));
            assert!(differs, "{}: [[evidence_when]] number {} changes nothing", mechanism.id, index + 1);
        }
    }
}

/// Parameters that change what is done in a way that no rule can ask for, and why.
const SILENT: &[(&str, &str)] = &[
    ("period", "held against the time that so many periods took, by the host's clock"),
    ("flavor", "of a pool: which of Tokio's runtimes polls a task shows in the cost alone"),
    ("phase", "drawn times take as long as those of a grid, on average"),
    ("gap", "as period, and against the time that the CPU idled"),
    ("stack_memory", "whether a stack comes from malloc or mmap shows in the cost alone"),
    (
        "stack_size",
        "a context cannot tell how much of its stack lies below it; too small a stack is refused or overflows",
    ),
    ("stack", "as stack_memory"),
    ("stack_offset", "where a stack lies in its page shows in the cost alone"),
    ("heap_offset", "as stack_offset"),
    ("stacks", "where stacks lie shows in the caches alone"),
    ("fpu_state", "the kit sends counts.mxcsr_differs only on CPUs that have MXCSR"),
    ("float_switch", "what a library saves cannot be seen from outside it"),
    ("reads", "how the counter is read (timing=each) shows in the cost of a reading alone"),
    ("payload", "of a runtime's own: a message of any size is one switch each way"),
    ("by", "which call makes or wakes a context, or leaves a guest, leaves no trace beside its cost"),
    ("handover", "as by"),
    ("locking", "as by; see the note"),
    ("calls", "as by"),
    ("what", "as by"),
    ("length", "the chain's length is its cost"),
    ("nanoseconds", "the time asleep is the figure"),
    (
        "os_threads",
        "how many threads take part is the runtime's choice: threads_change makes the row say what it chose",
    ),
    ("carriers", "as os_threads"),
    ("cgroup_depth", "0 to 8 groups inside one another; without cgroup=own none may be there"),
    (
        "cgroup",
        "experiments create and footprint: the group is gone, or another's to count, when the evidence is formed",
    ),
    ("namespaces", "as cgroup"),
    ("cpu_quota", "counts.throttled_periods; the quota is armed and never reached"),
    ("seccomp", "a filter that refuses nothing that is called shows in the cost alone"),
    ("taskrun", "when the kernel completes a request of io_uring shows in the cost alone"),
    ("wake", "which CPU the kernel tries first shows in the cost alone"),
    ("ring", "the guest's privilege shows where it is emulated, by its cost"),
    ("frames", "calls are counted below every switch, whatever becomes of them"),
    ("lock", "as by"),
    ("hold", "work under a lock is its cost"),
    ("think", "as hold"),
    ("load", "held against the CPU time of the tasks, by the kernel's count"),
    ("until", "where a latency ends shows in the latency alone"),
    ("data", "as hold; what is not touched is counts.work_missing"),
    ("other_data", "as hold"),
    ("every", "as period"),
    ("where", "the same bytes in the process: no exits either way"),
];

#[test]
fn a_parameter_changes_the_rule_or_is_known_to_be_silent() {
    let mut silent = Vec::new();
    for mechanism in &catalogue().mechanisms {
        let all = variants(mechanism);
        for (name, parameter) in &mechanism.parameters {
            for &experiment in mechanism.experiments.iter().filter(|e| parameter.experiments.contains(e)) {
                let shows = all.iter().filter(|variant| variant.experiment == experiment).any(|variant| {
                    let rules: Vec<_> = values(&parameter.kind)
                        .iter()
                        .map(|value| mechanism.rule(&with(variant.clone(), name, value)))
                        .map(|rule| EvidenceRule { note: String::new(), without: BTreeMap::new(), ..rule })
                        .collect();
                    rules.iter().any(|rule| *rule != rules[0])
                });
                // Every task says in which class it ran, whatever the class; and what the host
                // makes itself, it holds against what it saw while the row was measured.
                let known = parameter.counted.is_some() || parameter.by_host;
                if !shows && !known {
                    assert!(
                        SILENT.iter().any(|(known, _)| known == name),
                        "{}: {name} leaves experiment {experiment} as it is: no rule differs; say in SILENT why none can",
                        mechanism.id
                    );
                    silent.push(name.clone());
                }
            }
        }
    }
    let stale: Vec<_> = SILENT.iter().filter(|(name, _)| !silent.iter().any(|seen| seen == name)).collect();
    assert!(stale.is_empty(), "no longer silent: {stale:?}");
}

/// A parameter that a page gives to an experiment which it does not have could never be used.
#[test]
fn parameters_belong_to_experiments_of_their_page() {
    for mechanism in &catalogue().mechanisms {
        for (name, parameter) in &mechanism.parameters {
            let used = parameter.experiments.iter().any(|experiment| mechanism.experiments.contains(experiment));
            assert!(used, "{}: {name} belongs to none of its experiments", mechanism.id);
        }
    }
}
