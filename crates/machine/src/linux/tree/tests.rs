use super::*;
use std::fs;
use std::path::Path;

/// A process of a made-up machine.
fn plant(root: &Path, pid: i32, parent: i32, threads: i32, state: char) {
    let folder = root.join(format!("proc/{pid}/task/{pid}"));
    fs::create_dir_all(&folder).unwrap();
    // Between fields 4 and 20.
    let middle = "0 ".repeat(15);
    fs::write(folder.join("stat"), format!("{pid} (a) b) {state} {parent} {middle}{threads} 0 0\n")).unwrap();
}

fn ids(host: &Host, pid: i32) -> Vec<(i32, u64)> {
    family(host, pid, 100).iter().map(|process| (process.pid, process.tasks)).collect()
}

#[test]
fn the_family_is_found_whatever_ids_it_was_given() {
    for (last, child, grandchildren, stranger) in [
        ("400", 200, [210, 220, 300], 350),
        // The highest id was reached after the second.
        ("60", 200, [210, 30, 40], 50),
        ("unknown", 200, [30, 210, 40], 50),
    ] {
        let root = tempfile::tempdir().unwrap();
        let host = Host::fake(root.path());
        let [a, b, c] = grandchildren;
        for (pid, parent, threads) in
            [(100, 1, 1), (child, 100, 3), (a, child, 1), (b, a, 2), (c, b, 1), (stranger, 100, 1), (90, 1, 1)]
        {
            plant(root.path(), pid, parent, threads, 'S');
        }
        fs::write(root.path().join("proc/loadavg"), format!("0.1 0.2 0.3 1/200 {last}\n")).unwrap();
        assert_eq!(ids(&host, child), [(child, 3), (a, 1), (b, 2), (c, 1)], "{last}");
    }
}

#[test]
fn who_has_ended_is_not_there() {
    let root = tempfile::tempdir().unwrap();
    let host = Host::fake(root.path());
    plant(root.path(), 200, 100, 1, 'S');
    plant(root.path(), 201, 200, 1, 'Z');
    // Its first thread has ended, the others have not.
    plant(root.path(), 202, 200, 3, 'Z');
    assert_eq!(ids(&host, 200), [(200, 1), (202, 3)]);
    assert_eq!(ids(&host, 300), []);
}

fn processes(pids: impl IntoIterator<Item = i32>) -> Vec<Process> {
    pids.into_iter().map(|pid| Process { pid, tasks: 1 }).collect()
}

#[test]
fn address_spaces_are_counted_with_few_comparisons() {
    let compared = std::cell::Cell::new(0);
    let compare = |a: i32, b: i32| {
        compared.set(compared.get() + 1);
        Ok((a % 100).cmp(&(b % 100)))
    };
    assert_eq!(address_spaces(&processes(1..=250), &compare), Some(100));
    assert!(compared.get() < 250 * 8, "{}", compared.get());
    let never = |_, _| Err(io::Error::from_raw_os_error(libc::EPERM));
    assert_eq!(address_spaces(&processes(1..=2), &never), None);
}

#[test]
fn a_process_that_ends_meanwhile_hides_no_other() {
    let gone = |dead: bool, order| if dead { Err(io::Error::from_raw_os_error(libc::ESRCH)) } else { Ok(order) };
    // The newcomer.
    assert_eq!(address_spaces(&processes(1..=5), &|a, b| gone(a == 5 || b == 5, a.cmp(&b))), Some(4));
    // One that is known already, once it was compared with its successor. The last belongs between
    // the two, so that both are asked.
    let asked = std::cell::Cell::new(0);
    let compare = |a: i32, b: i32| {
        asked.set(asked.get() + i32::from(a == 1 || b == 1));
        gone(asked.get() > 1 && (a == 1 || b == 1), a.cmp(&b))
    };
    assert_eq!(address_spaces(&processes([1, 3, 2]), &compare), Some(2));
}

