//! The invariants of ARCHITECTURE.md that no compiler checks.

mod paths;
mod suites;
mod values;

use super::runtimes::endings;
use paths::{Sources, circles};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use switchcost_e2e::repository;

pub(super) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "build", "node_modules"].contains(&name.as_str()) {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

/// Source without tests and without comments.
fn shipped(path: &Path) -> String {
    without_tests(&fs::read_to_string(path).unwrap())
}

/// In rustfmt's form an item ends with a line that is indented as its first. `scripts/size` counts
/// by the same rule.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut test = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if line.trim() == "#[cfg(test)]" {
            test = Some(indent);
        } else if test.is_none() && !line.trim_start().starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        } else if test == Some(indent) && line.ends_with([';', '}', ',']) {
            test = None;
        }
    }
    kept
}

#[test]
fn only_the_items_of_tests_are_cut_out_of_a_source() {
    let text = "mod a;\n#[cfg(test)]\nmod tests;\nmod b;\nimpl A {\n    #[cfg(test)]\n    fn fake(\n        one: u8,\n    ) {\n        two();\n    }\n    fn real() {}\n}\n// a\n#[cfg(test)]\nmod c {\n    d();\n}\nfn e() {}\n";
    assert_eq!(without_tests(text), "mod a;\nmod b;\nimpl A {\n    fn real() {}\n}\nfn e() {}\n");
}

pub(super) fn mechanism_ids() -> Vec<String> {
    let root = repository().join("mechanisms");
    files(&root, "toml")
        .into_iter()
        .filter_map(|path| {
            let id = path.strip_prefix(&root).ok()?.with_extension("").to_string_lossy().into_owned();
            id.contains('/').then_some(id)
        })
        .collect()
}

/// Crates that the core does without.
const FEATURES: &[&str] = &["audit", "classic", "crosscheck", "fleet", "kernels"];

/// What a feature may use: the core, and no other feature.
const FEATURE: &[&str] =
    &["analysis", "catalogue", "machine", "model", "protocol", "report", "runner", "session", "stats", "store"];

/// Every crate of the workspace, from the top: with those, all above it, that its `Cargo.toml` may
/// name.
const CRATES: &[(&str, &[&str])] = &[
    ("switchcost-model", &[]),
    ("switchcost-stats", &[]),
    ("switchcost-protocol", &["model"]),
    ("switchcost-catalogue", &["model"]),
    ("switchcost-machine", &["model"]),
    ("switchcost-store", &["model"]),
    ("switchcost-analysis", &["catalogue", "model", "stats"]),
    ("switchcost-runner", &["analysis", "catalogue", "machine", "model", "protocol"]),
    ("switchcost-report", &["analysis", "catalogue", "model", "stats"]),
    ("switchcost-session", &["analysis", "catalogue", "machine", "model", "report", "runner", "store"]),
    ("switchcost-audit", FEATURE),
    ("switchcost-classic", FEATURE),
    ("switchcost-crosscheck", FEATURE),
    ("switchcost-fleet", FEATURE),
    ("switchcost-kernels", FEATURE),
    (
        "switchcost",
        &[
            "analysis",
            "catalogue",
            "machine",
            "model",
            "report",
            "runner",
            "session",
            "store",
            "audit",
            "classic",
            "crosscheck",
            "fleet",
            "kernels",
        ],
    ),
    // Its tests judge recordings and draw answers; the fake probe and the liar, built beside them,
    // use nothing of ours.
    ("switchcost-e2e", &["analysis", "audit", "catalogue", "machine", "model", "protocol", "report", "stats", "store"]),
    ("xtask", &["analysis", "catalogue", "model", "report", "stats", "store"]),
];

/// Thresholds are fractional constants, and verdicts are made by functions of `analysis`; exit
/// statuses live in a crate that `report` cannot name.
#[test]
fn the_crate_that_says_decides_nothing() {
    let makes = ["Comparison {", "Gate {", "Gate::new", "Outcome::of", "Judgement::new", "Fit::of", "Exit::"];
    for path in
        files(&repository().join("crates/report/src"), "rs").into_iter().filter(|path| !path.ends_with("tests.rs"))
    {
        let text = shipped(&path);
        let constant = text.lines().find(|line| line.contains("const ") && line.contains(": f64"));
        assert!(constant.is_none(), "{} holds a threshold: {}", path.display(), constant.unwrap_or_default());
        for made in makes {
            assert!(!text.contains(made), "{} decides by `{made}`: let `analysis` do it", path.display());
        }
    }
}

