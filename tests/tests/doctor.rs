//! `doctor --gate`: one planted finding fails it, and nothing else does.
use switchcost_e2e::{Said, World, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Runs `doctor` with these words on one CPU of those that this process may use, where `cpu_count`
/// is a warning.
fn confined(world: &World, words: &[&str]) -> Option<Said> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
    let cpu = allowed.split([',', '-']).next()?;
    Some(world.run_wrapped(&["taskset", "-c", cpu], words))
}

/// Ids of all findings but one, for `--accept`.
fn all_but(world: &World, id: &str) -> String {
    let said = world.run("doctor --format json").json();
    let findings = said["machine"]["findings"].as_array().unwrap();
    let ids: Vec<&str> = findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&id), "{ids:?}");
    ids.into_iter().filter(|known| *known != id).collect::<Vec<_>>().join(",")
}

#[test]
fn a_planted_finding_fails_the_gate() {
    let world = World::new(FAKE);
    let others = all_but(&world, "cpu_count");
    let words = ["doctor", "--gate", "--accept", &others];
    let Some(planted) = confined(&world, &words) else {
        return switchcost_e2e::untested("taskset is not here: no finding can be planted");
    };
    assert_eq!(planted.status, 1, "{planted:?}");
    assert!(
        planted.out.ends_with("FAIL (gate warning): cpu_count; to let them through: --accept cpu_count\n"),
        "{}",
        planted.out
    );
    assert_eq!(confined(&world, &["doctor"]).unwrap().status, 0, "without --gate doctor only says");
    let json = confined(&world, &[&words[..], &["--format", "json"]].concat()).unwrap();
    assert_eq!(json.status, 1);
    let said = json.json();
    assert_eq!(said["worst"], "warning");
    assert_eq!(said["gate"]["outcome"], "failed");
    assert_eq!(said["gate"]["findings"], serde_json::json!(["cpu_count"]));
    let accepted = format!("cpu_count,{others}");
    let passed = confined(&world, &["doctor", "--gate=note", "--accept", &accepted]).unwrap();
    assert_eq!(passed.status, 0, "{passed:?}");
    assert!(passed.out.ends_with("PASS (gate note)\n"), "{}", passed.out);
}

#[test]
fn a_note_fails_only_the_gate_for_notes() {
    let world = World::new(FAKE);
    let others = all_but(&world, "file_limit");
    let limited = |gate: &str| {
        world.run_wrapped(&["sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\""], &["doctor", gate, "--accept", &others])
    };
    assert_eq!(limited("--gate").status, 0);
    let strict = limited("--gate=note");
    assert_eq!(strict.status, 1, "{strict:?}");
    assert!(
        strict.out.ends_with("FAIL (gate note): file_limit; to let them through: --accept file_limit\n"),
        "{}",
        strict.out
    );
}

#[test]
fn what_doctor_says_for_scripts_fits_its_schema() {
    let world = World::new(FAKE);
    let schema = std::fs::read_to_string(repository().join("docs/doctor.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for words in
        ["doctor --format json", "doctor --format json --gate", "doctor --format json --gate=note --accept smt,kvm"]
    {
        let said = world.run(words).json();
        let faults: Vec<String> = schema.iter_errors(&said).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{words}: {faults:?}");
        let severities = said["machine"]["findings"].as_array().unwrap().iter().map(|finding| &finding["severity"]);
        let severe = severities.filter(|severity| *severity == "warning").count();
        assert_eq!(said["worst"] == "warning", severe > 0);
    }
}

#[test]
fn a_gate_is_not_misunderstood() {
    let world = World::new(FAKE);
    world.run("doctor --gate=fine").refuses(2, &["--gate", "warning or note"]);
    world.run("doctor --gate --accept smd").refuses(2, &["--accept smd", "did you mean `smt`?"]);
    world.run("doctor --accept smt").refuses(2, &["--gate"]);
}
