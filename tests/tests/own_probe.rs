//! `new-probe`: what it writes is built, conforms and is a row without an edit, and the how-to's
//! library beside it.

use crate::architecture::files;
use crate::real::{real, verified};
use std::path::{Path, PathBuf};
use std::process::Command;
use switchcost_e2e::{Real, Said, World, probe, repository};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// Does it in the folder, as a shell does.
fn done(folder: &Path, line: &str) {
    let out = Command::new("sh").args(["-c", line]).current_dir(folder).output().unwrap();
    assert!(out.status.success(), "{line}: {out:?}");
}

/// A new probe called `mine`, in a folder; None, and said so, where its tools or its kit are not
/// here.
fn begun(real: &Real, language: &str, tools: &[&str]) -> Option<PathBuf> {
    let found = |tool: &str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(tool).is_file())
    };
    let kits = Path::new(FAKE).ancestors().nth(2).unwrap().join("libexec/switchcost/kit");
    let kit = kits.join(language.trim_end_matches(char::is_numeric));
    if !kit.is_dir() || !tools.iter().all(|tool| found(tool)) {
        switchcost_e2e::untested(&format!("{} or one of {tools:?} is not here", kit.display()));
        return None;
    }
    let folder = real.data().join("mine");
    let said = real.run(&format!("new-probe {} --language {language}", folder.display()));
    assert!(said.status == 0 && said.out.starts_with("# mine: a probe of switchcost\n"), "{said:?}");
    Some(folder)
}

/// Each experiment of a built probe, found as README.md of the probe says.
fn measured(real: &Real, folder: &Path, mechanism: &str) {
    let said = real.run(&format!("check-probe {}", folder.display()));
    assert!(said.status == 0 && said.out.starts_with("conforms: "), "{said:?}");
    let probes = real.data().join("switchcost/probes");
    std::fs::create_dir_all(&probes).unwrap();
    std::os::unix::fs::symlink(folder, probes.join("mine")).unwrap();
    // What callgrind counts: of kits that speak to it.
    let counts = ["cpp", "rust"].iter().any(|kit| folder.join("kit").read_link().is_ok_and(|to| to.ends_with(kit)));
    let counted = (counts && Path::new("/usr/bin/valgrind").exists()).then_some("count");
    for experiment in ["switch", "create", "footprint"].into_iter().chain(counted) {
        let mut rows = real.started(mechanism, &format!("--experiment {experiment}"));
        rows.retain(|row| row["mechanism"] == mechanism);
        assert_eq!(verified(rows).len(), 1, "{experiment}");
    }
}

fn works(language: &str, tools: &[&str], build: &str, mechanism: &str) {
    let Some(real) = real() else { return };
    let Some(folder) = begun(&real, language, tools) else { return };
    done(&folder, build);
    measured(&real, &folder, mechanism);
}

#[test]
fn a_new_probe_in_cpp_measures_without_an_edit() {
    works("cpp", &["make", "g++"], "make", "stack/mine");
}

