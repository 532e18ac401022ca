//! Faults, and what they do to a node.

use crate::simulation::Random;
use switchcost_fleet::{NodeSample, NodeStarts, Passage, Suspect};

type Plant = Box<dyn Fn(&mut NodeSample, &mut Random)>;

/// A fault of one size.
pub struct Fault {
    pub name: &'static str,
    pub size: String,
    /// Suspects that are right.
    pub right: &'static [Suspect],
    /// Kept runs in which it was really there.
    pub real: Option<&'static str>,
    pub plant: Plant,
}

fn fault(
    name: &'static str,
    size: impl Into<String>,
    right: &'static [Suspect],
    plant: impl Fn(&mut NodeSample, &mut Random) + 'static,
) -> Fault {
    Fault { name, size: size.into(), right, real: None, plant: Box::new(plant) }
}

fn real(name: &'static str, size: &'static str, right: &'static [Suspect], real: &'static str) -> Fault {
    Fault { real: Some(real), ..fault(name, size, right, |_, _| ()) }
}

/// Puts all figures of the rows for which it gives something through a function of the cost.
fn costs(sample: &mut NodeSample, change: impl Fn(&NodeStarts, f64) -> f64) {
    for row in &mut sample.rows {
        let plain = row.clone();
        row.medians.iter_mut().chain(&mut row.means).for_each(|(_, ns, _)| *ns = change(&plain, *ns));
    }
}

/// A slower clock: rows and the ruler of the clock alike.
fn clock(sample: &mut NodeSample, factor: f64) {
    let by_clock = |row: &NodeStarts| !matches!(row.through, Passage::Wake | Passage::Cache);
    for row in &mut sample.rows {
        let slower = if by_clock(row) { factor } else { 1.0 };
        for (_, ns, ruler) in row.medians.iter_mut().chain(&mut row.means) {
            *ns *= slower;
            *ruler = ruler.map(|ns| ns * factor);
        }
    }
}

/// These starts of all rows cost so many times as much.
fn in_some_rounds(sample: &mut NodeSample, share: f64, factor: f64, random: &mut Random) {
    let slow: Vec<bool> = (0..1000).map(|_| random.uniform() < share).collect();
    for row in &mut sample.rows {
        let starts = row.medians.iter_mut().chain(&mut row.means);
        starts.filter(|(round, ..)| slow[*round as usize]).for_each(|(_, ns, _)| *ns *= factor);
    }
}

/// Stops for so many ns in each of a start's periods of 100 ms. A start takes 60 ms, so that some
/// have none.
fn stopped(sample: &mut NodeSample, quota: f64, random: &mut Random) {
    const OF_A_PERIOD: f64 = 0.6;
    for (_, mean, _) in sample.rows.iter_mut().flat_map(|row| &mut row.means) {
        if random.uniform() < OF_A_PERIOD {
            *mean *= 1.0 + (1.0 - quota) / quota / OF_A_PERIOD;
        }
    }
}

fn fact(sample: &mut NodeSample, name: &str, value: &str) {
    sample.facts.insert(name.into(), value.into());
}

fn slower(name: &'static str, percent: &[i32], right: &'static [Suspect], rows: &'static [Passage]) -> Vec<Fault> {
    let of = |percent: &i32| {
        let factor = 1.0 + f64::from(*percent) / 100.0;
        let through = move |row: &NodeStarts, ns: f64| if rows.contains(&row.through) { ns * factor } else { ns };
        fault(name, format!("{percent:+} %"), right, move |sample, _| costs(sample, through))
    };
    percent.iter().map(of).collect()
}

/// How many calls of the kernel, and switches by its scheduler, a unit of a row goes through.
fn calls(row: &NodeStarts) -> f64 {
    match row.through {
        Passage::Entry => 1.0,
        Passage::Switch | Passage::Group | Passage::Wake => 2.0,
        Passage::Core | Passage::Cache | Passage::Other => 0.0,
    }
}

fn switches(row: &NodeStarts) -> f64 {
    f64::from(u8::from(matches!(row.through, Passage::Switch | Passage::Group)))
}

const ALL: &[Passage] =
    &[Passage::Core, Passage::Entry, Passage::Switch, Passage::Group, Passage::Wake, Passage::Cache];

