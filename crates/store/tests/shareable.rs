//! What strangers get to see.

use crate::support::{arbitrary_run, export, full_run, import, text_map};
use proptest::prelude::*;
use switchcost_model::{Broken, Disturbance, Fault, Reason, Run, Severity, Throttle};
use switchcost_store::strip_personal;

fn stripped(run: &Run) -> Run {
    let mut run = run.clone();
    strip_personal(&mut run);
    run
}

fn check_command(typed: &[&str], expected: &[&str]) {
    let mut run = full_run();
    run.command = typed.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(stripped(&run).command, expected);
}

fn check_log(log: &str, expected: &str) {
    let mut run = full_run();
    run.machine.personal = text_map([("host", "bobs-box"), ("login", "bob"), ("uid", "1000"), ("shell", "sh")]);
    run.invocations[0].log = log.to_owned();
    assert_eq!(stripped(&run).invocations[0].log, expected);
}

#[test]
fn the_home_of_root() {
    check_log("'--prefix=/root/.pyenv/3.11' -L/root/lib /root/x", "'--prefix=~/.pyenv/3.11' -L~/lib ~/x");
    check_log("/srv/root/x ./root/y", "/srv/root/x ./root/y");
}

#[test]
fn paths_of_the_command() {
    check_command(
        &[
            "/home/bob/.cargo/bin/switchcost",
            "run",
            "thread/pipe",
            "thread/*",
            "*/pipe",
            "stack/asm@gcc-12",
            "--rounds=3",
        ],
        &["switchcost", "run", "thread/pipe", "thread/*", "*/pipe", "stack/asm@gcc-12", "--rounds=3"],
    );
    check_command(
        &[
            "C:\\bob\\switchcost.exe",
            "compare",
            "/tmp/a",
            "./b",
            "../c",
            "results/mine",
            "~/x",
            "--store=/data/bob.sqlite",
        ],
        &["switchcost.exe", "compare", "<path>", "<path>", "<path>", "<path>", "<path>", "--store=<path>"],
    );
    check_command(
        &[
            "switchcost",
            "run",
            "thread/pipe two_cpus each",
            "thread/pipe contexts=4 reads=bare",
            "thread/timer nice=-10",
            "thread/my secret",
            "/tmp/a free",
        ],
        &[
            "switchcost",
            "run",
            "thread/pipe two_cpus each",
            "thread/pipe contexts=4 reads=bare",
            "thread/timer nice=-10",
            "<path>",
            "<path>",
        ],
    );
    check_command(&["switchcost", "import", "secret.jsonl", "-o=x"], &["switchcost", "import", "<path>", "-o=x"]);
    check_command(&[], &[]);
}

#[test]
fn homes_and_names_in_texts() {
    check_log("at /home/bob/src/a.c:7", "at ~/src/a.c:7");
    check_log("-I/home/alice/include,/var/home/carol", "-I~/include,~");
    check_log("'/Users/Zoë K/x' C:\\Users\\bob\\x", "'~ K/x' C:~\\x");
    check_log("see alice, at /home/alice", "see <removed>, at ~");
    check_log("bob@bobs-box: bobsled, kebob, bob", "<removed>@<removed>: bobsled, kebob, <removed>");
    check_log("/home/ 1000 sh", "/home/ 1000 sh");
    check_log("/root/x /homely/x", "~/x /homely/x");
    check_log("", "");
}

#[test]
fn every_free_text_is_searched() {
    let secret = "/home/bob/x on bobs-box";
    let mut run = full_run();
    let machine = &mut run.machine;
    machine.stable.insert("flags".to_owned(), secret.to_owned());
    machine.drifting.insert("cwd".to_owned(), secret.to_owned());
    let finding = &mut machine.findings[0];
    assert_eq!(finding.severity, Severity::Warning);
    finding.facts.values_mut().for_each(|value| *value = secret.to_owned());
    run.command.push(format!("--note={secret}"));
    let told = Reason::Unsupported { detail: secret.to_owned() };
    run.not_run.insert(2, told.clone());
    let invocation = &mut run.invocations[0];
    invocation.judgement.reason = Some(Reason::InSomeStarts { reason: Box::new(told), starts: 1, of: 2 });
    let text = || secret.to_owned();
    let heat = Throttle::Heat { file: text(), cpu: 0, times: 1 };
    let frequency = Disturbance::Frequency { file: text(), cpu: 0, before: text(), after: text() };
    invocation.disturbances = vec![Disturbance::Throttled(heat), frequency];
    invocation.log = secret.to_owned();
    let transcript = &mut invocation.transcript;
    transcript.notes.push(secret.to_owned());
    let cause = secret.to_owned();
    transcript.fault = Some(Fault { line: 3, broken: Broken::Unread { message: "end".into(), cause } });
    transcript.end.as_mut().unwrap().detail = Some(secret.to_owned());
    let hello = transcript.hello.as_mut().unwrap();
    (hello.flags, hello.compiler, hello.runtime) =
        (Some(secret.to_owned()), Some(secret.to_owned()), secret.to_owned());
    let evidence = transcript.evidence.as_mut().unwrap();
    evidence.why.insert("token".to_owned(), secret.to_owned());
    evidence.kernel.as_mut().unwrap().source = secret.to_owned();

    let file = String::from_utf8(export(&stripped(&run))).unwrap();
    assert!(!file.contains("bob") && !file.contains("/home"), "{file}");
    assert!(file.contains("\"personal\":{}"));
}

#[test]
fn results_stay_as_they_are() {
    let (before, after) = (full_run(), stripped(&full_run()));
    assert_eq!(after.machine.stable, before.machine.stable);
    assert_eq!((&after.id, &after.variants, &after.not_run), (&before.id, &before.variants, &before.not_run));
    assert_eq!(after.invocations, before.invocations);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_run_can_be_stripped_and_exported(run in arbitrary_run()) {
        let once = stripped(&run);
        prop_assert_eq!(&import(&export(&once)).unwrap(), &once);
        prop_assert_eq!(&stripped(&once), &once);
        prop_assert!(once.machine.personal.is_empty());
    }
}
