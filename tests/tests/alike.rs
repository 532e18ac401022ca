//! Another interpreter for an installed probe: `like` and `interpreter` of a probe.toml.

use crate::real::{real, text, verified};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use switchcost_e2e::{Real, Said, repository, untested};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Where this program is, if it is here.
fn found(program: &str) -> Option<String> {
    let out = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    out.status.success().then(|| String::from_utf8(out.stdout).unwrap().trim().to_owned())
}

/// Writes what the user would.
fn write(place: &Path, like: &str, interpreter: &str) {
    let text = format!("id = \"other\"\nlike = \"{like}\"\ninterpreter = \"{interpreter}\"\n");
    fs::write(place.join("probe.toml"), text).unwrap();
}

/// The row of this mechanism by the probe in the folder.
fn row(real: &Real, mechanism: &str, place: &Path) -> serde_json::Value {
    let mut rows = real.started(mechanism, &format!("--probe {}", place.display()));
    rows.retain(|row| row["mechanism"] == mechanism);
    assert_eq!(rows.len(), 1, "{mechanism}: {rows:?}");
    rows.remove(0)
}

#[test]
fn the_how_to_on_two_interpreters_works() {
    let Some(real) = real() else { return };
    let Some(python) = found("python3") else { return untested("there is no python3") };
    let page = fs::read_to_string(repository().join("docs/how-to/two-builds.md")).unwrap();
    let block = page.split("```sh\n").find(|block| block.contains("interpreter = ")).unwrap();
    let block = block.split("```").next().unwrap().replace("/usr/bin/python3.13", &python);
    let block = block.replace("switchcost run ", "switchcost run --rounds 6 --batches 10 --batch-time 1ms ");
    let place = tempfile::tempdir().unwrap();
    let programs = Path::new(FAKE).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    // It sets what it stores apart from the user's.
    drop(real);
    let mut shell = Command::new("sh");
    shell.args(["-ec", &block]).env("PATH", path).env("XDG_DATA_HOME", place.path()).current_dir(place.path());
    let said: Said = shell.output().unwrap().into();
    assert!([0, 7].contains(&said.status), "{said:?}");
    assert!(said.out.matches("coroutine/python-generator@python3.13").count() >= 2, "{said:?}");
    assert!(said.out.contains("python3.13 (CPython 3."), "{said:?}");
}

/// One row with its reason each, of a runtime that says it is older than it is.
#[test]
fn a_version_that_is_too_old_has_one_row() {
    let Some(real) = real() else { return };
    let place = tempfile::tempdir().unwrap();
    for (like, program, mechanism, script, words) in [
        (
            "python",
            "python3",
            "coroutine/python-generator",
            "exec python3 -c 'import runpy, sys; sys.path.insert(0, \"\"); sys.version_info = (3, 8); \
             runpy.run_path(\"probe.py\", run_name=\"__main__\")' $3 $4",
            "needs Python 3.9 or newer",
        ),
        (
            "ruby",
            "ruby",
            "stack/ruby-fiber",
            "exec ruby -e 'Object.send(:remove_const, :RUBY_VERSION); RUBY_VERSION = \"2.7.8\"; load \"./probe.rb\"' $3 $4",
            "needs Ruby 3.1 or newer, and this is 2.7.8",
        ),
        ("lua", "lua", "coroutine/lua", "exec lua -e '_VERSION = \"Lua 5.3\"' \"$@\"", "needs Lua 5.4"),
        (
            "node",
            "node",
            "coroutine/js-generator",
            "exec node -e 'Object.defineProperty(process, \"versions\", { value: { ...process.versions, node: \"16.20.2\" } }); \
             process.argv.splice(1, 0, \"probe.js\"); require(\"./probe.js\")' -- $3 $4",
            "needs Node.js 18 or newer, and this is 16.20.2",
        ),
        (
            "php",
            "php",
            "stack/php-fiber",
            "sed 's/PHP_VERSION_ID/80030/; s/PHP_VERSION /\"8.0.30\" /' probe.php >$SWITCHCOST_SCRATCH/probe.php; exec php $SWITCHCOST_SCRATCH/probe.php",
            "needs PHP 8.1 or newer, and `php` is 8.0.30",
        ),
        ("java", "java", "thread/java-platform", "exit 9", "Java 11 found at"),
    ] {
        let staged = Path::new(FAKE).ancestors().nth(2).unwrap().join("libexec/switchcost/probes").join(like);
        if found(program).is_none() || !staged.exists() {
            untested(&format!("{program} is not here"));
            continue;
        }
        let interpreter = place.path().join("bin/java");
        fs::create_dir_all(place.path().join("bin")).unwrap();
        fs::write(&interpreter, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&interpreter, fs::Permissions::from_mode(0o755)).unwrap();
        // What the launcher of Java reads.
        fs::write(place.path().join("release"), "JAVA_VERSION=\"11.0.2\"\n").unwrap();
        write(place.path(), like, interpreter.to_str().unwrap());
        let row = row(&real, mechanism, place.path());
        assert!(text(&row, "verdict") == "unsupported" && text(&row, "reason").contains(words), "{row}");
    }
}

