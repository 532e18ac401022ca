//! Arbitrary runs: odd strings, extreme numbers, empty lists; whatever the types can say and the
//! rules allow.

use super::odd::{maybe_text, number, one_of, text, texts, tick};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;
use switchcost_model::*;

fn mechanism() -> impl Strategy<Value = MechanismId> {
    "[a-z0-9-]{1,8}/[a-z0-9-]{1,8}".prop_map(|id| id.parse().unwrap())
}

fn hello() -> impl Strategy<Value = Hello> {
    let clock = (text(), number(), number()).prop_map(|(name, ticks_per_second, read_cost_ticks)| Clock {
        name,
        ticks_per_second: ticks_per_second.max(1),
        read_cost_ticks,
    });
    (number(), (text(), text(), text()), (maybe_text(), maybe_text()), number(), clock, maybe_text()).prop_map(
        |(protocol, (probe, version, runtime), (compiler, flags), pid, clock, counter)| Hello {
            protocol,
            probe,
            version,
            runtime,
            compiler,
            flags,
            pid,
            clock,
            counter,
            chain_cycles: Some(2048),
        },
    )
}

fn plan() -> impl Strategy<Value = PlanEcho> {
    let words = (mechanism(), proptest::sample::select(Experiment::all()), one_of(Timing::ALL));
    (words, vec(any::<u32>(), 0..3), (number(), number(), number(), number()), texts()).prop_map(
        |((mechanism, experiment, timing), cpus, (contexts, batch_units, batches, warmup_batches), parameters)| {
            PlanEcho { mechanism, experiment, contexts, timing, cpus, batch_units, batches, warmup_batches, parameters }
        },
    )
}

fn samples() -> impl Strategy<Value = Samples> {
    let rulers = proptest::collection::btree_map("[a-z]{1,5}", vec(tick(), 0..5), 0..3);
    (one_of(Phase::ALL), number(), vec(tick(), 0..20), maybe_text(), rulers).prop_map(
        |(phase, units, ticks, quantity, rulers)| Samples { phase, units: units.max(1), ticks, quantity, rulers },
    )
}

fn histogram() -> impl Strategy<Value = Histogram> {
    (one_of(Phase::ALL), any::<u32>(), vec((number(), number()), 0..5), proptest::array::uniform8(number())).prop_map(
        |(phase, bits, buckets, [units, sum, min, max, pair_sum, pair_count, span_counter, span_clock])| Histogram {
            phase,
            units,
            bits,
            buckets,
            sum,
            min,
            max,
            pair_sum,
            pair_count,
            span_counter,
            span_clock,
        },
    )
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let turns =
        proptest::array::uniform4(number()).prop_map(|[total, min, max, contexts]| Turns { total, min, max, contexts });
    let kernel = (proptest::array::uniform3(number()), text())
        .prop_map(|([voluntary, involuntary, tasks], source)| KernelSwitches { voluntary, involuntary, tasks, source });
    let hops = (proptest::array::uniform3(number()), option::of(number()), any::<bool>()).prop_map(
        |([count, in_order, same_cpu], same_thread, timed)| Hops { count, in_order, same_cpu, same_thread, timed },
    );
    let page_faults = (number(), number()).prop_map(|(minor, major)| PageFaults { minor, major });
    let records = (option::of(turns), option::of(kernel), option::of(hops), option::of(page_faults));
    let numbers = proptest::array::uniform4(option::of(number()));
    let maps = (btree_map(text(), tick(), 0..3), texts());
    (number(), records, numbers, option::of(vec(any::<u32>(), 0..3)), maps).prop_map(
        |(
            units,
            (turns, kernel, hops, page_faults),
            [token, address_spaces, migrations, gc_cycles],
            cpus,
            (counts, why),
        )| {
            Evidence {
                units,
                turns,
                token,
                kernel,
                address_spaces,
                cpus,
                migrations,
                hops,
                page_faults,
                gc_cycles,
                counts,
                why,
            }
        },
    )
}

fn end() -> impl Strategy<Value = End> {
    (one_of(EndStatus::ALL), maybe_text(), maybe_text(), option::of(tick()), number())
        .prop_map(|(status, code, detail, errno, samples)| End { status, code, detail, errno, samples })
}

