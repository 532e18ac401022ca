//! The action's steps with a runner's environment, the shell lines of docs/ci.md, and two builds of
//! a probe side by side.
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use switchcost_e2e::{Said, World, mechanism, probe, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world with two builds of the fake probe and an archive of an installation.
fn world() -> World {
    let world = World::new(FAKE);
    for side in ["base", "head"] {
        world.write(&format!("work/{side}/probe.toml"), &probe("fake", FAKE, 100));
    }
    let installation = world.path("switchcost-1");
    fs::create_dir_all(installation.join("bin")).unwrap();
    fs::copy(Path::new(FAKE).with_file_name("switchcost"), installation.join("bin/switchcost")).unwrap();
    for part in ["libexec", "share"] {
        symlink(world.path(part), installation.join(part)).unwrap();
    }
    let packed = Command::new("tar")
        .args(["-chzf", "work/switchcost.tar.gz", "switchcost-1"])
        .current_dir(world.path("."))
        .status()
        .unwrap();
    assert!(packed.success());
    world
}

/// The action, parsed. None, said aloud, where PyYAML is not here.
pub(super) fn action() -> Option<Value> {
    yaml(&repository().join("action.yml"))
}

/// A file of YAML, parsed; None as above.
pub(super) fn yaml(file: &Path) -> Option<Value> {
    let top = repository();
    let readers = top.join("target/runtimes/readers");
    if !readers.join("yaml").is_dir() {
        switchcost_e2e::untested("PyYAML is not here: scripts/setup test could not install it");
        return None;
    }
    let said = Command::new("python3")
        .arg(top.join("tests/readers/action.py"))
        .arg(file)
        .env("PYTHONPATH", readers)
        .output()
        .unwrap();
    Some(Said::from(said).json())
}

/// What a runner gives the steps of one job, and what they leave: the workspace `work`, its own
/// folder `runner`, and in `fakes` programs that come first.
pub(super) struct Runner {
    place: PathBuf,
    action: Value,
    inputs: Vec<(String, String)>,
}

impl Runner {
    pub(super) fn new(place: &Path, action: &Value, inputs: &[(&str, &str)]) -> Self {
        fs::create_dir_all(place.join("runner")).unwrap();
        for file in ["path", "output", "summary"] {
            fs::write(place.join("runner").join(file), "").unwrap();
        }
        let inputs = inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { place: place.to_owned(), action: action.clone(), inputs }
    }

    /// The value of an expression as the runner would give it: an input, or the folder of the
    /// action.
    fn value(&self, expression: &str) -> String {
        let name = expression.trim_start_matches("${{").trim_end_matches("}}").trim();
        if name == "github.action_path" {
            return repository().display().to_string();
        }
        let name = name.strip_prefix("inputs.").unwrap_or_else(|| panic!("what is {expression}?"));
        let given = self.inputs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        given.unwrap_or_else(|| self.action["inputs"][name]["default"].as_str().unwrap().to_owned())
    }

    /// Runs a step as a runner does.
    pub(super) fn step(&self, id: &str) -> Said {
        let steps = self.action["runs"]["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["id"] == id).unwrap();
        assert_eq!(step["shell"], "bash");
        let path = self.left("path");
        let before = format!("{}:{}", self.place.join("fakes").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
        command.current_dir(self.place.join("work")).env_clear();
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, self.value(value.as_str().unwrap()));
        }
        let file = |name: &str| self.place.join("runner").join(name);
        command
            .env("PATH", format!("{}:{before}", path.trim()))
            .env("HOME", self.place.join("."))
            .env("RUNNER_TEMP", self.place.join("runner"))
            .env("GITHUB_WORKSPACE", self.place.join("work"))
            .env("GITHUB_PATH", file("path"))
            .env("GITHUB_OUTPUT", file("output"))
            .env("GITHUB_STEP_SUMMARY", file("summary"));
        command.output().unwrap().into()
    }

    pub(super) fn left(&self, name: &str) -> String {
        fs::read_to_string(self.place.join("runner").join(name)).unwrap()
    }
}

/// Which outcome the gate has, the machine decides where others disturb it; that all that is
/// written agrees does not depend on it.
#[test]
fn the_action_ends_by_its_gate_and_says_so_everywhere() {
    let (world, Some(action)) = (world(), action()) else { return };
    let builds = [("rows", "thread/honest"), ("base", "base"), ("head", "head")];
    let slower = [("rows", "  thread/honest ticks=1000\n\n  thread/honest ticks=1300\n"), ("base", ""), ("head", "")];
    let unknown = [("rows", "thread/honst"), ("base", "base"), ("head", "head")];
    let git = "git init -q && git add head && git -c user.name=a -c user.email=a@b commit -qm a";
    assert!(Command::new("sh").args(["-c", git]).current_dir(world.path("work")).status().unwrap().success());
    let revisions = [("rows", "thread/honest"), ("git", "HEAD..HEAD"), ("head", "head")];
    for (inputs, likely) in [(builds, 0), (slower, 1), (unknown, 2), (revisions, 0)] {
        let more = [("archive", "switchcost.tar.gz"), ("rounds", "8"), ("budget", "600s"), ("junit", "report.xml")];
        let build = if inputs == revisions { "test -e head/probe.toml" } else { "" };
        let more = [&more[..], &[("build", build)]].concat();
        let runner = Runner::new(&world.path("."), &action, &[&inputs[..], &more].concat());
        let installed = runner.step("install");
        assert_eq!(installed.status, 0, "{installed:?}");
        let doctor = runner.step("doctor");
        assert_eq!(doctor.status, 0, "{doctor:?}");
        assert_eq!(
            doctor.out.contains("\n::warning title=switchcost doctor::FAIL (gate warning): "),
            doctor.out.contains("[warning]")
        );
        let said = runner.step("compare");
        assert!(said.status == likely || likely != 2 && said.status == 7, "{said:?}");
        let (outcome, level) = match said.status {
            0 => ("passed", "notice"),
            1 => ("failed", "error"),
            7 => ("inconclusive", "warning"),
            _ => ("error", "error"),
        };
        let last = said.out.lines().last().unwrap();
        assert!(last.starts_with(&format!("::{level} title=switchcost::")), "{last}");
        assert!(!last.replace("%25", "").contains('%'), "{last}");
        let gate = said.out.lines().find(|line| line.contains(" (gate 5 %)"));
        assert_eq!(gate.is_some(), likely != 2, "{said:?}");
        if let Some(gate) = gate {
            assert_eq!(last, format!("::{level} title=switchcost::{}", gate.replace('%', "%25")));
            assert!(runner.left("summary").contains(gate), "{}", runner.left("summary"));
        }
        let output = runner.left("output");
        let written = output.strip_prefix(&format!("outcome={outcome}\nstatus={}\njunit=report.xml\n", said.status));
        assert!(written.is_some_and(|rest| rest.starts_with("summary=") && rest.ends_with(".md\n")), "{output}");
        assert!(
            runner.left("summary").starts_with(&format!("## switchcost: {outcome}\n")),
            "{}",
            runner.left("summary")
        );
        assert_eq!(runner.left("summary").contains("\n|"), likely != 2, "{}", runner.left("summary"));
        if likely != 2 {
            assert!(fs::read_to_string(world.path("work/report.xml")).unwrap().contains("<testsuite "));
        }
    }
}

#[test]
fn the_action_fails_early_if_it_is_told_to() {
    let (world, Some(action)) = (world(), action()) else { return };
    let runner = Runner::new(&world.path("."), &action, &[("archive", "switchcost.tar.gz"), ("doctor", "fail")]);
    assert_eq!(runner.step("install").status, 0);
    let said = runner.step("doctor");
    let unfit = said.out.contains("[warning]");
    assert_eq!(
        (said.status, said.out.contains("::error title=switchcost doctor::")),
        (i32::from(unfit), unfit),
        "{said:?}"
    );
    let typo = Runner::new(&world.path("."), &action, &[("archive", "switchcost.tar.gz"), ("accept", "smd")]);
    assert_eq!((typo.step("install").status, typo.step("doctor").status), (0, 2));
}

/// Inputs reach the shell as variables only: in the text of a step they would be code. Outputs come
/// from steps that are there.
#[test]
fn the_action_is_well_formed() {
    let Some(action) = action() else { return };
    let text = fs::read_to_string(repository().join("action.yml")).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    assert_eq!(action["runs"]["using"], "composite");
    for step in steps {
        let run = step["run"].as_str().unwrap();
        assert!(!run.contains("${{"), "{run}");
        let shellcheck = Command::new("shellcheck")
            .args(["--shell=bash", "-"])
            .stdin(file(&format!("set -eo pipefail\n{run}")))
            .output();
        match shellcheck {
            Ok(said) => assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout)),
            Err(_) => println!("shellcheck is not here"),
        }
    }
    for input in action["inputs"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("${{{{ inputs.{input} }}}}")), "{input} is not used");
    }
    for output in action["outputs"].as_object().unwrap().values() {
        let value = output["value"].as_str().unwrap();
        assert!(
            steps.iter().any(|step| value.contains(&format!("steps.{}.", step["id"].as_str().unwrap()))),
            "{value}"
        );
    }
}