#[test]
fn an_interpreter_is_the_one_that_is_named() {
    let Some(real) = real() else { return };
    let place = tempfile::tempdir().unwrap();
    for (like, mechanism) in [("ruby", "stack/ruby-fiber"), ("lua", "coroutine/lua"), ("php", "stack/php-fiber")] {
        let Some(program) = found(like) else {
            untested(&format!("{like} is not here"));
            continue;
        };
        write(place.path(), like, &program);
        let row = row(&real, mechanism, place.path());
        assert_eq!(text(&row, "probe"), "other");
        verified(vec![row]);
        // And no other in its place.
        write(place.path(), like, "/nowhere/it");
        let row = self::row(&real, mechanism, place.path());
        assert!(text(&row, "reason").contains("/nowhere/it"), "{row}");
        // Beside one that answers it still has a row, which says why not.
        let said = real.run(&format!(
            "run {mechanism} --probe {} --probe {like} --rounds 1 --format json",
            place.path().display()
        ));
        let rows = said.json()["results"].as_array().cloned().unwrap_or_default();
        let of = |probe: &str| rows.iter().find(|row| row["mechanism"] == mechanism && row["probe"] == probe).cloned();
        let (here, other) = (of(like).unwrap(), of("other").unwrap());
        assert!(text(&here, "verdict") != "unsupported" && text(&other, "verdict") == "unsupported", "{here} {other}");
    }
}

/// A runtime whose compiler is switched off says so with its version.
#[test]
fn a_compiler_that_is_off_is_named() {
    let Some(real) = real() else { return };
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("bin")).unwrap();
    fs::write(place.path().join("release"), "JAVA_VERSION=\"17.0.2\"\n").unwrap();
    for (like, program, mechanism, option, words) in [
        ("node", "node", "coroutine/js-generator", "--jitless", ", JIT off"),
        ("luajit", "luajit", "coroutine/luajit", "-joff", ", compiler off"),
        ("java", "java", "thread/java-platform", "-Xint", ", interpreter only"),
    ] {
        let staged = Path::new(FAKE).ancestors().nth(2).unwrap().join("libexec/switchcost/probes").join(like);
        let Some(program) = found(program).filter(|_| staged.exists()) else {
            untested(&format!("{like} is not here"));
            continue;
        };
        // Under the name by which the launcher of Java finds what it reads.
        let interpreter = place.path().join("bin/java");
        fs::write(&interpreter, format!("#!/bin/sh\nexec {program} {option} \"$@\"\n")).unwrap();
        fs::set_permissions(&interpreter, fs::Permissions::from_mode(0o755)).unwrap();
        write(place.path(), like, interpreter.to_str().unwrap());
        let probe = place.path().display();
        let said = real.run(&format!("run {mechanism} --probe {probe} --rounds 1 --batches 10 --format jsonl"));
        // Each start that answered has it; on a busy machine the last one may not have.
        assert!(said.out.contains(words), "{like}: {said:?}");
    }
}
