//! `compare --git`: two revisions are checked out, built, measured in turns, and gone.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use switchcost_e2e::{BY_CTRL_C, Said, World, probe, told, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A repository with two commits, the second of a branch.
struct Repository {
    world: World,
}

impl Repository {
    fn new() -> Self {
        let world = World::new(FAKE);
        world.write("repo/sub/probe.toml", &probe("mine", FAKE, 100));
        let repository = Self { world };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit("first");
        repository.git(&["checkout", "--quiet", "-b", "change"]);
        repository.world.write("repo/sub/second", "");
        repository.commit("second");
        repository
    }

    fn folder(&self) -> PathBuf {
        self.world.path("repo")
    }

    fn commit(&self, what: &str) {
        self.git(&["add", "--all"]);
        self.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", what]);
    }

    fn git(&self, words: &[&str]) -> String {
        let said = Command::new("git").args(words).current_dir(self.folder()).output().unwrap();
        assert!(said.status.success(), "{words:?}: {said:?}");
        String::from_utf8(said.stdout).unwrap()
    }

    fn command(&self, words: &[&str], folder: &str) -> Command {
        let mut command = self.world.command(&[&["compare"], words].concat());
        command.current_dir(self.folder().join(folder));
        command
    }

    fn compare(&self, words: &[&str]) -> Said {
        self.command(words, "").output().unwrap().into()
    }

    /// Neither a folder nor a word in the repository is left.
    fn is_clean(&self) {
        let cache = self.world.path("cache/switchcost/revisions");
        let left: Vec<PathBuf> =
            std::fs::read_dir(cache).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert!(!self.folder().join(".git/worktrees").exists());
    }
}

const SHORT: [&str; 4] = ["--rounds", "6", "--budget", "600s"];

#[test]
fn two_revisions_are_built_measured_and_gone() {
    let repository = Repository::new();
    let log = repository.world.path("log").display().to_string();
    let build =
        format!("git rev-parse HEAD >>{log}; ls sub >>{log}; mkdir -p build/probe; cp sub/probe.toml build/probe/");
    let ask = ["--git", "main..HEAD", "--build", &build, "--probe", "build/probe", "thread/honest"];
    let said = repository.compare(&[&ask, &SHORT[..], &["--gate", "5%", "--format", "json"]].concat());
    assert!([0, 7].contains(&said.status), "{said:?}");
    let json = said.json();
    let labels = ["a", "b"].map(|side| json["comparisons"][0][side]["label"].as_str().unwrap().to_owned());
    assert!(labels[0].contains("mine.a") && labels[1].contains("mine.b"), "{labels:?}");
    assert_eq!(json["comparisons"][0]["ratio"], 1.0);
    assert!(json["notes"].to_string().contains("A is main ("), "{json}");
    let commits = ["main", "HEAD"].map(|end| repository.git(&["rev-parse", end]).trim().to_owned());
    let built = std::fs::read_to_string(&log).unwrap();
    let lines = [commits[0].as_str(), "probe.toml", &commits[1], "probe.toml", "second"];
    assert_eq!(built.lines().collect::<Vec<_>>(), lines);
    assert!(said.err.contains(&format!("building HEAD ({})", &commits[1][..10])), "{said:?}");
    let run = repository.world.run("export").out;
    assert!(run.contains(&format!("{}:build/probe", &commits[0][..10])), "{run}");
    repository.is_clean();
    // From a folder within, the command and the probe lie there; what is kept stays.
    let words =
        ["--git", "main..", "--build", "mkdir own; cp probe.toml own", "--probe", "own", "--keep", "thread/honest"];
    let said = Said::from(repository.command(&[&words, &SHORT[..]].concat(), "sub").output().unwrap());
    assert!(said.status == 0 && said.err.contains("kept: "), "{said:?}");
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 3);
    let again = repository.compare(&[&ask, &SHORT[..]].concat());
    assert!(again.status == 0 && repository.git(&["worktree", "list"]).lines().count() == 3, "{again:?}");
}