fn fault() -> impl Strategy<Value = Fault> {
    (number(), text(), text())
        .prop_map(|(line, message, cause)| Fault { line, broken: Broken::Unread { message, cause } })
}

fn transcript() -> impl Strategy<Value = Transcript> {
    let lists = (vec(samples(), 0..3), vec(histogram(), 0..2), vec(text(), 0..3));
    (option::of(hello()), option::of(plan()), lists, option::of(evidence()), option::of(end()), option::of(fault()))
        .prop_map(|(hello, plan, (samples, histograms, notes), evidence, end, fault)| Transcript {
            hello,
            plan,
            samples,
            histograms,
            evidence,
            notes,
            end,
            fault,
        })
}

fn process() -> impl Strategy<Value = ProcessEnd> {
    prop_oneof![
        any::<i32>().prop_map(ProcessEnd::Exited),
        any::<i32>().prop_map(ProcessEnd::Signalled),
        Just(ProcessEnd::Deadline),
        Just(ProcessEnd::Stopped),
        Just(ProcessEnd::NotStarted),
        Just(ProcessEnd::Unknown),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let numbers = proptest::array::uniform6(number());
    let maybe = proptest::array::uniform2(option::of(number()));
    let cpus = proptest::array::uniform2(vec(any::<u32>(), 0..3));
    (numbers, maybe, btree_map(text(), number(), 0..3), cpus, any::<bool>(), option::of(facts())).prop_map(
        |(
            [tasks, processes, most_tasks, looked_at, switches, cpu_ns],
            [address_spaces, control_groups],
            namespaces,
            [allowed_cpus, ran_on],
            knows_pid,
            facts,
        )| Tree {
            tasks,
            processes,
            most_tasks,
            looked_at,
            address_spaces,
            namespaces,
            control_groups,
            allowed_cpus,
            ran_on,
            switches,
            cpu_ns,
            knows_pid,
            facts,
        },
    )
}

fn facts() -> impl Strategy<Value = TaskFacts> {
    let counts = || btree_map(text(), number(), 0..3);
    let maybe = (proptest::array::uniform4(option::of(number())), option::of(counts()), option::of(text()));
    (number(), number(), counts(), maybe).prop_map(
        |(tasks, page_faults, classes, ([guarded, filtered, traced, resident_mib], files, tracer))| TaskFacts {
            resident_mib,
            tasks,
            classes,
            guarded,
            filtered,
            traced,
            files,
            page_faults,
            tracer,
        },
    )
}

fn seen() -> impl Strategy<Value = Seen> {
    let numbers = proptest::array::uniform4(number());
    let maybe = proptest::array::uniform6(option::of(number()));
    let parts = (option::of(tree()), option::of(scheduled()), option::of(executed()), option::of(counters()));
    (numbers, maybe, any::<u32>(), parts).prop_map(
        |(
            [pid, voluntary, involuntary, cpu_ns],
            [plan_ns, first_samples_ns, last_samples_ns, forks, page_faults, waited_ns],
            strays,
            (tree, scheduled, executed, counters),
        )| {
            Seen {
                pid,
                plan_ns,
                first_samples_ns,
                last_samples_ns,
                voluntary,
                involuntary,
                cpu_ns,
                page_faults,
                waited_ns,
                forks,
                strays,
                tree,
                counters,
                tracer: (strays % 2 == 1).then(|| "strace".to_owned()),
                part: PartSeen { scheduled, executed, ..PartSeen::default() },
            }
        },
    )
}

fn counters() -> impl Strategy<Value = Counters> {
    let start = || (number(), btree_map(text(), number(), 0..3));
    let starts = vec(start().prop_map(|(units, counts)| CountedStart { units, counts }), 0..3);
    (starts, btree_map(text(), obstacle(), 0..3)).prop_map(|(starts, refused)| Counters { starts, refused })
}

fn executed() -> impl Strategy<Value = Executed> {
    let functions = || btree_map(text(), any::<i64>(), 0..3);
    (text(), number(), number(), functions(), functions(), option::of(obstacle())).prop_map(
        |(by, instructions, units, functions, callers, refused)| Executed {
            by,
            instructions,
            units,
            functions,
            callers,
            refused,
        },
    )
}

fn scheduled() -> impl Strategy<Value = Scheduled> {
    let words = || btree_set("[a-z_]{1,12}", 0..3);
    let numbers = proptest::array::uniform4(number());
    let maybe = proptest::array::uniform2(option::of(number()));
    let nices = btree_set(any::<i32>(), 0..3);
    (words(), words(), nices, numbers, maybe, option::of(obstacle()), tails(), any::<bool>()).prop_map(
        |(
            classes,
            channels,
            nices,
            [slice, between_ns, hogs, hogs_cpu_ns],
            [waited_ns, loaded_ns],
            refused,
            (tail, limit),
            cut,
        )| {
            let (slices_ns, hogs_stopped) = ([slice].into(), cut);
            Scheduled {
                classes,
                nices,
                slices_ns,
                channels,
                waited_ns,
                between_ns,
                hogs,
                hogs_stopped,
                hogs_cpu_ns,
                loaded_ns,
                refused,
                cut,
                tail,
                limit,
            }
        },
    )
}

fn tails() -> impl Strategy<Value = (Option<Tail>, Option<LateLimit>)> {
    let event = (any::<i64>(), text()).prop_map(|(ns, what)| TracedEvent { ns, cpu: 1, what });
    let traced = vec(event, 0..3).prop_map(|events| Some(TracedWake { events, ..TracedWake::default() }));
    let limit = (number(), traced).prop_map(|(ns, traced)| LateLimit { ns, traced, ..LateLimit::default() });
    (option::of(tail()), option::of(limit))
}

fn obstacle() -> impl Strategy<Value = Obstacle> {
    prop_oneof![
        Just(Obstacle::NoPlan),
        (number(), number()).prop_map(|(part, parts)| Obstacle::PartMissing { part, parts }),
        (text(), vec(text(), 0..3)).prop_map(|(value, known)| Obstacle::NoSuchWord { value, known }),
        (text(), any::<i32>(), any::<bool>()).prop_map(|(class, nice, handed_on)| Obstacle::ClassNotPermitted {
            class,
            nice,
            handed_on
        }),
    ]
}

fn tail() -> impl Strategy<Value = Tail> {
    (number(), number(), vec(number(), 0..3), btree_map(text(), number(), 0..3), option::of(obstacle())).prop_map(
        |(wakes, lost, longest_ns, held, unknown)| {
            let late =
                longest_ns.iter().map(|ns| LateWake { waited_ns: *ns, held: held.clone(), ..LateWake::default() });
            Tail { wakes, late: late.collect(), longest_ns, held, lost, unknown }
        },
    )
}

/// Of every shape: texts, words, fractions, one reason in another.
fn reason() -> impl Strategy<Value = Reason> {
    let plain = prop_oneof![
        Just(Reason::NotLookedAt),
        text().prop_map(|detail| Reason::Unsupported { detail }),
        (any::<i32>(), text()).prop_map(|(signal, text)| Reason::Killed {
            signal,
            words: LastWords::Said { text },
            limits: TightLimits::default()
        }),
        any::<f64>()
            .prop_filter("JSON has no such number", |ns| ns.is_finite())
            .prop_map(|ns| Reason::BelowOneCycle { ns, least_ns: Some(ns) }),
        (text(), maybe_text()).prop_map(|(what, why)| Reason::NotSeen { what, why }),
        (vec(text(), 0..3), text()).prop_map(|(known, only)| Reason::NoExperiment {
            mechanism: String::new(),
            experiment: String::new(),
            known,
            only
        }),
    ];
    let nested = |reason| Reason::InSomeStarts { reason: Box::new(reason), starts: 1, of: 2 };
    let plain = plain.boxed();
    plain.clone().prop_union(plain.prop_map(nested).boxed())
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        (number(), number()).prop_map(|(ns, of_ns)| Disturbance::Steal { ns, of_ns }),
        (number(), number()).prop_map(|(ns, of_ns)| Disturbance::ForeignCpu { ns, of_ns }),
        (number(), number()).prop_map(|(times, ns)| Disturbance::Throttled(Throttle::Quota { times, ns })),
        (text(), any::<u32>(), number()).prop_map(|(file, cpu, times)| Disturbance::Throttled(Throttle::Heat {
            file,
            cpu,
            times
        })),
        (text(), any::<u32>(), text(), text()).prop_map(|(file, cpu, before, after)| Disturbance::Frequency {
            file,
            cpu,
            before,
            after
        }),
        (number(), number()).prop_map(|(more, units)| Disturbance::ForeignSwitches { more, units }),
    ]
}