#[test]
fn dependencies_point_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = CRATES.iter().copied().collect();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let expected = allowed.get(name).unwrap_or_else(|| panic!("crate {name} has no line in this test"));
        seen.insert(name.to_owned());
        for dependency in package["dependencies"].as_array().unwrap() {
            let Some(ours) = dependency["name"].as_str().unwrap().strip_prefix("switchcost-") else { continue };
            assert!(expected.contains(&ours), "{name} may not use {ours}; ARCHITECTURE.md says why");
            assert!(name != "switchcost-e2e" || dependency["kind"] == "dev", "{ours} is for the tests of {name} only");
            let guest = FEATURES.contains(&ours) && dependency["kind"].is_null();
            assert!(!guest || dependency["optional"] == true, "{name} cannot be built without {ours}");
        }
    }
    assert_eq!(seen.len(), allowed.len(), "a crate of this test is gone");
}

/// One file lists the features; without that line and the crate itself nothing of a feature is
/// left.
#[test]
fn nothing_but_the_list_names_a_feature() {
    let list = fs::read_to_string(repository().join("crates/cli/src/features.rs")).unwrap();
    for feature in FEATURES {
        let feature = format!("switchcost_{feature}");
        assert_eq!(list.matches(&format!("{feature}::FEATURE")).count(), 1, "{feature} has one line");
        for (module, needs) in resolved().graph().iter().filter(|(module, _)| crate_of(module) != feature) {
            let named = needs.iter().any(|other| crate_of(other) == feature);
            assert_eq!(named, *module == "switchcost::features", "{module} names {feature}");
        }
    }
}

#[test]
fn no_crate_names_a_mechanism() {
    let ids = mechanism_ids();
    assert!(ids.len() > 10);
    for path in files(&repository().join("crates"), "rs") {
        if path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs") {
            continue;
        }
        let text = shipped(&path);
        for id in &ids {
            assert!(
                !text.contains(&format!("\"{id}")),
                "{} names {id}: behaviour belongs into mechanisms/",
                path.display()
            );
        }
    }
}

#[test]
fn unsafe_code_is_in_one_crate() {
    for path in files(&repository().join("crates"), "rs") {
        let uses = shipped(&path).lines().any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(!uses || path.to_string_lossy().contains("crates/machine/"), "{} has unsafe code", path.display());
    }
}

#[test]
fn model_and_statistics_do_no_io() {
    for (krate, words) in [
        ("model", &["std::fs", "std::io", "std::env"][..]),
        ("stats", &["serde", "std::fs", "std::io", "std::env", "std::time"]),
        ("analysis", &["std::fs", "std::io", "std::env", "std::time"]),
        ("report", &["std::fs", "std::env", "std::time"]),
    ] {
        for path in files(&repository().join("crates").join(krate).join("src"), "rs") {
            let text = shipped(&path);
            for word in words {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
        }
    }
}

/// Sources of every language that are written by hand.
fn sources() -> Vec<PathBuf> {
    let kinds = ["rs", "cpp", "h", "c", "S", "py", "js", "ts", "sh"].map(str::to_owned).into_iter();
    let kinds: BTreeSet<String> = kinds.chain(endings().into_iter().map(|(ending, _)| ending)).collect();
    let folders =
        ["crates", "probes", "tests", "bench", "fuzz/src", "fuzz/targets", "web/src", "web/tests", "scripts", "python"];
    let all = folders.iter().flat_map(|folder| kinds.iter().flat_map(|kind| files(&repository().join(*folder), kind)));
    all.filter(|path| {
        !path.ends_with("web/src/page.d.ts") && !path.components().any(|part| part.as_os_str() == "target")
    })
    .collect()
}

#[test]
fn files_of_every_language_stay_readable() {
    let all = sources();
    assert!(all.len() > 400, "only {} files are found", all.len());
    for path in all {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 500, "{} has {lines} lines; split it", path.display());
    }
}

/// Words that code may have in these files only, each with the reason.
fn only_in(excuses: &[(&str, &str)], words: &[&str], says: &str, searched: impl Iterator<Item = PathBuf>) {
    let mut excused = BTreeSet::new();
    for path in searched {
        let name = path.strip_prefix(repository()).unwrap().to_string_lossy().into_owned();
        if !words.iter().any(|word| shipped(&path).contains(word)) {
            continue;
        }
        let excuse = excuses.iter().find(|(file, _)| *file == name);
        assert!(excuse.is_some(), "{name} {says}");
        excused.extend(excuse.map(|(file, _)| *file));
    }
    assert_eq!(excused.len(), excuses.len(), "an excuse is not needed any more: {excused:?} are");
}

