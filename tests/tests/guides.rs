//! What README, the tutorial, the how-tos and the pages on write-ups tell a reader to type, done by
//! the fake probe under the names of the real ones. Blocks "```sh" are done here, one command after
//! the other; blocks "```console" are what `xtask documents` did on kept runs.

use crate::report::TEMPLATE;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use switchcost_e2e::{Said, World, probe, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// What a page writes for something of the reader's, or for work that takes long, and what stands
/// for it here.
const READERS: [(&str, &str); 7] = [
    ("--for 10s", "--for 1s"),
    ("--pid 1234", "--pid PID"),
    ("--unit nginx.service", "--pid PID"),
    ("/shared/runs", "data/example/answers"),
    ("switchcost run ", "switchcost run --rounds 8 --batches 5 "),
    ("switchcost classic ", "switchcost classic --budget 1s "),
    ("switchcost crosscheck", "switchcost crosscheck --help"),
];

/// Pages in the order in which they are read.
fn pages() -> Vec<PathBuf> {
    let docs = repository().join("docs");
    let mut pages = vec![repository().join("README.md"), docs.join("README.md"), docs.join("tutorial.md")];
    for folder in ["how-to", "write-ups"] {
        let mut files: Vec<PathBuf> =
            fs::read_dir(docs.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|kind| kind == "md"));
        files.sort();
        pages.extend(files);
    }
    pages
}

/// The commands of a page that are ours, in blocks and, with what they are to do, in lines of text.
/// In a block one may go on over lines that end with `\`.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, part) in page.replace("\\\n", " ").split("```").enumerate() {
        let lines = part.strip_prefix("sh\n").into_iter().flat_map(str::lines);
        let spans = part.split('`').skip(1).step_by(2).filter(|span| span.split(' ').count() > 2);
        let ours: Vec<&str> = if place % 2 == 1 { lines.collect() } else { spans.collect() };
        found.extend(
            ours.into_iter().filter(|words| words.starts_with("switchcost ")).map(|words| words.replace('\n', " ")),
        );
    }
    found
}

/// A page of a mechanism without what its evidence must say, since the fake makes but one kind of
/// switch.
fn plain(page: &str) -> String {
    let (head, _) = page.split_once("\n[evidence]").unwrap();
    let lines = head.lines().filter(|line| !line.starts_with("floor = ") && !line.starts_with("bound = "));
    // The fake does not go by way of a second CPU.
    let hidden = page.contains("\nhops_hidden = true");
    let place = |line: &str| if hidden { line.replace("\"two_cpus\"", "\"one_cpu\"") } else { line.to_owned() };
    let headline = if page.contains("[[headline]]") { "[[headline]]\nplacement = \"one_cpu\"\n" } else { "" };
    format!("{}\n[evidence]\nturns = true\n{headline}", lines.map(place).collect::<Vec<_>>().join("\n"))
}

