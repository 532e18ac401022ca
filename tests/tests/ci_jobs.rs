//! The jobs of docs/ci.md for a folder that `new-probe` made, carried out word by word with an
//! installation as a package has it, as the executors do: GitHub's container job, where the
//! workspace is another user's, and GitLab's docker executor, root with umask 0000. And the comment
//! on a pull request.

use crate::ci::{Runner, action, yaml};
use crate::real::real;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use switchcost_e2e::{Real, Said, repository};
use tempfile::TempDir;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// The jobs of the page whose first words are these.
fn job(place: &Path, begins: &str) -> Option<Value> {
    let page = fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).map(|block| block.split("```").next().unwrap());
    let block = blocks.filter(|block| block.starts_with(begins)).collect::<Vec<_>>();
    assert_eq!(block.len(), 1, "{begins}");
    let file = place.join("job.yml");
    fs::write(&file, block[0]).unwrap();
    yaml(&file)
}

fn program(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// An archive of an installation with the native probe and its kit, which a fake curl "downloads".
/// None where its tools or its kit are not here.
fn archive(place: &Path) -> Option<()> {
    let target = Path::new(FAKE).ancestors().nth(2).unwrap();
    let probes = fs::read_dir(target.join("libexec/switchcost/probes")).ok()?;
    let native = probes.flatten().map(|entry| entry.file_name().into_string().unwrap());
    let native = native.filter(|name| name.starts_with("gcc-") && !name.ends_with("-static")).max()?;
    if !target.join("libexec/switchcost/kit/cpp/flags.mk").is_file() {
        switchcost_e2e::untested(&format!("{}the kit for C++ is not staged", switchcost_e2e::OWN));
        return None;
    }
    let whole = place.join("switchcost-1");
    for folder in ["bin", "libexec/switchcost/probes", "libexec/switchcost/kit"] {
        fs::create_dir_all(whole.join(folder)).unwrap();
    }
    fs::copy(Path::new(FAKE).with_file_name("switchcost"), whole.join("bin/switchcost")).unwrap();
    for part in [&format!("libexec/switchcost/probes/{native}"), "libexec/switchcost/kit/cpp", "share"] {
        symlink(target.join(part), whole.join(part)).unwrap();
    }
    let file = place.join("switchcost.tar.gz");
    let packed = Command::new("tar").arg("-chzf").arg(&file).arg("switchcost-1").current_dir(place).status().unwrap();
    assert!(packed.success());
    let to = "to=; for word; do case $last in --output | -fLo) to=$word ;; esac; last=$word; done";
    program(&place.join("fakes/curl"), &format!("#!/bin/sh\nlast= {to}\ncp '{}' \"$to\"\n", file.display()));
    Some(())
}

/// A new probe as it is checked in: nothing built, no link to a kit.
fn checked_in(real: &Real, folder: &Path) {
    let said = real.run(&format!("new-probe {} --language cpp", folder.display()));
    assert_eq!(said.status, 0, "{said:?}");
    fs::remove_file(folder.join("kit")).unwrap();
    for file in ["Makefile", "probe.cpp", "probe.toml"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let kit = Path::new(FAKE).ancestors().nth(2).unwrap().join("libexec");
        assert!(!text.contains(kit.to_str().unwrap()), "{file} names a kit of this machine");
    }
}

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_job_for_github_works_in_a_container() {
    let Some(real) = real() else { return };
    let place = place();
    let (Some(action), Some(workflow), Some(())) =
        (action(), job(place.path(), "name: switches\n"), archive(place.path()))
    else {
        return;
    };
    let work = place.path().join("work");
    for side in ["base", "head"] {
        checked_in(&real, &work.join(side).join("tiny"));
    }
    // As a runner's files are in a container; only root can give them away.
    let _ = Command::new("chown").args(["-R", "1001:1001"]).arg(&work).status();
    let steps = workflow["jobs"]["switches"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["uses"] == "OWNER/switchcost@v1").unwrap();
    let inputs = step["with"].as_object().unwrap().iter();
    let mut inputs: Vec<(&str, &str)> = inputs.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
    inputs.push(("rounds", "6"));
    let runner = Runner::new(place.path(), &action, &inputs);
    for step in ["install", "build", "doctor"] {
        let said = runner.step(step);
        assert_eq!(said.status, 0, "{step}: {said:?}");
    }
    let said = runner.step("compare");
    assert!([0, 1, 7].contains(&said.status), "{said:?}");
    assert!(said.out.contains("stack/tiny") && said.out.contains("(gate 5 %)"), "{said:?}");
    assert!(fs::read_to_string(work.join("switchcost-junit.xml")).unwrap().contains("stack/tiny"));
}

#[test]
#[ignore = "suite recipes"]
fn the_job_for_gitlab_works_as_root_with_an_open_umask() {
    let Some(real) = real() else { return };
    let place = place();
    let (Some(workflow), Some(())) = (job(place.path(), "switches:\n"), archive(place.path())) else { return };
    let origin = place.path().join("origin");
    checked_in(&real, &origin.join("tiny"));
    let job = &workflow["switches"];
    let lines = |key: &str| -> Vec<String> {
        job[key].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    };
    let git = "git -c user.name=x -c user.email=x@example.org";
    let script = [
        vec![
            "umask 0000".to_owned(),
            format!("cd '{}' && git init -q && {git} add . && {git} commit -qm one", origin.display()),
            format!("cd '{0}' && git clone -q origin project && cd project", place.path().display()),
            "export CI_PROJECT_DIR=\"$PWD\" CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD)".to_owned(),
            format!("export SWITCHCOST_TRUST={}", job["variables"]["SWITCHCOST_TRUST"].as_str().unwrap()),
        ],
        lines("before_script"),
        lines("script"),
    ]
    .concat();
    let path = format!("{}:{}", place.path().join("fakes").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-ec", &script.join("\n")])
        .env("HOME", place.path())
        .env("PATH", path)
        .env_remove("SWITCHCOST_LIBEXEC");
    let said: Said = command.output().unwrap().into();
    assert!([0, 1, 7].contains(&said.status), "{said:?}");
    assert!(
        fs::read_to_string(place.path().join("project/switchcost.xml")).unwrap().contains("stack/tiny"),
        "{said:?}"
    );
}

/// Without the variable such folders are refused, all their files in one sentence.
#[test]
fn files_that_others_may_write_are_named_at_once() {
    let Some(real) = real() else { return };
    let place = place();
    let folder: PathBuf = place.path().join("tiny");
    fs::create_dir_all(&folder).unwrap();
    let id = "id = \"tiny\"\ntitle = \"t\"\nsource = \"tiny\"\ncommand = [\"./probe\"]\nstart_timeout_ms = 1000\n";
    fs::write(folder.join("probe.toml"), id).unwrap();
    program(&folder.join("probe"), "#!/bin/sh\n");
    for file in ["", "probe", "probe.toml"] {
        fs::set_permissions(folder.join(file), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let both = format!("--probe {0} --probe {0}", folder.display());
    real.run(&format!("compare --measure stack/tiny {both}")).refuses(2, &["probe, probe.toml", "SWITCHCOST_TRUST"]);
    let mut command = real.command(&format!("compare --measure stack/tiny {both}"));
    let said: Said = command.env("SWITCHCOST_TRUST", place.path()).output().unwrap().into();
    assert!(!said.err.contains("can be written"), "{said:?}");
    let mut command = real.command(&format!("compare --measure stack/tiny {both}"));
    let said: Said = command.env("SWITCHCOST_TRUST", folder.join("deeper")).output().unwrap().into();
    said.refuses(2, &["can be written"]);
}

#[test]
fn a_pull_request_has_one_comment() {
    let place = place();
    let at = |name: &str| place.path().join(name);
    program(
        &at("fakes/gh"),
        "#!/bin/sh\ncd \"$(dirname \"$0\")/..\"\ncase \"$*\" in\n*/pulls/7*) echo abc ;;\n*--paginate*) cat own ;;\n*)\n\
         echo \"$*\" | sed 's/body=.*//' >>log\nfor word; do case $word in body=@*) cp \"${word#body=@}\" posted ;; esac; done ;;\nesac\n",
    );
    fs::write(at("own"), "").unwrap();
    fs::write(at("log"), "").unwrap();
    let post = |number: &str, head: &str, body: &str| -> Said {
        fs::create_dir_all(at("comment")).unwrap();
        fs::write(at("comment/number"), number).unwrap();
        fs::write(at("comment/body.md"), body).unwrap();
        let mut command = Command::new(repository().join("contrib/github/comment"));
        let path = format!("{}:{}", at("fakes").display(), std::env::var("PATH").unwrap());
        command.arg(at("comment")).env("PATH", path).env("GITHUB_REPOSITORY", "me/lib").env("HEAD_SHA", head);
        command.output().unwrap().into()
    };
    assert_eq!(post("7\n", "abc", "PASS (gate 5 %) @you stack/tiny@gcc").status, 0);
    let posted = fs::read_to_string(at("posted")).unwrap();
    assert_eq!(posted, "<!-- switchcost -->\nPASS (gate 5 %) @<!-- -->you stack/tiny@gcc");
    fs::write(at("own"), "55\n").unwrap();
    assert_eq!(post("7", "abc", "again").status, 0);
    let log = fs::read_to_string(at("log")).unwrap();
    let calls: Vec<&str> = log.lines().map(str::trim).collect();
    let create = "api --method POST repos/me/lib/issues/7/comments -F";
    assert_eq!(calls, [create, "api --method PATCH repos/me/lib/issues/comments/55 -F"]);
    assert_eq!(post("7", "def", "x").status, 1, "the commit of another run");
    for number in ["", "7; rm", "../7"] {
        assert_eq!(post(number, "abc", "x").status, 2, "{number}");
    }
    assert_eq!(fs::read_to_string(at("log")).unwrap(), log, "a refused comment is not posted");
}