/// Code of the host, but for the crates in these folders.
fn host(but: &'static [&str]) -> impl Iterator<Item = PathBuf> {
    let crates = repository().join("crates");
    files(&crates.clone(), "rs").into_iter().filter(move |path| {
        let name = path.strip_prefix(&crates).unwrap().to_string_lossy().into_owned();
        name.contains("/src/") && !but.iter().any(|folder| name.starts_with(folder))
    })
}

/// Code of the probes that are for users, but for what these parts of a path mark.
fn probes(but: &'static [&str]) -> impl Iterator<Item = PathBuf> {
    let folder = repository().join("probes");
    sources().into_iter().filter(move |path| {
        let Ok(name) = path.strip_prefix(&folder) else { return false };
        let name = format!("/{}", name.to_string_lossy());
        let tests = ["/test/", "/tests/", "/bench/", "/fake/", "/liar/", "_test.go", "tests.rs", "_tests.erl"];
        !tests.iter().chain(but).any(|part| name.contains(part))
    })
}

#[test]
fn no_crate_but_machine_names_a_system() {
    let excuses = [
        ("crates/store/src/shareable.rs", "homes of users of any system, in texts of any machine"),
        ("crates/store/src/store/files.rs", "the mode of the store's folder"),
        ("crates/report/src/formats/benchstat.rs", "a word of Go's format"),
        ("crates/session/src/output/place.rs", "the mode of files of results, and names of standard output"),
        ("crates/cli/src/commands/report/opening.rs", "whether there is a desktop"),
        ("crates/cli/src/main.rs", "a program names its allocator itself, and only Linux has one of ours"),
    ];
    let words = [
        "\"/proc",
        "\"/sys/",
        "\"/usr/",
        "\"/dev/",
        "\"/etc/",
        "target_os",
        "cfg(unix",
        "all(unix",
        "cfg(windows",
        "goos",
    ];
    only_in(&excuses, &words, "names a system; what depends on one belongs into crates/machine", host(&["machine/"]));
}

#[test]
fn probes_name_systems_where_they_ask_them() {
    let excuses = [
        ("probes/rust/kit/src/clock.rs", "the name of its clock"),
        ("probes/rust/src/main.rs", "whether there is a hypervisor to ask"),
        ("probes/rust/src/mechanisms/mod.rs", "whether monoio, which builds upon io_uring, is compiled"),
        ("probes/rust/src/mechanisms/stack_corosensei.rs", "the stack's bounds that Windows keeps"),
        ("probes/go/kit/build.go", "the name of its clock"),
        ("probes/go/kit/measure.go", "said in a reason"),
        ("probes/go/kit/ruler.go", "whether a system call is known to do nothing"),
        ("probes/java/src/switchcost/kit/Hello.java", "the name of its clock"),
        ("probes/java/src/switchcost/kit/Native.java", "whether functions of the kernel can be called"),
        ("probes/node/kit/clock.js", "the name of its clock"),
    ];
    let words = [
        "_WIN32",
        "__linux__",
        "__APPLE__",
        "target_os",
        "cfg(unix",
        "cfg(windows",
        "runtime.GOOS",
        "\"os.name\"",
        "process.platform",
        "sys.platform",
        "os:type",
    ];
    let asked = probes(&["/native/kit/os/", "/native/asm/", "/native/wine/", "/rust/kit/src/os/"]);
    only_in(&excuses, &words, "names a system; what depends on one belongs into its kit's os folder", asked);
}

#[test]
fn only_cli_and_machine_read_the_environment() {
    let reads = ["env::var", "env::args", "env::current_dir"];
    only_in(&[], &reads, "reads the environment", host(&["cli/", "machine/", "session/", "xtask/"]));
}

#[test]
fn no_probe_reads_the_environment() {
    let excuses = [
        ("probes/native/kit/os/windows.cpp", "wine's launcher says its process id so"),
        ("probes/oci/runtime_program.cpp", "PATH, where the container runtime is looked for"),
        ("probes/rust/kit/build.rs", "what Cargo tells it"),
    ];
    let reads = ["getenv(", "Getenv(", "LookupEnv(", "os.environ", "process.env", "env::var", "std::env::vars"];
    only_in(&excuses, &reads, "reads the environment: what a probe does follows from its arguments", probes(&[]));
}

