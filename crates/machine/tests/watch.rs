//! What counts as a disturbance, on this machine. Needs a machine without other work, so `make
//! soak` runs it.
use switchcost_machine::cpus::{Cpus, pin_self};
use switchcost_machine::spawn::{Child, SpawnRequest};
use switchcost_machine::watch::Watch;
use switchcost_model::{Capabilities, Disturbance};

fn shell(text: &str, cpus: &[u32]) -> SpawnRequest {
    SpawnRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), text.to_owned()],
        environment: Vec::new(),
        cpus: Some(cpus.to_vec()),
        directory: None,
        capabilities: Capabilities::ALL,
        hogs: None,
        timer_slack_ns: None,
        report_fd: 3,
    }
}

/// A child that computes for about 60 ms.
fn invocation(cpus: &[u32]) -> (u64, Vec<Disturbance>) {
    let watch = Watch::start(cpus);
    let child = Child::start(&shell("i=0; while [ $i -lt 55000 ]; do i=$((i+1)); done", cpus)).unwrap();
    child.wait();
    let exit = child.finish();
    (exit.used.unwrap().cpu_ns, watch.stop(&exit))
}

/// Share of invocations that are marked.
fn marked(what: &str, cpus: &[u32], count: u32) -> f64 {
    let mut marked = 0;
    let mut cpu_ns = Vec::new();
    for _ in 0..count {
        let (used, found) = invocation(cpus);
        cpu_ns.push(used);
        marked += u32::from(!found.is_empty());
        if marked <= 3 && !found.is_empty() {
            report(&format!("{what}: {found:?}"));
        }
    }
    cpu_ns.sort_unstable();
    let share = f64::from(marked) / f64::from(count);
    report(&format!(
        "{what}: {:.1} % of {count} marked; child used {:.1} ms",
        share * 100.0,
        cpu_ns[cpu_ns.len() / 2] as f64 / 1e6
    ));
    share
}

/// Tests may say what they saw; the library prints nothing.
#[expect(clippy::print_stderr, reason = "figures of a test")]
fn report(text: &str) {
    eprintln!("{text}");
}

/// Needs a machine without other work, for a minute.
#[test]
#[ignore = "suite soak"]
fn quiet_is_not_marked_and_competitors_are() {
    let cpus = Cpus::detect().unwrap();
    let here = [cpus.measured()];
    pin_self(&[cpus.housekeeping().unwrap()]).unwrap();
    let quiet = marked("quiet, one CPU", &here, 200);
    let quiet_free = marked("quiet, free", cpus.allowed(), 200);
    let spin = |cpu: u32| Child::start(&shell("while :; do :; done", &[cpu])).unwrap();
    let competitor = spin(cpus.measured());
    let beside = marked("competitor on the same CPU", &here, 60);
    drop(competitor);
    let competitor = spin(cpus.housekeeping().unwrap());
    let elsewhere = marked("competitor on the other CPU, free", cpus.allowed(), 60);
    let unconcerned = marked("competitor on the other CPU, pinned", &here, 60);
    drop(competitor);
    assert!(quiet < 0.02 && quiet_free < 0.02, "{quiet} {quiet_free}");
    assert!(beside > 0.95 && elsewhere > 0.95, "{beside} {elsewhere}");
    assert!(unconcerned < 0.1, "{unconcerned}");
}

#[test]
fn a_watch_ends_whatever_it_saw() {
    let cpus = Cpus::detect().unwrap();
    let (used, _) = invocation(cpus.allowed());
    assert!(used > 1_000_000);
}