/// The five that issue 20 names, each at the size that it names.
pub fn named() -> Vec<Fault> {
    let mut all = vec![
        real("CPU quota", "90 % (real)", &[Suspect::Quota], "quota"),
        real("busy neighbour", "one loop (real)", &[Suspect::Neighbour], "neighbour"),
        real("deeper cgroup", "6 (real)", &[Suspect::CgroupDepth], "deeper"),
        fault("other kernel", "fact alone", &[Suspect::Kernel], |sample, _| fact(sample, "kernel.release", "5.4.0")),
    ];
    all.extend(slower("all rows", &[5], &[Suspect::Clock], ALL));
    all
}

/// A slower or faster clock.
pub fn clocks() -> Vec<Fault> {
    let of = |percent: i32| {
        let factor = 1.0 + f64::from(percent) / 100.0;
        fault("clock", format!("{percent:+} %"), &[Suspect::Clock], move |sample, _| clock(sample, factor))
    };
    [-5, 2, 3, 5, 10, 20].map(of).into()
}

/// Faults by their size.
pub fn graded() -> Vec<Fault> {
    let mut all = slower("all rows, the clock's ruler not", &[-5, 1, 2, 3, 5, 10, 20], &[Suspect::Clock], ALL);
    for (depth, size) in [(1, "1"), (2, "2"), (4, "4"), (8, "8")] {
        let deeper = move |row: &NodeStarts, ns: f64| ns + switches(row) * f64::from(depth) * 100.0;
        all.push(fault("deeper cgroup, no fact tells", size, &[Suspect::CgroupDepth], move |sample, _| {
            costs(sample, deeper);
        }));
    }
    for quota in [95, 90, 75, 50] {
        let share = f64::from(quota) / 100.0;
        let right = &[Suspect::Quota, Suspect::Neighbour];
        all.push(fault("CPU quota, no fact or counter tells", format!("{quota} %"), right, move |sample, random| {
            stopped(sample, share, random);
        }));
    }
    for percent in [10, 25, 50] {
        let share = f64::from(percent) / 100.0;
        all.push(fault(
            "neighbour that the kernel counts",
            format!("{percent} %"),
            &[Suspect::Neighbour],
            move |sample, _| {
                sample.rows.iter_mut().flat_map(|row| &mut row.means).for_each(|(_, mean, _)| *mean *= 1.0 + share);
                sample.disturbances.insert("foreign_cpu".into(), sample.starts);
            },
        ));
    }
    for percent in [30, 60, 100] {
        let share = f64::from(percent) / 100.0;
        let right = &[Suspect::Neighbour, Suspect::Clock];
        all.push(fault("+35 % in some rounds, uncounted", format!("{percent} %"), right, move |sample, random| {
            in_some_rounds(sample, share, 1.35, random);
        }));
    }
    for ns in [10, 20, 40, 80, 160] {
        let costlier = move |row: &NodeStarts, cost: f64| cost + calls(row) * f64::from(ns);
        let right = &[Suspect::Mitigations, Suspect::Kernel];
        all.push(fault("system calls, no fact tells", format!("+{ns} ns"), right, move |sample, _| {
            costs(sample, costlier)
        }));
    }
    all.extend(slower("wake-ups of another CPU", &[5, 10, 20, 50, 100], &[Suspect::IdleStates], &[Passage::Wake]));
    let path = &[Passage::Wake, Passage::Cache];
    all.extend(slower("path between two CPUs", &[5, 10, 20, 50], &[Suspect::Topology], path));
    all.extend(slower("within cgroups alone", &[5, 10, 20], &[Suspect::CgroupDepth], &[Passage::Group]));
    for percent in [5, 10, 20] {
        let factor = 1.0 + f64::from(percent) / 100.0;
        let one = move |row: &NodeStarts, ns: f64| {
            if row.row.contains("pipe") && row.through == Passage::Switch { ns * factor } else { ns }
        };
        all.push(fault(
            "pipes alone",
            format!("+{percent} %"),
            &[Suspect::Kernel, Suspect::Unknown],
            move |sample, _| costs(sample, one),
        ));
    }
    for (name, value, right) in [
        ("cpu.microcode", "0x2b", &[Suspect::Mitigations]),
        ("cpufreq.governor", "powersave", &[Suspect::Clock]),
        ("cpuidle.driver", "intel_idle", &[Suspect::IdleStates]),
        ("libc", "glibc 2.31", &[Suspect::Library]),
    ] {
        all.push(fault("another fact, no cost", name, right, move |sample, _| fact(sample, name, value)));
    }
    all
}