#[test]
fn what_cannot_be_built_is_one_sentence_and_leaves_nothing() {
    let repository = Repository::new();
    let refuses = |range: &str, rest: &[&str], words: &[&str]| {
        let said = repository.compare(&[&["--git", range, "thread/honest"], rest].concat());
        said.refuses(2, words);
        repository.is_clean();
        said
    };
    let here = ["--probe", "sub"];
    refuses("main", &here, &["--git main: it is two revisions with .. between, such as main..HEAD"]);
    refuses("main...HEAD", &here, &["it is two revisions with .. between"]);
    refuses("main..nowhere", &here, &["git knows no revision `nowhere` here"]);
    refuses("main..HEAD", &["--probe", "sub", "--probe", "sub"], &["--git", "once"]);
    refuses("main..HEAD", &["--probe", "/tmp"], &["--probe is a path within the repository"]);
    refuses("main..HEAD", &["--probe", "none"], &["main has no folder none once it is built"]);
    let failing = "for i in $(seq 30); do echo line $i; done; echo broken >&2; exit 3";
    let said =
        refuses("main..HEAD", &["--probe", "sub", "--build", failing], &["fails for main; its last lines stand above"]);
    assert!(said.err.contains("broken") && said.err.contains("line 30") && !said.err.contains("line 2\n"), "{said:?}");
    repository.world.write("repo/sub/second", "changed");
    refuses("main..HEAD", &here, &["sub/second has changes that no commit has; commit or stash them"]);
    let mut elsewhere = repository.world.command(&["compare", "--git", "a..b", "--probe", "sub", "thread/honest"]);
    elsewhere.current_dir(repository.world.path("share")).env("GIT_CEILING_DIRECTORIES", repository.world.path(""));
    Said::from(elsewhere.output().unwrap()).refuses(2, &["this folder is in no work tree of git"]);
    repository.world.run("compare thread/honest --build make").refuses(2, &["--git"]);
    assert!(!repository.world.store().exists());
}

#[test]
fn ctrl_c_leaves_nothing() {
    let repository = Repository::new();
    let log = repository.world.path("log");
    let sleeping = format!("echo $$ >>{}; exec sleep 1000", log.display());
    let words = ["--git", "main..HEAD", "--probe", "sub", "--build", &sleeping, "thread/honest"];
    let mut child = repository.command(&words, "").stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    until("the build", || std::fs::read_to_string(&log).is_ok_and(|log| log.ends_with('\n')));
    let kill = |pid: u32| Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap();
    kill(child.id());
    assert_eq!(told(child.wait().unwrap()), BY_CTRL_C);
    repository.is_clean();
    let shell = std::fs::read_to_string(&log).unwrap().trim().to_owned();
    assert!(!PathBuf::from(format!("/proc/{shell}")).exists(), "the build goes on");
    // While it measures.
    let words = ["--git", "main..HEAD", "--probe", "sub", "thread/honest", "--rounds", "2000", "--budget", "600s"];
    let mut child = repository.command(&words, "").stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    until("a stored run", || repository.world.store().exists() && repository.world.run("show latest").status != 2);
    kill(child.id());
    assert_eq!(told(child.wait().unwrap()), BY_CTRL_C);
    repository.is_clean();
}

/// A command that was killed cleans nothing up: the next does.
#[test]
fn what_a_killed_command_left_is_removed_by_the_next() {
    let repository = Repository::new();
    let log = repository.world.path("log");
    let sleeping = format!("echo $$ >>{}; exec sleep 1000", log.display());
    let words = ["--git", "main..HEAD", "--probe", "sub", "--build", &sleeping, "thread/honest"];
    let mut child = repository.command(&words, "").stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    until("the build", || std::fs::read_to_string(&log).is_ok_and(|log| log.ends_with('\n')));
    child.kill().unwrap();
    child.wait().unwrap();
    let shell = PathBuf::from(format!("/proc/{}", std::fs::read_to_string(&log).unwrap().trim()));
    until("the end of the build", || !shell.exists());
    let said = repository.compare(&["--git", "main..none", "--probe", "sub", "thread/honest"]);
    said.refuses(2, &["`none`"]);
    let said = repository.compare(&[&["--git", "main..HEAD", "--probe", "sub", "thread/honest"], &SHORT[..]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    repository.is_clean();
}
