//! Mistakes that claim to be mechanisms (`probes/native/negative`), with the kit's evidence as it
//! is: each must be found.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use switchcost_e2e::{OWN, Said, repository, untested};
use tempfile::TempDir;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A mistake, and what must become of it.
struct Mistake {
    name: &'static str,
    mechanism: &'static str,
    contexts: u64,
    experiment: &'static str,
    placement: &'static str,
    /// Of `switchcost run`, beside these.
    asked: &'static str,
    /// Where its evidence differs from an honest one, and how; none where no field of it need
    /// differ, or where there is no evidence.
    shows: Option<(&'static str, Value)>,
    verdict: &'static str,
    /// Where others have its CPUs it may take so long that it is killed, and no figure stands.
    spins: bool,
}

impl Mistake {
    fn contradicted(name: &'static str, mechanism: &'static str) -> Self {
        Self {
            name,
            mechanism,
            contexts: 2,
            experiment: "switch",
            placement: "one_cpu",
            asked: "",
            shows: None,
            verdict: "contradicted",
            spins: false,
        }
    }

    fn contexts(self, contexts: u64) -> Self {
        Self { contexts, ..self }
    }

    /// A waiter of experiment wakeup, with these parameters.
    fn waiter(name: &'static str, asked: &'static str) -> Self {
        Self { asked, experiment: "wakeup", ..Self::contradicted(name, "thread/timer").contexts(1) }
    }

    fn on_two_cpus(self) -> Self {
        Self { placement: "two_cpus", ..self }
    }