#[test]
fn a_new_probe_in_python_measures_without_an_edit() {
    works("python", &["python3"], ":", "coroutine/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_java_measures_without_an_edit() {
    works("java", &["javac"], "kit/build classes .", "fiber/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_javascript_measures_without_an_edit() {
    works("javascript", &["node"], ":", "coroutine/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_lua_measures_without_an_edit() {
    works("lua", &["lua", "pkg-config"], ":", "coroutine/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_ruby_measures_without_an_edit() {
    works("ruby", &["ruby"], ":", "stack/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_go_measures_without_an_edit() {
    works("go", &["go"], "go build -o probe .", "fiber/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_rust_measures_without_an_edit() {
    works("rust", &["cargo"], "cargo build --release --offline --quiet", "coroutine/mine");
}

/// Carries out a how-to: its library in the place of the template's, its `Library` too.
fn of_the_how_to(page: &str, language: &str, headers: (&str, &str), mechanism: &str) {
    let Some(real) = real() else { return };
    let Some(folder) = begun(&real, language, &["make", "g++"]) else { return };
    let guides = repository().join("docs/how-to");
    let page = std::fs::read_to_string(guides.join(page)).unwrap();
    let (ours, header) = headers;
    std::fs::copy(guides.join(header), folder.join(header)).unwrap();
    let library = page.split("\n```cpp\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let probe = std::fs::read_to_string(folder.join("probe.cpp")).unwrap();
    let (head, rest) = probe.split_once("struct Library {").unwrap();
    let (_, tail) = rest.split_once("\n};\n").unwrap();
    assert!(head.contains(ours), "{head}");
    let head = head.replace(ours, &format!("\"{header}\""));
    std::fs::write(folder.join("probe.cpp"), format!("{head}{library}\n{tail}")).unwrap();
    done(&folder, "make");
    measured(&real, &folder, mechanism);
}

#[test]
fn the_library_of_the_how_to_is_measured() {
    if !cfg!(target_arch = "x86_64") {
        return switchcost_e2e::untested("the library is for x86-64");
    }
    of_the_how_to("library.md", "cpp", ("<ucontext.h>", "tiny.h"), "stack/mine");
}

#[test]
fn the_coroutines_of_the_how_to_are_measured() {
    of_the_how_to("coroutine.md", "cpp20", ("\"task.h\"", "lazy.h"), "coroutine/mine");
}

#[test]
#[ignore = "suite recipes"]
fn a_new_probe_in_cpp20_measures_without_an_edit() {
    works("cpp20", &["make", "g++"], "make", "coroutine/mine");
}

#[test]
fn new_probe_refuses_in_one_sentence() {
    let world = World::new(FAKE);
    let new = |words: &str| world.run(&format!("new-probe {words}"));
    new(&format!("{} --language cpp", world.path("a").display())).refuses(2, &["new-probe", "make build"]);
    for language in ["cpp", "python"] {
        world.write(&format!("share/switchcost/new-probe/{language}/README.md"), "@name@ by @program@");
    }
    world.write("libexec/switchcost/kit/cpp/flags.mk", "");
    let folder = |name: &str| world.path(name).display().to_string();
    new(&format!("{} --language pascal", folder("a"))).refuses(2, &["pascal", "cpp, python"]);
    new(&format!("{} --language python", folder("a"))).refuses(2, &["no kit for python", "make build"]);
    new(&format!("{} --language cpp", folder("Mine"))).refuses(2, &["lower-case letters"]);
    new(&format!("{} --language cpp", folder("honest"))).refuses(2, &["`honest`", "choose another"]);
    world.write("full/file", "kept");
    new(&format!("{} --language cpp", folder("full"))).refuses(2, &["is not empty"]);
    assert_eq!(std::fs::read_dir(world.path("full")).unwrap().count(), 1);
    let said = new(&format!("{} --language cpp", folder("a")));
    assert!(said.status == 0 && said.out.starts_with("a by /"), "{said:?}");
    assert_eq!(std::fs::read_to_string(world.path("a/README.md")).unwrap(), said.out);
    let kit = new("--kit cpp");
    assert_eq!(std::fs::read_link(world.path("a/kit")).unwrap().to_str(), Some(kit.out.trim()), "{kit:?}");
    new("--kit pascal").refuses(2, &["pascal", "cpp, python"]);
    new("--kit python").refuses(2, &["no kit for python"]);
    new("--kit cpp --language cpp").refuses(2, &["--language"]);
}

/// A template of each language is short, and of a runtime that is not here it says what to install.
#[test]
fn templates_are_short_and_name_their_runtime() {
    let world = World::new(FAKE);
    let templates = repository().join("contrib/new-probe");
    std::os::unix::fs::symlink(&templates, world.path("share/switchcost/new-probe")).unwrap();
    let mut interpreted = 0;
    for template in std::fs::read_dir(templates).unwrap().map(|entry| entry.unwrap().path()) {
        let language = template.file_name().unwrap().to_str().unwrap();
        for file in ["probe.toml", "README.md", "mechanisms"] {
            assert!(template.join(file).exists(), "{language} lacks {file}");
        }
        let sources = ["cpp", "go", "java", "js", "lua", "py", "rb"].iter().flat_map(|kind| files(&template, kind));
        for source in sources {
            let lines = std::fs::read_to_string(&source).unwrap().lines().count();
            assert!(lines <= 60, "{} has {lines} lines", source.display());
        }
        let kit = language.trim_end_matches(char::is_numeric);
        world.write(&format!("libexec/switchcost/kit/{kit}/kit"), "");
        let folder = world.path(&format!("new-{language}"));
        let mut command = world.command(&["new-probe", folder.to_str().unwrap(), "--language", language]);
        let said: Said = command.env("PATH", world.path("nothing")).output().unwrap().into();
        assert!(said.status == 0, "{said:?}");
        if let Some((runtime, install)) = said.err.trim_end().split_once(" is not in PATH; install ") {
            assert!(runtime.starts_with('`') && install.contains("(Debian/Ubuntu)"), "{said:?}");
            interpreted += 1;
        }
    }
    assert!(interpreted >= 4, "only {interpreted} templates name a runtime");
}

/// `--probe FOLDER` brings a probe and its pages wherever it is taken, and stands for an installed
/// one of its id.
#[test]
fn a_folder_brings_its_mechanisms() {
    let world = World::new(FAKE);
    let page = switchcost_e2e::mechanism("").replace("[\"fake\"]", "[\"mine\"]");
    let words = format!("[\"{FAKE}\", 'named=thread/mine \"switch\" ']");
    let text = probe("mine", FAKE, 100).replace("source = \"fake\"", "source = \"mine\"");
    for side in ["one", "two"] {
        world.write(&format!("{side}/probe.toml"), &text.replace(&format!("[\"{FAKE}\"]"), &words));
        world.write(&format!("{side}/mechanisms/thread/mine.toml"), &page);
    }
    let [one, two] = ["one", "two"].map(|side| world.path(side).display().to_string());
    world.run("run thread/mine").refuses(2, &["no mechanism matches `thread/mine`"]);
    for command in ["run thread/mine thread/honest", "sweep contexts thread/mine --to 3"] {
        let said = world.run(&format!("{command} --probe {one} --rounds 1 --format json"));
        let rows = said.json()["results"].as_array().unwrap().clone();
        assert!(rows.iter().any(|row| row["mechanism"] == "thread/mine"), "{command}: {said:?}");
    }
    world.run(&format!("run thread/mine --probe {one},{two}")).refuses(2, &["--probe", "id mine", "compare --measure"]);
    // Of two folders whose ids differ each has its row; of two sources the pages have to.
    let other = |source: &str, page: &str| {
        let text = probe("other", FAKE, 100).replace("source = \"fake\"", &format!("source = \"{source}\""));
        world.write("other/probe.toml", &text.replace(&format!("[\"{FAKE}\"]"), &words));
        world.write("other/mechanisms/thread/mine.toml", page);
        let folders = format!("--probe {one},{}", world.path("other").display());
        world.run(&format!("run thread/mine {folders} --rounds 1 --format json"))
    };
    let rows = other("mine", &page).json()["results"].as_array().unwrap().clone();
    let probes: Vec<_> = rows.iter().filter(|row| row["mechanism"] == "thread/mine").map(|row| &row["probe"]).collect();
    assert!(probes.len() > 1 && probes.contains(&&"mine".into()) && probes.contains(&&"other".into()), "{rows:?}");
    other("theirs", &page.replace("[\"mine\"]", "[\"theirs\"]"))
        .refuses(2, &["--probe: ", "there is another page of thread/mine", "give one of them another name"]);
    world.run("run thread/honest --probe ./nowhere").refuses(2, &["--probe ./nowhere"]);
    world.run(&format!("run thread/honest --probe {}", world.path("share").display())).refuses(2, &["no probe.toml"]);
    let said =
        world.run(&format!("compare --measure thread/mine --probe {one} --probe {two} --rounds 6 --budget 600s"));
    assert!([0, 7].contains(&said.status) && said.out.contains("thread/mine"), "{said:?}");
    world.write("two/mechanisms/thread/mine.toml", &page.replace("title", "# Another.\ntitle"));
    let said =
        world.run(&format!("compare --measure thread/mine --probe {one} --probe {two} --rounds 6 --budget 600s"));
    assert!([0, 7].contains(&said.status), "a page that differs costs nothing: {said:?}");
}

#[test]
fn a_mechanism_without_a_page_is_named_with_its_probe() {
    let world = World::new(FAKE);
    let words = format!("[\"{FAKE}\", 'named=fiber/mine \"switch\" ']");
    let text = probe("mine", FAKE, 100).replace("source = \"fake\"", "source = \"mine\"");
    world.write("data/switchcost/probes/mine/probe.toml", &text.replace(&format!("[\"{FAKE}\"]"), &words));
    let wanted = ["your probe mine has fiber/mine", "mine/mechanisms/fiber/mine.toml"];
    world.run("run fiber/mine").refuses(2, &wanted);
    world.run_words(&["run", "fiber/mine free"]).refuses(2, &wanted);
    world.run("run fiber/theirs").refuses(2, &["no mechanism matches `fiber/theirs`"]);
}
