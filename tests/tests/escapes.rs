//! Processes of a probe that try to outlive a run.

use std::collections::BTreeSet;
use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Runs the fake, before which its launcher starts this program of Python with the host's process
/// id as its argument.
fn beside(program: &str) -> World {
    let world = World::new(FAKE);
    let folder = "libexec/switchcost/probes/fake";
    world.write(&format!("{folder}/escape.py"), program);
    let launcher = format!("case \"$1\" in run) python3 escape.py $PPID & ;; esac\nexec {FAKE} \"$@\"\n");
    world.write(&format!("{folder}/probe.sh"), &launcher);
    let page = switchcost_e2e::probe("fake", "sh", 100).replace("[\"sh\"]", "[\"sh\", \"./probe.sh\"]");
    world.write(&format!("{folder}/probe.toml"), &page);
    let said = world.run("run thread/honest --rounds 1 --batches 2 --budget 60s");
    assert!(!said.err.contains("panicked") && [0, 3, 4, 5].contains(&said.status), "{said:?}");
    world
}

/// Whoever is in the host's group was once taken for the host's own.
#[test]
fn nothing_of_a_probe_joins_the_host_s_group() {
    let program = "import os, sys, time
try: os.setpgid(0, os.getpgid(int(sys.argv[1]))); said = 'joined'
except PermissionError: said = 'refused'
open('said', 'w').write(said)
time.sleep(1000)";
    let world = beside(program);
    assert_eq!(world.leftovers(), BTreeSet::new());
    let said = std::fs::read_to_string(world.path("libexec/switchcost/probes/fake/said"));
    // It may have been ended before it tried.
    assert!(said.as_deref().unwrap_or("refused") == "refused", "{said:?}");
}

/// Each generation starts the next and ends.
#[test]
fn a_chain_of_processes_is_followed_to_its_end() {
    let program = "import os
os.setsid()
for _ in range(100000):
    if os.fork(): os._exit(0)
    os.setsid()";
    let world = beside(program);
    // A look may fall between two generations.
    let found: BTreeSet<u32> = (0..30).flat_map(|_| world.leftovers()).collect();
    assert_eq!(found, BTreeSet::new());
}