    fn shows(self, field: &'static str, value: impl Into<Value>) -> Self {
        Self { shows: Some((field, value.into())), ..self }
    }
}

fn mistakes() -> Vec<Mistake> {
    vec![
        Mistake::waiter("clipped-lateness", "--param hogs=4"),
        // So that no wake-up ever ends the row.
        Mistake::waiter("clipped-lateness", "--param hogs=4 --stop-at 200us"),
        Mistake::contradicted("clone-vm", "process/pipe").contexts(4).shows("/address_spaces", 1),
        Mistake::contradicted("doubled-contexts", "stack/asm").contexts(6).shows("/counts/distinct_stacks", 3),
        // The host alone finds it, by the time that the gaps must take.
        Mistake {
            experiment: "gap",
            asked: "--param gap=50000",
            ..Mistake::contradicted("half-gap", "thread/futex").contexts(1).on_two_cpus()
        },
        // Its kernel switches are in the range of an honest pair; the time that both contexts are
        // busy is not.
        Mistake { spins: true, ..Mistake::contradicted("half-spun", "thread/futex").on_two_cpus() },
        Mistake::waiter("from-wake-before", "--param hogs=4"),
        // The host alone finds it: no task's calls pass a filter.
        Mistake::contradicted("no-wall", "sandbox/pipe"),
        Mistake::contradicted("one-cpu", "thread/futex").on_two_cpus().shows("/cpus", json!([0])),
        Mistake::waiter("other-class", "--param class=batch"),
        Mistake::contradicted("processes-for-threads", "thread/pipe").shows("/address_spaces", 2),
        Mistake::contradicted("resolved-handle", "coroutine/cpp20").shows("/counts/distinct_frames", 1),
        Mistake::waiter("skipped-periods", "--param hogs=4"),
        // The kit's own check of the tokens finds it; the probe says that it failed.
        Mistake { verdict: "broken", ..Mistake::contradicted("skipped-switch", "stack/asm") },
        Mistake::waiter("spun-timer", ""),
        Mistake::waiter("stopped-hogs", "--param hogs=2"),
        Mistake::contradicted("two-of-many", "process/pipe").contexts(10).shows("/address_spaces", 2),
        // The host alone finds it: no epoll instance is open.
        Mistake::contradicted("unasked-epoll", "thread/epoll-eventfd"),
        // The host alone finds it: no thread of the kernel looks for requests.
        Mistake::contradicted("unpolled-ring", "thread/io-uring-sqpoll").on_two_cpus(),
        // Its product is right: the host alone finds it, by the CPU time that is not there.
        Mistake {
            mechanism: "thread/server",
            experiment: "serve",
            ..Mistake::waiter("undone-work", "--param load=80")
        },
    ]
}

/// `target`, where `scripts/build-probes` stages.
fn target() -> PathBuf {
    Path::new(FAKE).ancestors().nth(2).unwrap().to_owned()
}

/// Staged builds of a mistake, one a compiler; empty where nothing was built.
fn staged(mistake: &Mistake) -> Vec<String> {
    let folders = std::fs::read_dir(target().join("negative-probes")).into_iter().flatten().flatten();
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.filter(|name| name.starts_with(&format!("{}-", mistake.name))).collect();
    found.sort();
    if found.is_empty() {
        untested(&format!("{OWN}no probe of the mistake {} is staged", mistake.name));
    }
    found
}

/// The evidence that a mistake gives of itself, without the host.
fn evidence(mistake: &Mistake, probe: &str) -> Option<Value> {
    let cpus = if mistake.placement == "two_cpus" { "0,1" } else { "0" };
    let script =
        r#"probe=$1 name=$2 words=$3; shift 3; exec "$probe" "$name" run $("$probe" "$name" describe | "$words" "$@")"#;
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(target().join("negative-probes").join(probe).join("probe"))
        .arg(mistake.name)
        .arg(repository().join("probes/words"))
        .args(["batches=3", "batch_ns=100000"])
        .arg(format!("mechanism={}", mistake.mechanism))
        .arg(format!("experiment={}", mistake.experiment))
        .arg(format!("contexts={}", mistake.contexts))
        .arg(format!("cpus={cpus}"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    messages.find(|message| message["t"] == "evidence")
}

#[test]
fn evidence_of_mistakes_differs_from_an_honest_one() {
    let two_cpus = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    for mistake in mistakes() {
        if mistake.placement == "two_cpus" && !two_cpus {
            continue;
        }
        for probe in staged(&mistake) {
            let evidence = evidence(&mistake, &probe);
            match (&mistake.shows, mistake.verdict) {
                (_, "broken") => assert!(evidence.is_none(), "{probe} gives evidence: {evidence:?}"),
                (Some((field, value)), _) => {
                    let evidence = evidence.unwrap_or_else(|| panic!("{probe} gives no evidence"));
                    assert_eq!(evidence.pointer(field), Some(value), "{probe}, {field}: {evidence}");
                }
                (None, _) => assert!(evidence.is_some(), "{probe} gives no evidence"),
            }
        }
    }
}

/// An installation whose only probes are the mistakes.
fn installation() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("libexec/switchcost")).unwrap();
    std::os::unix::fs::symlink(target().join("negative-probes"), folder.path().join("libexec/switchcost/probes"))
        .unwrap();
    std::os::unix::fs::symlink(target().join("share"), folder.path().join("share")).unwrap();
    folder
}

/// What `run` says of a mistake.
fn said(folder: &TempDir, mistake: &Mistake, probe: &str, format: &str) -> Said {
    let Mistake { mechanism, contexts, experiment, placement, asked, .. } = mistake;
    let sizes = if *contexts == 1 {
        format!("--experiment {experiment}")
    } else {
        format!("--contexts {contexts} --batches 20 --batch-time 1ms")
    };
    let arguments =
        format!("run {mechanism} --probe {probe} --placement {placement} --rounds 1 {sizes} {asked} {format}");
    let output = Command::new(Path::new(FAKE).with_file_name("switchcost"))
        .args(arguments.split_whitespace())
        .env("SWITCHCOST_LIBEXEC", folder.path().join("libexec/switchcost"))
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Said::from(output)
}

/// What no host can find is told and shown: it makes the probe look worse, and its row says what is
/// not known of it.
#[test]
fn a_lateness_that_nobody_had_is_told_and_shown() {
    let mistake = Mistake::waiter("invented-lateness", "--stop-at 4ms");
    let folder = installation();
    for probe in staged(&mistake) {
        let said = said(&folder, &mistake, &probe, "");
        let unexplained = said.words().contains("in none of these") || said.words().contains("are not known: ");
        assert!(said.words().contains("later than 4.00 ms") && unexplained, "{probe}: {said:?}");
    }
}

#[test]
fn mistakes_get_their_verdicts() {
    let folder = installation();
    for mistake in mistakes() {
        for probe in staged(&mistake) {
            let rows = said(&folder, &mistake, &probe, "--format json").json();
            // Controls that bound it are also rows; none of these probes has one.
            let of_mistake = |row: &&Value| row["mechanism"] == mistake.mechanism;
            let of_mistake: Vec<&Value> = rows["results"].as_array().unwrap().iter().filter(of_mistake).collect();
            assert!(!of_mistake.is_empty(), "{probe} has no row: {rows}");
            for row in of_mistake {
                let killed = mistake.spins
                    && row["reason"].as_str().is_some_and(|reason| reason.starts_with("no answer within"));
                // Beside others a waiter's row may have no figure either way, and a gap's may not
                // be believed.
                let unseen = row["median"].is_null() || mistake.experiment == "gap" && row["verdict"] == "unobservable";
                let none = mistake.contexts == 1 && unseen && row["verdict"] != "verified";
                assert!(row["verdict"] == mistake.verdict || killed || none, "{probe}: {row}");
            }
        }
    }
}