fn file(text: &str) -> fs::File {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    file
}

#[test]
fn the_shell_of_the_page_does_what_the_page_says() {
    let world = world();
    let page = fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let (_, rest) = page.split_once("```sh\n").unwrap();
    let (script, _) = rest.split_once("```").unwrap();
    let mut command = Command::new("sh");
    let plain = world.command(&[]);
    let program = Path::new(plain.get_program()).parent().unwrap().display().to_string();
    command.args(["-c", script]).env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", format!("{program}:{}", std::env::var("PATH").unwrap()));
    command.env("ROW", "thread/honest").env("BASE", "base").env("HEAD", "head").current_dir(world.path("work"));
    let said = Said::from(command.output().unwrap());
    assert!([0, 7].contains(&said.status), "{said:?}");
    let json: Value = serde_json::from_slice(&fs::read(world.path("work/switchcost.json")).unwrap()).unwrap();
    assert_eq!(json["gate"]["outcome"], if said.status == 0 { "passed" } else { "inconclusive" });
    let labels = ["a", "b"].map(|side| json["comparisons"][0][side]["label"].as_str().unwrap().to_owned());
    assert!(labels[0].contains("fake.a") && labels[1].contains("fake.b"), "{labels:?}");
    assert_eq!(json["comparisons"][0]["ratio"], 1.0);
    assert!(fs::read_to_string(world.path("work/switchcost.xml")).unwrap().contains(&labels[1]));
}