fn invocation(variants: usize) -> impl Strategy<Value = Invocation> {
    let disturbances = vec(disturbance(), 0..2);
    let judgement =
        (one_of(Verdict::ALL), option::of(reason())).prop_map(|(verdict, reason)| Judgement { verdict, reason });
    let numbers = proptest::array::uniform5(number());
    let rest = (judgement, disturbances, text(), option::of(seen()));
    (0..variants, numbers, tick(), vec(any::<u32>(), 0..3), process(), transcript(), rest).prop_map(
        |(
            variant,
            [round, sequence, wall_ns, environment_padding, peak_rss_bytes],
            started_unix_ns,
            cpus,
            process,
            transcript,
            (judgement, disturbances, log, seen),
        )| Invocation {
            variant,
            round,
            sequence,
            started_unix_ns,
            wall_ns,
            cpus,
            environment_padding,
            peak_rss_bytes,
            process,
            transcript,
            seen,
            judgement,
            disturbances,
            log,
        },
    )
}

fn variant() -> impl Strategy<Value = Variant> {
    let words = (
        mechanism(),
        proptest::sample::select(Experiment::all()),
        proptest::sample::select(Placement::all()),
        one_of(Timing::ALL),
    );
    (words, text(), number(), texts(), text()).prop_map(
        |((mechanism, experiment, placement, timing), probe, contexts, parameters, label)| Variant {
            mechanism,
            probe,
            experiment,
            contexts,
            placement,
            timing,
            parameters,
            label,
        },
    )
}

