//! `kernels` with the real binary: beside an emulator that is a script and plays recorded boots;
//! and, where a suite asks for it, beside a real one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use switchcost_e2e::{BY_CTRL_C, Real, Said, World, repository, told, untested, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// What `switchcost-e2e` plays for a kernel: the file of that name in `boots`, then what its name
/// says.
const EMULATOR: &str = r#"[ "$1" = --version ] && { echo "QEMU emulator version 7.2.22 (a script)"; exit; }
cd "${0%/*}"
while [ $# -gt 0 ]; do case $1 in -kernel) kernel=${2##*/} ;; -initrd) [ -s "$2" ] || exit 9 ;; esac; shift; done
cat "../boots/$kernel.log" 2>/dev/null
case $kernel in *hang*) sleep 1000 & wait ;; esac
"#;

const DESCRIBED: &str = r#"{"t":"hello","protocol":1,"probe":"bare","version":"0.1.0","runtime":"none","compiler":null,"flags":null,"pid":7,"clock":{"name":"CLOCK_MONOTONIC","ticks_per_second":1000000000,"read_cost_ticks":22},"counter":null}
{"t":"mechanism","id":"control/empty-loop","experiments":["switch"],"timings":["batch"],"parameters":[],"available":true}
{"t":"mechanism","id":"thread/futex","experiments":["switch"],"timings":["batch"],"parameters":["sched","idle","working_set","period","gap","simd","spin"],"available":true}
{"t":"end","status":"ok","samples":0}"#;

/// A boot that was recorded in QEMU 7.2.22 with Debian's kernel of this series: the control and
/// thread/futex, three starts each.
fn recorded(series: &str) -> String {
    fs::read_to_string(repository().join(format!("tests/kernels/{series}.log"))).unwrap()
}

/// A file with the head of a bzImage.
fn image(release: &str) -> Vec<u8> {
    let mut head = vec![0; 0x300];
    head[0x202..0x206].copy_from_slice(b"HdrS");
    head[0x20E..0x210].copy_from_slice(&0x50_u16.to_le_bytes());
    head[0x236] = 1;
    head[0x250..0x250 + release.len()].copy_from_slice(release.as_bytes());
    head
}