/// Every file of the host's crates and of the Rust probe, and what each needs.
fn resolved() -> &'static Sources {
    static ALL: LazyLock<Sources> = LazyLock::new(|| {
        let crates = fs::read_dir(repository().join("crates")).unwrap().flatten().map(|entry| entry.path());
        let mut all = Sources::default();
        for folder in crates.chain(["probes/rust", "probes/rust/kit"].map(|probe| repository().join(probe))) {
            let page: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
            let name = page["package"]["name"].as_str().unwrap().replace('-', "_");
            for (root, name) in [("lib.rs", name.clone()), ("main.rs", format!("{name}/main"))] {
                let root = folder.join("src").join(root);
                if root.is_file() {
                    all.add(&name, &root, &|path| fs::read_to_string(path).ok());
                }
            }
        }
        all
    });
    &ALL
}

#[test]
fn files_of_a_crate_do_not_need_one_another_in_a_circle() {
    let graph = resolved().graph();
    assert!(graph.len() > 300, "only {} files are found", graph.len());
    let found = circles(&graph);
    let told = |circle: &BTreeSet<String>| {
        let needs = |name: &String| format!("  {name} needs {:?}\n", &graph[name.as_str()] & circle);
        circle.iter().map(needs).collect::<String>()
    };
    assert!(found.is_empty(), "circles:\n{}", found.iter().map(told).collect::<Vec<_>>().join("\n"));
}

/// The crate of a module.
fn crate_of(module: &str) -> &str {
    module.split([':', '/']).next().unwrap()
}

#[test]
fn a_crate_uses_only_crates_above_it() {
    // The Rust probe's two have none: they belong to the probe, not to the host.
    let place = |name: &str| CRATES.iter().position(|(known, _)| known.replace('-', "_") == crate_of(name));
    let mut crossed = 0;
    for (module, needs) in resolved().graph() {
        let Some(own) = place(module) else { continue };
        for other in needs.iter().filter(|other| crate_of(other) != crate_of(module)) {
            assert!(place(other).is_some_and(|other| other < own), "{module} needs {other}, which is not above it");
            crossed += 1;
        }
    }
    assert!(crossed > 300, "only {crossed} files use another crate");
}

#[test]
fn the_page_on_architecture_names_tests_that_exist() {
    let page = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let mut sources = String::new();
    for folder in ["tests/tests", "crates"] {
        for path in files(&repository().join(folder), "rs") {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let named = |text: &str| -> Vec<String> {
        let words = text.split('`').skip(1).step_by(2);
        // A sentence with underscores is a test.
        let is_sentence =
            |word: &&str| word.matches('_').count() > 1 && word.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        words.filter(is_sentence).map(str::to_owned).collect()
    };
    // Between the mark of a test and its name there are attributes and nothing else.
    let is_test = |name: &str| {
        let before = sources.split(&format!("fn {name}(")).next().unwrap_or_default();
        before.len() < sources.len()
            && before
                .lines()
                .rev()
                .take_while(|line| !line.is_empty() && *line != "}")
                .any(|line| line.trim() == "#[test]")
    };
    for name in named(&page) {
        assert!(is_test(&name), "ARCHITECTURE.md names test {name}, which does not exist");
    }
    let (_, invariants) = page.split_once("\n## Invariants").unwrap();
    let (invariants, _) = invariants.split_once("\n## ").unwrap();
    let rules: Vec<&str> = invariants.split("\n- **I").skip(1).collect();
    assert!(rules.len() > 30, "only {} invariants are listed", rules.len());
    for rule in rules {
        let guarded = !named(rule).is_empty() || rule.contains("clippy") || rule.contains("tests/tests/");
        assert!(guarded, "no test guards invariant I{}", rule.lines().next().unwrap());
    }
}

#[test]
fn the_page_on_architecture_names_types_that_exist() {
    let page = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Core types")).unwrap();
    let mut named = 0;
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let types = row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2);
        // `crate::module::Type`, and of the same crate `Type`.
        let mut sources = String::new();
        for name in types {
            if let Some((krate, _)) = name.split_once("::") {
                let all = files(&repository().join("crates").join(krate).join("src"), "rs");
                sources = all.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
            }
            let name = name.rsplit("::").next().unwrap();
            let kinds = ["struct", "enum", "trait"];
            let exists = kinds.iter().any(|kind| {
                sources.split(&format!(" {kind} {name}")).skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
            });
            assert!(exists, "ARCHITECTURE.md names type {name}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 20, "only {named} types are named");
}

#[test]
fn no_tracked_file_names_this_machine() {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(repository()).output().unwrap();
    if !output.status.success() {
        return switchcost_e2e::untested("an archive without git has nothing tracked");
    }
    let here = format!("{}/", repository().display());
    for name in String::from_utf8_lossy(&output.stdout).split('\0').filter(|name| !name.is_empty()) {
        let Ok(text) = fs::read_to_string(repository().join(name)) else { continue };
        assert!(!text.contains(&here), "{name} names {here}");
    }
}