fn machine() -> impl Strategy<Value = Machine> {
    let finding = (text(), text(), one_of(Severity::ALL), texts()).prop_map(|(id, case, severity, facts)| Finding {
        id,
        case,
        severity,
        facts,
    });
    (texts(), texts(), texts(), vec(finding, 0..2)).prop_map(|(stable, drifting, personal, findings)| Machine {
        stable,
        drifting,
        personal,
        findings,
    })
}

fn header() -> impl Strategy<Value = Run> {
    let ended = prop_oneof![
        Just((EndedBy::Unfinished, None)),
        (one_of(&EndedBy::ALL[1..]), tick()).prop_map(|(by, at)| (by, Some(at)))
    ];
    let numbers = (number(), any::<u32>(), number(), number());
    let request = (vec(text(), 0..3), maybe_text(), number()).prop_map(|(patterns, axis, seed)| Request {
        patterns,
        axis,
        seed,
        ..Request::default()
    });
    let asked = (text(), vec(text(), 0..3), request);
    (("[0-9][0-9A-Za-z_-]{0,30}", tick()), ended, numbers, asked, machine()).prop_map(
        |(
            (id, started_unix_ns),
            (ended_by, ended_unix_ns),
            (seed, method_version, precision_ppm, budget_ms),
            (tool_version, command, request),
            machine,
        )| Run {
            id,
            started_unix_ns,
            ended_unix_ns,
            seed,
            ended_by,
            tool_version,
            method_version,
            command,
            request,
            precision_ppm,
            budget_ms,
            machine,
            variants: Vec::new(),
            not_run: BTreeMap::new(),
            invocations: Vec::new(),
        },
    )
}

/// Any run that keeps the rules.
pub fn arbitrary_run() -> impl Strategy<Value = Run> {
    let with_variants = (header(), vec((variant(), option::of(reason())), 0..4)).prop_map(|(mut run, variants)| {
        for (index, (variant, not_run)) in variants.into_iter().enumerate() {
            run.not_run.extend(not_run.map(|reason| (index, reason)));
            run.variants.push(variant);
        }
        run
    });
    with_variants.prop_flat_map(|run| {
        let variants = run.variants.len();
        let most = if variants == 0 { 0 } else { 4 };
        vec(invocation(variants.max(1)), 0..=most).prop_map(move |invocations| Run { invocations, ..run.clone() })
    })
}