/// A world with a static probe, the script, and kernels: file, release, and what its boot says.
fn world(kernels: &[(&str, &str, String)]) -> World {
    let world = World::new(FAKE);
    let program = |path: &str, text: &str| {
        world.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("bin/qemu-system-x86_64", EMULATOR);
    program("libexec/switchcost/probes/bare/probe", &format!("printf '%s\\n' '{DESCRIBED}' >&3"));
    world.write(
        "libexec/switchcost/probes/bare/probe.toml",
        &switchcost_e2e::probe("bare", "./probe", 50).replace("\"fake\"", "\"native\""),
    );
    world.write("libexec/switchcost/probes/bare/guest-init", "played by the script");
    let all = fs::remove_dir_all(world.path("share/switchcost/mechanisms"));
    all.and_then(|()| {
        std::os::unix::fs::symlink(repository().join("mechanisms"), world.path("share/switchcost/mechanisms"))
    })
    .unwrap();
    let data = fs::read_to_string(repository().join("data/kernels.toml")).unwrap();
    world.write("share/switchcost/kernels.toml", &data);
    world.write("tmp/here", "");
    for (name, release, said) in kernels {
        fs::write(world.path(name), image(release)).unwrap();
        world.write(&format!("boots/{name}.log"), said);
    }
    world
}

fn command(world: &World, words: &str) -> Command {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = world.command(&[&["kernels"], &words[..]].concat());
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("TMPDIR", world.path("tmp")).current_dir(world.path(""));
    command
}

fn run(world: &World, words: &str) -> Said {
    Said::from(command(world, words).output().unwrap())
}

const OLD: &str = "6.1.0-57-cloud-amd64";
const NEW: &str = "7.3.4+deb13-cloud-amd64";

/// Neither an emulator, nor what it started, nor a folder.
fn nothing_is_left(world: &World) {
    let here = |cwd: PathBuf| cwd.starts_with(world.path("bin"));
    until("the end of the emulator", || {
        let mut processes = fs::read_dir("/proc").unwrap().flatten();
        !processes.any(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(here))
    });
    assert_eq!(fs::read_dir(world.path("tmp")).unwrap().count(), 1, "a folder is left");
}

#[test]
fn a_recorded_boot_is_counted() {
    let world = world(&[("old", OLD, recorded("6.1")), ("new", NEW, recorded("7.3")), ("again", OLD, recorded("6.1"))]);
    let said = run(&world, "thread/futex --image old --image new --boots 1 --format json");
    assert_eq!(said.status, 0, "{said:?}");
    let schema = fs::read_to_string(repository().join("docs/kernels.schema.json")).unwrap();
    jsonschema::validate(&serde_json::from_str(&schema).unwrap(), &said.json())
        .unwrap_or_else(|error| panic!("{error}"));
    let number = |column: usize| {
        said.json()["columns"][column]["rows"][1]["count"]["modes"][0]["instructions"].as_f64().unwrap()
    };
    assert!((number(0) - 4946.0).abs() < 2.0 && (number(1) - 6840.0).abs() < 3.0, "{said:?}");
    assert_eq!(said.json()["columns"][0]["facts"]["build"], "01d2640d3a13145ee314eb05b155f141b7b7058b");
    assert!(said.err.contains("counting 2 rows in 2 columns"), "{said:?}");

    let mail = run(&world, "thread/futex --image old --image new --boots 1").out;
    assert!(mail.is_ascii() && mail.lines().all(|line| line.len() <= 76), "{mail}");
    assert!(mail.contains(" thread/futex") && mail.contains("4,946") && mail.contains("They are not times"), "{mail}");

    let gate = |words: &str| run(&world, &format!("thread/futex --boots 1 {words}"));
    let failed = gate("--image old --image new --gate 0%");
    assert_eq!(failed.status, 1, "{failed:?}");
    assert!(failed.words().contains("gate failed: thread/futex executes 38."), "{failed:?}");
    assert_eq!(gate("--image old --image new --gate 50%").status, 0);
    assert_eq!(gate("--image new --image old --gate 0%").status, 0);
    assert_eq!(gate("--image old --image again --gate 0%").status, 0);
    nothing_is_left(&world);
}

#[test]
fn a_kernel_that_does_not_come_to_its_end_costs_its_column() {
    let panics = "@uname 6.1 x\n[    0.1] Kernel panic - not syncing: VFS: Unable to mount root fs\n".to_owned();
    let early = recorded("6.1").lines().take(9).collect::<Vec<_>>().join("\n") + "\n";
    let kernels = [
        ("panics", OLD, panics, "it panics: VFS: Unable to mount root fs"),
        ("hangs", OLD, "@uname 6.1 x\n".to_owned(), "it hangs: silent for 1 s after `@uname 6.1 x`"),
        ("mute", OLD, "SeaBIOS\n".to_owned(), "it does not boot: it ends after `SeaBIOS`"),
        ("early", OLD, early, "it ends early"),
        ("other", NEW, recorded("6.1"), "the machine that it is 6.1.0-57-cloud-amd64"),
        ("busy", OLD, recorded("6.1").replace("@idle yes", "@idle no"), "still busy"),
        ("clock", OLD, recorded("6.1").replace("@clock tsc", "@clock hpet"), "its clock is hpet"),
    ];
    let all = kernels.clone().map(|(name, release, said, _)| (name, release, said));
    let world = world(&[&[("fine", OLD, recorded("6.1"))], &all[..]].concat());
    for (name, _, _, words) in &kernels {
        let said = run(&world, &format!("thread/futex --image fine --image {name} --boots 1 --silence 1s"));
        assert_eq!(said.status, 4, "{name}: {said:?}");
        assert!(said.words().contains(words) && said.words().contains("4,946"), "{name}: {said:?}");
        let gate = run(&world, &format!("thread/futex --image fine --image {name} --boots 1 --silence 1s --gate 0%"));
        assert_eq!(gate.status, 125, "{name}: {gate:?}");
        assert!(gate.words().contains("gate not judged"), "{name}: {gate:?}");
        assert_eq!(run(&world, &format!("thread/futex --image {name} --boots 1 --silence 1s")).status, 3);
    }
    nothing_is_left(&world);
}

#[test]
fn what_is_not_proven_has_no_number() {
    let control = recorded("7.3").replace("[393", "[593").replace(",393", ",593");
    let lost = recorded("6.1").replace("\"token\":8960", "\"token\":8961");
    let world = world(&[("old", OLD, recorded("6.1")), ("control", NEW, control), ("lost", OLD, lost)]);
    let void = run(&world, "thread/futex --image old --image control --boots 1");
    assert_eq!(void.status, 5, "{void:?}");
    assert!(void.words().contains("Void: the control, which makes no system call, takes 3.00"), "{void:?}");
    assert_eq!(run(&world, "thread/futex --image old --image control --boots 1 --gate 0%").status, 125);
    let depth = run(&world, "thread/futex --image old --depth 3 --boots 1");
    assert_eq!(depth.status, 4, "{depth:?}");
    assert!(depth.words().contains("it ran at depth 0, not 3"), "{depth:?}");
    let lost = run(&world, "thread/futex --image lost --boots 1");
    assert!(lost.status == 4 && lost.words().contains("contradicted: "), "{lost:?}");
    let setting =
        run(&world, "thread/futex --image old --boots 1 --with NO_SUCH_FEATURE --with preempt=full --with a=b=c");
    assert_eq!(setting.status, 4, "{setting:?}");
    for words in ["this kernel has no NO_SUCH_FEATURE", "this kernel has no preempt=full", "this kernel has no a=b=c"] {
        assert!(setting.words().contains(words), "{setting:?}");
    }
}

#[test]
fn bad_input_of_kernels_is_one_sentence() {
    let world = world(&[("old", OLD, recorded("6.1"))]);
    run(&world, "thread/futex").refuses(3, &["no kernel is here", "scripts/setup kernels", "--image"]);
    let mut arm = image(OLD);
    arm[0x38..0x3C].copy_from_slice(b"ARM\x64");
    for (name, bytes, words) in [
        ("arm", arm, "another architecture, arm64"),
        ("elf", b"\x7fELF".to_vec(), "ELF"),
        ("text", b"text".to_vec(), "not a kernel"),
    ] {
        fs::write(world.path(name), bytes).unwrap();
        run(&world, &format!("--image {name}")).refuses(2, &["--image", name, words, "bzImage"]);
        run(&world, &format!("--image old --image {name} --gate 0%")).refuses(129, &[words]);
    }
    run(&world, "--image nowhere").refuses(2, &["--image", "nowhere", "cannot be read"]);
    run(&world, "--image old --gate 0%").refuses(129, &["--gate", "two columns", "1"]);
    run(&world, "--image old --gate x").refuses(129, &["--gate"]);
    let mut empty = command(&world, "thread/futex --image old --with");
    Said::from(empty.arg("").output().unwrap()).refuses(2, &["--with"]);
    run(&world, "--image old --silence 0s").refuses(2, &["--silence"]);
    run(&world, "thread/nothing --image old").refuses(2, &["thread/nothing"]);
    let mut without = command(&world, "thread/futex --image old");
    let without = Said::from(without.env("PATH", world.path("tmp")).output().unwrap());
    without.refuses(3, &["qemu-system-x86_64 is in none of the directories of PATH", "scripts/setup kernels"]);
    world.write("bin/qemu-system-x86_64", "#!/bin/sh\necho no such library\nexit 127\n");
    for (gate, status) in [("", 3), (" --gate 0%", 129)] {
        let words = format!("thread/futex --image old --image old --boots 1{gate}");
        run(&world, &words).refuses(status, &["the emulator says `no such library`", "qemu-system-x86"]);
    }
    fs::remove_file(world.path("libexec/switchcost/probes/bare/guest-init")).unwrap();
    run(&world, "thread/futex --image old").refuses(3, &["no static probe"]);
    nothing_is_left(&world);
}

#[test]
fn ctrl_c_leaves_no_emulator_and_no_folder() {
    let world = world(&[("hangs", OLD, "@uname 6.1 x\n".to_owned())]);
    let mut words = command(&world, "thread/futex --image hangs");
    let mut child = words.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let here = |cwd: PathBuf| cwd.starts_with(world.path("bin"));
    until("the emulator", || {
        let mut processes = fs::read_dir("/proc").unwrap().flatten();
        processes.any(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(here))
    });
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(told(child.wait().unwrap()), BY_CTRL_C);
    nothing_is_left(&world);
}

/// Kernels of `scripts/setup kernels`, oldest first, with the real emulator and probe; None: this
/// machine lacks them.
fn real() -> Option<(Real, Vec<String>)> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let entries = fs::read_dir(cache.join("switchcost/kernels")).into_iter().flatten().flatten();
    let mut images: Vec<String> = entries.map(|entry| entry.path().display().to_string()).collect();
    images.retain(|path| path.contains("/vmlinuz-") && path.contains("-cloud-"));
    images.sort();
    if images.len() < 2 {
        untested("no two kernels are here (scripts/setup kernels)");
        return None;
    }
    Some((Real::new(FAKE)?, images))
}