#[test]
fn the_kernel_tells_this_address_space_from_another() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let own = std::process::id() as i32;
    let other = child.id() as i32;
    let orders = [sys::compare_memory(own, own), sys::compare_memory(own, other), sys::compare_memory(other, own)];
    child.kill().unwrap();
    child.wait().unwrap();
    let Ok([same, one, two]) = orders.into_iter().collect::<io::Result<Vec<_>>>().map(|v| [v[0], v[1], v[2]]) else {
        return; // This kernel does not compare.
    };
    assert_eq!(same, Ordering::Equal);
    assert!(one.is_ne() && one == two.reverse());
}

/// What cannot be read is not zero: a task that was read in part was not read.
#[test]
fn a_task_is_looked_at_whole_or_not_at_all() {
    let status = "Cpus_allowed_list:\t3\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t1\n";
    // Of its fields the 10th to 13th are page faults, the 14th to 17th ticks, the 39th the CPU and
    // the 41st the class.
    let stat = format!("200 (a) S 100 {}3 0 0\n", "0 ".repeat(34));
    let look = |status: Option<&str>, stat: &str| {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/200/task/200");
        fs::create_dir_all(&folder).unwrap();
        status.into_iter().for_each(|status| fs::write(folder.join("status"), status).unwrap());
        for file in [folder.join("stat"), root.path().join("proc/200/stat")] {
            fs::write(file, stat).unwrap();
        }
        let mut tree = Tree::default();
        let facts = read_tasks(&Host::fake(root.path()), &processes([200]), &mut tree);
        facts.map(|facts| (facts.tasks, tree.switches, tree.allowed_cpus, tree.ran_on))
    };
    assert_eq!(look(Some(status), &stat), Some((1, 8, vec![3], vec![3])));
    for line in status.lines() {
        assert_eq!(look(Some(&status.replace(line, "")), &stat), None, "{line}");
    }
    assert_eq!(look(Some(&status.replace('3', "three")), &stat), None);
    assert_eq!(look(None, &stat), None);
    assert_eq!(look(Some(status), "200 (a) S 100 0 0 0\n"), None);
}

/// The kernel names a tracer by its thread: gVisor's traces the guest by others than its first.
#[test]
fn a_probe_that_traces_by_any_thread_is_no_stranger() {
    let stat = format!("200 (a) S 100 {}3 0 0\n", "0 ".repeat(34));
    let traced = |by: i32| {
        let root = tempfile::tempdir().unwrap();
        for task in [200, 201] {
            let folder = root.path().join(format!("proc/200/task/{task}"));
            fs::create_dir_all(&folder).unwrap();
            let counts = "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t1\n";
            fs::write(folder.join("status"), format!("TracerPid:\t{by}\nCpus_allowed_list:\t3\n{counts}")).unwrap();
            fs::write(folder.join("stat"), &stat).unwrap();
        }
        let facts = read_tasks(&Host::fake(root.path()), &processes([200]), &mut Tree::default()).unwrap();
        (facts.traced, facts.tracer.is_some())
    };
    assert_eq!(
        [traced(0), traced(200), traced(201), traced(300)],
        [(Some(0), false), (Some(2), false), (Some(2), false), (Some(0), true)]
    );
}

/// 33 sandboxes of runsc are 167 processes.
#[test]
fn what_processes_used_is_known_of_more_than_are_looked_at() {
    let root = tempfile::tempdir().unwrap();
    for pid in 1..=167 {
        let folder = root.path().join(format!("proc/{pid}"));
        fs::create_dir_all(&folder).unwrap();
        // Fields 10 to 13 are page faults, 14 to 17 ticks.
        fs::write(folder.join("stat"), format!("{pid} (a) S 100 {}7 1 0 2 1 0 0 0 3 0 0\n", "0 ".repeat(5))).unwrap();
    }
    let host = Host::fake(root.path());
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    assert_eq!(used(&host, &processes(1..=167)), Some((167 * tick, 1670)));
    assert_eq!(used(&host, &processes(1..=168)), None);
}