#[test]
fn two_builds_are_paired_by_what_both_have() {
    let world = world();
    let compare = |words: &str| world.run(&format!("compare --measure {words} --rounds 6 --budget 600s --format json"));
    let (a, b) = (world.path("work/base"), world.path("work/head"));
    let sides = format!("--probe {} --probe {}", a.display(), b.display());
    let said = compare(&format!("thread/honest thread/noise {sides}"));
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(said.json()["comparisons"].as_array().unwrap().len(), 2);
    compare(&format!("thread/honest --probe {}", a.display())).refuses(2, &["--probe", "once", "B's"]);
    compare(&format!("thread/honest {sides} --probe x")).refuses(2, &["--probe", "3 times"]);
    compare(&format!("thread/honest --probe {} --probe nowhere", a.display())).refuses(2, &["--probe nowhere"]);
    compare(&format!("thread/absent {sides}")).refuses(3, &["nothing to compare"]);
    world.run(&format!("compare thread/honest {sides}")).refuses(2, &["--measure"]);
}

/// A control that another program carries out bounds both builds, as it bounds the installed probe.
#[test]
fn builds_are_bounded_by_controls_of_other_probes() {
    let world = world();
    let page = |own: &str| mechanism("").replacen("placements", own, 1);
    let pages = "share/switchcost/mechanisms/thread";
    world.write(&format!("{pages}/honest.toml"), &page("bound = [\"thread/noise\"]\nplacements"));
    world.write(
        &format!("{pages}/noise.toml"),
        &mechanism("").replacen("[\"fake\"]", "[\"other\"]\ncontrol = true", 1).replacen("\"1000\"", "\"100\"", 1),
    );
    let other = probe("other", FAKE, 100).replacen("source = \"fake\"", "source = \"other\"", 1);
    world.write("libexec/switchcost/probes/other/probe.toml", &other);
    let sides = format!("--probe {} --probe {}", world.path("work/base").display(), world.path("work/head").display());
    let said = world.run(&format!("compare --measure thread/honest {sides} --rounds 6 --budget 600s"));
    assert_eq!(said.status, 0, "{said:?}");
    let rows = world.run("export latest --format json").json();
    let of =
        |probe: &str| rows["results"].as_array().unwrap().iter().find(|row| row["probe"] == probe).unwrap().clone();
    assert_eq!(["fake.a", "fake.b", "other"].map(|probe| of(probe)["verdict"].clone()), ["verified"; 3]);
}

/// `make test` names its test targets: one of another name would never be run.
#[test]
fn the_gate_runs_the_tests_of_every_crate() {
    let crates = std::fs::read_dir(repository().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let with_tests: Vec<_> = crates.filter(|path| path.join("tests").is_dir()).collect();
    assert!(
        with_tests.len() > 5
            && std::fs::read_to_string(repository().join("scripts/test")).unwrap().contains("--test all ")
    );
    for path in with_tests {
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[[test]]\nname = \"all\"\n"), "{}: its tests are not called `all`", path.display());
        let targets = manifest.matches("[[test]]").count();
        assert_eq!(targets, 1, "{}", path.display());
    }
}
