use super::*;
use std::fs;
use std::path::Path;

/// A process of a made-up machine: parent, threads, and what its first task's list of children says.
fn plant(root: &Path, pid: i32, parent: i32, threads: i32, children: Option<&str>) {
    for thread in pid..pid + threads {
        let folder = root.join(format!("proc/{pid}/task/{thread}"));
        fs::create_dir_all(&folder).unwrap();
        let rest = "0 ".repeat(PROCESSOR - THREADS - 1);
        let middle = "0 ".repeat(THREADS - PARENT - 1);
        fs::write(folder.join("stat"), format!("{pid} (a) b) S {parent} {middle}{threads} {rest}3\n")).unwrap();
        if let Some(list) = children {
            fs::write(folder.join("children"), if thread == pid { list } else { "" }).unwrap();
        }
    }
}

fn ids(family: &[Process]) -> Vec<(i32, u64)> {
    family.iter().map(|process| (process.pid, process.tasks)).collect()
}

#[test]
fn both_ways_find_the_same_family() {
    let root = tempfile::tempdir().unwrap();
    let host = Host::fake(root.path());
    for (pid, parent, threads, children) in [
        (100, 1, 1, "200 900"),
        (200, 100, 3, "210 220 "),
        (210, 200, 1, "300"),
        (220, 200, 1, ""),
        (300, 210, 2, ""),
        (900, 100, 1, "910"),
        (910, 900, 1, ""),
    ] {
        plant(root.path(), pid, parent, threads, Some(children));
    }
    let expected = vec![(200, 3), (210, 1), (220, 1), (300, 2)];
    assert_eq!(ids(&by_children(&host, 200, 100).unwrap()), expected);
    assert_eq!(ids(&by_parents(&host, 200, 100).unwrap()), expected);
}

#[test]
fn a_kernel_without_lists_of_children_is_told_from_a_task_that_ended() {
    let root = tempfile::tempdir().unwrap();
    let host = Host::fake(root.path());
    plant(root.path(), 100, 1, 1, Some("200"));
    plant(root.path(), 200, 100, 2, Some(""));
    fs::remove_file(root.path().join("proc/200/task/201/children")).unwrap();
    assert_eq!(by_children(&host, 200, 100), None);
    fs::remove_file(root.path().join("proc/200/task/201/stat")).unwrap();
    assert!(by_children(&host, 200, 100).is_some());
}

#[test]
fn too_many_threads_are_not_asked_for_their_children() {
    let root = tempfile::tempdir().unwrap();
    let host = Host::fake(root.path());
    plant(root.path(), 100, 1, 1, Some("200"));
    plant(root.path(), 200, 100, MOST_TASKS as i32 + 1, Some(""));
    assert_eq!(by_children(&host, 200, 100), None);
    assert_eq!(ids(&by_parents(&host, 200, 100).unwrap()), [(200, MOST_TASKS as u64 + 1)]);
}

fn family(pids: impl IntoIterator<Item = i32>) -> Vec<Process> {
    pids.into_iter().map(|pid| Process { pid, tasks: 1 }).collect()
}

#[test]
fn address_spaces_are_counted_with_few_comparisons() {
    let compared = std::cell::Cell::new(0);
    let compare = |a: i32, b: i32| {
        compared.set(compared.get() + 1);
        Ok((a % 100).cmp(&(b % 100)))
    };
    assert_eq!(address_spaces(&family(1..=250), &compare), Some(100));
    assert!(compared.get() < 250 * 8, "{}", compared.get());
    let never = |_, _| Err(io::Error::from_raw_os_error(libc::EPERM));
    assert_eq!(address_spaces(&family(1..=2), &never), None);
}

#[test]
fn a_process_that_ends_meanwhile_hides_no_other() {
    let gone = |dead: i32| {
        move |a: i32, b: i32| match a == dead || b == dead {
            true => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            false => Ok(a.cmp(&b)),
        }
    };
    // The newcomer is gone, and one that was known.
    assert_eq!(address_spaces(&family(1..=5), &gone(5)), Some(4));
    let first = std::cell::Cell::new(true);
    let later = |a: i32, b: i32| if first.replace(a == 1 && b == 2) && a == 1 { Ok(a.cmp(&b)) } else { gone(1)(a, b) };
    assert_eq!(address_spaces(&family(1..=4), &later), Some(3));
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