#[test]
#[ignore = "suite kernels: boots real kernels in a real emulator, for some minutes"]
fn real_kernels_are_counted_and_one_image_is_equal_to_itself() {
    let Some((real, images)) = real() else { return };
    let (old, new) = (&images[0], &images[images.len() - 1]);
    let said = real.run(&format!(
        "kernels thread/futex --image {old} --image {new} --depth 0,3 --boots 1 --functions --format json"
    ));
    assert_eq!(said.status, 0, "{said:?}");
    for column in said.json()["columns"].as_array().unwrap() {
        for row in column["rows"].as_array().unwrap().iter().skip(1) {
            let modes = row["count"]["modes"].as_array().unwrap();
            assert!(modes.iter().all(|mode| mode["within"].as_f64().unwrap() <= 0.002), "{row}");
            assert!((row["count"]["switches"].as_f64().unwrap() - 1.0).abs() < 0.01, "{row}");
            let (sum, clock) = (&row["profile"]["sum"], &row["profile"]["clock"]);
            assert!((sum.as_f64().unwrap() / clock.as_f64().unwrap() - 1.0).abs() <= 0.01, "{sum} and {clock}");
        }
    }
    let same = real.run(&format!("kernels thread/futex --image {old} --image {old} --boots 1 --gate 0% --format json"));
    assert_eq!(same.status, 0, "{same:?}");
    let count = |column: usize| same.json()["columns"][column]["rows"][1]["count"].clone();
    assert_eq!(count(0), count(1));
}

#[test]
#[ignore = "suite kernels: links the static probe again, and boots real kernels"]
fn one_more_system_call_is_found_with_its_name() {
    let Some((real, images)) = real() else { return };
    let folder = tempfile::tempdir().unwrap();
    let planted = folder.path().join("planted").display().to_string();
    let made = Command::new(repository().join("tests/kernels/planted")).arg(&planted).status().unwrap();
    assert!(made.success(), "the second build failed");
    let staged = repository().join("target/libexec/switchcost/probes");
    let old =
        fs::read_dir(staged).unwrap().flatten().map(|entry| entry.path()).find(|path| path.join("guest-init").exists());
    let old = old.expect("`make build` stages a static probe");
    let words = format!(
        "kernels thread/futex --image {} --probe {} --probe {planted} --boots 1 --functions --gate 0%",
        images[0],
        old.display()
    );
    let said = real.run(&words);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.words().contains("thread/futex executes") && said.words().contains("__x64_sys_getppid"), "{said:?}");
}