/// The value of `KEY = […]` as it stands there, without blanks.
fn list(page: &str, key: &str) -> String {
    let line = page.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ["));
    line.map(|rest| rest.split(']').next().unwrap().replace(' ', "")).unwrap_or_default()
}

/// An installation with every mechanism of the real one, each carried out by the fake; and what
/// pages take for granted in the reader's folder.
fn world() -> World {
    let world = World::new(FAKE);
    for folder in ["libexec/switchcost/probes", "share/switchcost/mechanisms"] {
        fs::remove_dir_all(world.path(folder)).unwrap();
    }
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let copy = |from: &str, to: &str| world.write(to, &fs::read_to_string(repository().join(from)).unwrap());
    for file in ["families.toml", "parameters.toml"] {
        copy(&format!("mechanisms/{file}"), &format!("share/switchcost/mechanisms/{file}"));
    }
    for file in fs::read_dir(repository().join("classic")).unwrap().flatten().map(|entry| entry.file_name()) {
        let name = file.to_str().unwrap();
        copy(&format!("classic/{name}"), &format!("share/switchcost/classic/{name}"));
    }
    copy("data/audit.toml", "share/switchcost/audit.toml");
    world.write("share/switchcost/report.html", TEMPLATE);
    for folder in fs::read_dir(repository().join("mechanisms")).unwrap().flatten().filter(|entry| entry.path().is_dir())
    {
        let family = folder.file_name().into_string().unwrap();
        let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
        for file in files {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let page = fs::read_to_string(file).unwrap();
            let id = format!("{family}/{name}");
            world.write(&format!("share/switchcost/mechanisms/{id}.toml"), &plain(&page));
            let own = page.lines().filter_map(|line| line.strip_prefix("[parameters.")?.strip_suffix(']'));
            let own: Vec<String> = own.map(|name| format!("\"{name}\"")).collect();
            let parameters = [list(&page, "common"), own.join(",")].join(",");
            let word = format!("named={id} {} {}", list(&page, "experiments"), parameters.trim_matches(','));
            for source in list(&page, "implemented_by").split(',') {
                named.entry(source.trim_matches('"').to_owned()).or_default().push(word.clone());
            }
        }
    }
    for (source, words) in named {
        let id = if source == "native" { "gcc-12" } else { &source };
        let arguments: String = words.iter().map(|word| format!(", '{word}'")).collect();
        let text = probe(id, FAKE, 100).replace("source = \"fake\"", &format!("source = \"{source}\""));
        let text = text.replace(&format!("[\"{FAKE}\"]"), &format!("[\"{FAKE}\"{arguments}]"));
        world.write(&format!("libexec/switchcost/probes/{id}/probe.toml"), &text);
        world.write(&format!("work/old/{id}/probe.toml"), &text);
        let (other, text) = (id.replace("gcc-12", "clang-14"), text.replace("gcc-12", "clang-14"));
        world.write(&format!("work/new/{other}/probe.toml"), &text);
    }
    let alike = format!("id = \"python3.13\"\nlike = \"python\"\ninterpreter = \"{FAKE}\"\n");
    world.write("data/switchcost/probes/python3.13/probe.toml", &alike);
    world.write("work/Makefile", "probe:\n\tmkdir -p build/probe && cp old/gcc-12/probe.toml build/probe/\n");
    let own = "git -c user.name=a -c user.email=a@b";
    let commits = format!(
        "git init -q -b main && git add . && {own} commit -qm a && git checkout -qb b && {own} commit -qm b --allow-empty"
    );
    assert!(Command::new("sh").args(["-c", &commits]).current_dir(world.path("work")).status().unwrap().success());
    symlink(repository().join("data"), world.path("work/data")).unwrap();
    // The page of this world draws nothing.
    let drawn = "#!/bin/sh\necho '<pre id=\"picture\">data:image/svg+xml,%3Csvg%2F%3E</pre>'\n";
    world.write("bin/chromium", drawn);
    fs::set_permissions(world.path("bin/chromium"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    symlink(repository().join("contrib/new-probe"), world.path("share/switchcost/new-probe")).unwrap();
    fs::create_dir_all(world.path("libexec/switchcost/kit/cpp")).unwrap();
    fs::create_dir_all(world.path("work/target")).unwrap();
    symlink(world.path("libexec"), world.path("work/target/libexec")).unwrap();
    world
}

/// Does a command as a shell does, in the reader's folder.
fn done(world: &World, command: &str) -> Said {
    let mine = std::process::id().to_string();
    let line = READERS.iter().fold(command.to_owned(), |line, (reader, here)| line.replace(reader, here));
    let plain = world.command(&[]);
    let programs = Path::new(plain.get_program()).parent().unwrap().display().to_string();
    let mut shell = Command::new("sh");
    shell.args(["-c", &line.replace("PID", &mine)]).current_dir(world.path("work")).env_clear();
    shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let browser = world.path("bin").display().to_string();
    shell
        .env("PATH", format!("{browser}:{programs}:{}", std::env::var("PATH").unwrap()))
        .stdin(std::process::Stdio::null());
    shell.output().unwrap().into()
}

#[test]
fn every_command_that_a_page_tells_a_reader_works() {
    let world = world();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for command in commands(&text) {
            let began = std::time::Instant::now();
            let said = done(&world, &command);
            println!("{:5.1} s, status {}: {command}", began.elapsed().as_secs_f64(), said.status);
            // A gate or a machine may say no; a word that is not understood, or nothing to measure
            // with, is an error of the page. The fake follows few rules of the protocol, and times
            // no single switch. A busy node gets no verdict.
            let fakes = [("check-probe", 6), ("classic ", 3), ("check --baseline ", 2)];
            // The gate's machine has no kernels of the reader's.
            let kernels = command.contains("kernels ") && said.err.contains("no kernel is here");
            let fits = kernels
                || [0, 1, 4, 5, 7].contains(&said.status)
                || fakes.iter().any(|(words, status)| command.contains(words) && said.status == *status);
            assert!(fits, "{}: {command}: {said:?}", page.display());
            // What no machine can do is asked of none.
            assert!(!said.out.contains("cannot have more contexts"), "{}: {command}: {said:?}", page.display());
            count += 1;
        }
    }
    assert!(count >= 40, "only {count} commands are found");
}

#[test]
fn every_kept_run_can_be_explored() {
    let world = world();
    let kept = done(&world, "ls data/example/*.jsonl data/example/answers/*.jsonl").out;
    assert!(kept.lines().count() > 20, "{kept}");
    for file in kept.lines() {
        for command in [format!("show {file}"), format!("export {file} --format csv")] {
            let said = done(&world, &format!("switchcost {command}"));
            assert!(said.status == 0 && said.out.lines().count() > 3, "{command}: {said:?}");
        }
    }
}

/// Words of a text that are options.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c != '-' && !c.is_ascii_lowercase());
    words.filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase())))
}

#[test]
fn no_page_names_an_option_that_does_not_exist() {
    let world = World::new(FAKE);
    let docs = repository().join("docs");
    let helps =
        ["fleet plan", "fleet judge", "baseline set"].map(|command| world.run(&format!("{command} --help")).out);
    let help = fs::read_to_string(docs.join("cli.md")).unwrap() + &helps.concat();
    let known: BTreeSet<&str> = options(&help).collect();
    let mut pages = pages();
    pages.extend(fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path()));
    for page in pages.iter().filter(|page| page.extension().is_some_and(|kind| kind == "md")) {
        let text = fs::read_to_string(page).unwrap();
        for span in text.split(['`', '\n']).filter(|span| span.contains("switchcost ") || span.starts_with("--")) {
            for option in options(span) {
                assert!(known.contains(option), "{}: {option} in `{span}`", page.display());
            }
        }
    }
}
