use super::*;
use switchcost_model::{Experiment, Placement, Timing, Variant};

fn repository() -> Catalogue {
    let loaded = only(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms"));
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

/// One folder, all of whose pages must be valid.
fn only(folder: &Path) -> Result<Catalogue, String> {
    let catalogue = crate::load(folder, &[], &|_| Ok(())).map_err(|error| error.to_string())?;
    catalogue.broken.first().map_or(Ok(()), |broken| Err(broken.reason.clone())).map(|()| catalogue)
}

fn variant(mechanism: &Mechanism, parameter: &str, value: &str) -> Variant {
    Variant {
        mechanism: mechanism.id.clone(),
        probe: String::new(),
        experiment: Experiment::usual(),
        contexts: 2,
        placement: Placement::of_cpus(0),
        timing: Timing::Batch,
        parameters: [(parameter.to_owned(), value.to_owned())].into(),
        label: String::new(),
    }
}

#[test]
fn the_repository_s_files_are_valid() {
    let catalogue = repository();
    assert!(catalogue.mechanisms.len() > 10);
    for mechanism in &catalogue.mechanisms {
        for headline in &mechanism.headline {
            assert!(mechanism.placements.contains(&headline.placement), "{}: headline placement", mechanism.id);
        }
        assert!(!mechanism.title.ends_with('.') && !mechanism.title.is_empty(), "{}: title", mechanism.id);
        for (name, value) in [("iteration", &mechanism.iteration), ("includes", &mechanism.includes)] {
            assert!(!value.is_empty(), "{}: {name} is empty", mechanism.id);
        }
    }
}

#[test]
fn overrides_keep_what_they_do_not_say() {
    let file = r#"
        title = "t"
        implemented_by = ["native"]
        iteration = "i"
        includes = "i"
        placements = ["one_cpu", "free"]
        experiments = ["switch"]
        [parameters.os_threads]
        values = ["one", "all"]
        default = "one"
        help = "h"
        experiments = ["switch"]
        [evidence]
        turns = true
        kernel_switches = [0, 0]
        [[evidence_when]]
        parameters = { os_threads = "all" }
        kernel_switches = []
    "#;
    let mechanism = convert("fiber/x".parse().unwrap(), toml::from_str(file).unwrap(), &Common::new()).unwrap();
    let rule = |value: &str| mechanism.rule(&variant(&mechanism, "os_threads", value));
    assert_eq!(rule("one").kernel_switches, Some((0.0, 0.0)));
    assert_eq!(rule("all").kernel_switches, None);
    assert!(rule("all").turns);
}

#[test]
fn errors_name_file_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("families.toml"), "[[family]]\nid = \"x\"\ntitle = \"X\"\n").unwrap();
    std::fs::create_dir(folder.path().join("x")).unwrap();
    std::fs::write(folder.path().join("x/y.toml"), "title = \"t\"\nplacement = 3\n").unwrap();
    let error = only(folder.path()).unwrap_err();
    assert!(error.contains("x/y.toml") && error.contains("line 2") && error.contains("placement"), "{error}");
}

fn described(mechanism: &str, common: &str) -> Result<Catalogue, String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let file = |rest: &str| {
        format!(
            "title = \"t\"\nimplemented_by = [\"p\"]\niteration = \"i\"\nincludes = \"i\"\nplacements = [\"one_cpu\"]\nexperiments = [\"switch\"]\n{rest}\n[evidence]\nat_least = {{ tasks = 1 }}\n"
        )
    };
    write("families.toml", "[[family]]\nid = \"x\"\ntitle = \"X\"\n");
    write("parameters.toml", common);
    write(
        "x/control.toml",
        &file(
            "control = true\n[parameters.set]\nmin = 1\nmax = 9\ndefault = \"1\"\nhelp = \"h\"\nexperiments = [\"switch\"]",
        ),
    );
    write("x/y.toml", &file(mechanism));
    only(folder.path())
}

const COMMON: &str = r#"
    [set]
    min = 0
    max = 1000
    default = "0"
    help = "h"
    experiments = ["switch"]
    control = "x/control"
    counted = { name = "touches", per_unit = 64 }
    [class]
    values = ["low", "high"]
    default = "low"
    help = "h"
    experiments = ["switch"]
    counted = { name = "tasks", per_context = 2 }
    [order]
    values = ["kept", "mixed"]
    default = "kept"
    help = "h"
    experiments = ["switch"]
    counted = { name = "far", value = "mixed", percent_of_units = 50 }
"#;

#[test]
fn common_parameters_are_defined_once() {
    let catalogue = described("common = [\"class\", \"set\"]", COMMON).unwrap();
    let mechanism = catalogue.find(&"x/y".parse().unwrap()).unwrap();
    assert_eq!(mechanism.parameters.keys().collect::<Vec<_>>(), ["class", "set"]);
    assert_eq!(mechanism.parameters["set"].control, Some("x/control".parse().unwrap()));
}

#[test]
fn counts_follow_from_parameters() {
    let catalogue = described("common = [\"class\", \"set\"]", COMMON).unwrap();
    let mechanism = catalogue.find(&"x/y".parse().unwrap()).unwrap();
    let rule = |experiment, set: &str| mechanism.rule(&Variant { experiment, ..variant(mechanism, "set", set) });
    assert_eq!(rule(Experiment::usual(), "0").counts, BTreeMap::new());
    assert_eq!(rule(Experiment::usual(), "64").counts["touches"], (1.0, 1.0));
    assert_eq!(rule(Experiment::usual(), "65").counts["touches"], (2.0, 2.0));
    assert_eq!(rule(Experiment::usual(), "0").at_least["tasks"], 4);
    assert_eq!(rule("create".parse().unwrap(), "65").counts, BTreeMap::new());
    assert_eq!(rule("create".parse().unwrap(), "65").at_least, BTreeMap::new());
    let catalogue = described("common = [\"order\"]", COMMON).unwrap();
    let mechanism = catalogue.find(&"x/y".parse().unwrap()).unwrap();
    let counts = |value: &str| mechanism.rule(&variant(mechanism, "order", value)).counts;
    assert_eq!((counts("kept"), counts("mixed")), (BTreeMap::new(), BTreeMap::from([("far".to_owned(), (0.5, 1.0))])));
}

#[test]
fn a_footprint_has_as_many_contexts_as_its_page_says() {
    let of = |page: &str| {
        let catalogue = described(page, "").unwrap();
        catalogue.find(&"x/y".parse().unwrap()).unwrap().usual_contexts("footprint".parse().unwrap())
    };
    assert_eq!(of("contexts = { footprint = 7 }"), 7);
    assert_eq!(of(""), 1000);
}

#[test]
fn wrong_parameters_are_named() {
    let fails = |mechanism: &str, common: &str, says: &str| {
        let error = described(mechanism, common).expect_err(says);
        assert!(error.contains(says), "{error}");
    };
    fails("common = [\"sett\"]", COMMON, "x/y.toml is not valid: common names `sett`");
    fails("common = [\"set\", \"set\"]", COMMON, "parameter set is given twice");
    fails(
        "",
        &COMMON.replace("help = \"h\"\n    experiments = [\"switch\"]\n    control", "control"),
        "parameters.toml is not valid: line 2: missing field `help`",
    );
    fails(
        "",
        &COMMON.replace("experiments = [\"switch\"]\n    control", "control"),
        "parameters.toml is not valid: line 2: missing field `experiments`",
    );
    fails("", &COMMON.replace("[\"switch\"]", "[]"), "parameter class: experiments needs at least one entry");
    fails("", &COMMON.replace("help", "hulp"), "unknown field `hulp`");
    fails("", &COMMON.replace("per_unit = 64", "per_unit = 0"), "parameter set: counted needs");
    fails("", &COMMON.replace("per_context = 2", "per_unit = 2"), "parameter class: counted needs");
    fails("", &COMMON.replace("percent_of_units = 50", "percent_of_units = 101"), "parameter order: counted needs");
    fails("", &COMMON.replace("per_context = 2", "per_block = true"), "parameter class: counted needs");
    fails("", &COMMON.replace("value = \"mixed\"", "value = \"x\""), "parameter order: counted: value");
    fails("common = [\"set\"]", &COMMON.replace("x/control", "x/none"), "control names x/none, which has no file");
    fails("common = [\"set\"]", &COMMON.replace("x/control", "x/y"), "control names x/y, which is not a control");
}

/// Pages of thread/NAME, each with one layer made of the rows of another, with a parameter; what is
/// wrong with them.
fn explained_by(pages: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("thread")).unwrap();
    write("families.toml", "[[family]]\nid = \"thread\"\ntitle = \"Threads\"\n");
    for (name, by) in pages {
        let page = "title = \"t\"\nimplemented_by = [\"native\"]\niteration = \"i\"\nincludes = \"i\"\nplacements = [\"one_cpu\"]\n\
            experiments = [\"switch\"]\n[parameters.sched]\nvalues = [\"other\", \"batch\"]\ndefault = \"other\"\nhelp = \"h\"\n\
            experiments = [\"switch\"]\n[evidence]\nturns = true\n";
        let layer = format!(
            "[[layer]]\nname = \"wake-up\"\nwhy = \"w\"\nfrom = [{{ mechanism = \"thread/yield\" }}]\n\
             minus = [{{ mechanism = \"thread/{by}\", parameters = {{ sched = \"batch\" }} }}]\n"
        );
        write(&format!("thread/{name}.toml"), &if by.is_empty() { page.to_owned() } else { format!("{page}{layer}") });
    }
    let catalogue = crate::load(folder.path(), &[], &|_| Ok(())).unwrap();
    catalogue.broken.into_iter().map(|page| page.reason).collect()
}

#[test]
fn no_mechanism_explains_itself() {
    let sound = explained_by(&[("pipe", "futex"), ("eventfd", "pipe"), ("futex", ""), ("yield", "")]);
    assert!(sound.is_empty(), "{sound:?}");
    let itself = explained_by(&[("pipe", "pipe"), ("yield", "")]);
    assert!(itself.len() == 1 && itself[0].contains("`wake-up`: thread/pipe cannot explain itself"), "{itself:?}");
    // Crosswise, and through a third. Who borrows from a circle without being on it explains
    // nothing circular.
    let circle = explained_by(&[
        ("pipe", "futex"),
        ("futex", "eventfd"),
        ("eventfd", "pipe"),
        ("socket", "pipe"),
        ("yield", ""),
    ]);
    assert!(
        circle.len() == 3 && circle.iter().all(|reason| reason.contains("a circle explains nothing")),
        "{circle:?}"
    );
    assert!(
        circle.iter().any(|reason| reason.contains("thread/futex is itself explained by thread/pipe")),
        "{circle:?}"
    );
}

/// A user's page may have what their language takes to leave; the installation's sources keep
/// theirs.
#[test]
fn a_page_of_one_s_own_says_what_its_language_takes_to_leave() {
    let (installed, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let page = |source: &str| {
        format!(
            "title = \"t\"\nimplemented_by = [\"{source}\"]\niteration = \"i\"\nincludes = \"i\"\nplacements = [\"free\"]\nexperiments = [\"switch\"]\n[evidence]\n"
        )
    };
    for (folder, families, source) in [
        (&installed, "[leaving_ms]\njava = 700\n[[family]]\nid = \"x\"\ntitle = \"X\"\n", "java"),
        (&own, "[leaving_ms]\njava = 9000\nmine = 500\n", "mine"),
    ] {
        std::fs::create_dir(folder.path().join("x")).unwrap();
        std::fs::write(folder.path().join("families.toml"), families).unwrap();
        std::fs::write(folder.path().join(format!("x/{source}.toml")), page(source)).unwrap();
    }
    let catalogue = crate::load(installed.path(), &[own.path().to_owned()], &|_| Ok(())).unwrap();
    let granted: Vec<u64> = catalogue.mechanisms.iter().map(|mechanism| mechanism.leaving_ms).collect();
    assert_eq!(granted, [700, 500], "{:?}", catalogue.broken);
}

#[test]
fn who_is_no_choice_and_whose_footprint_stands_for_another_is_checked() {
    let catalogue = repository();
    let chosen: Vec<&str> = catalogue.mechanisms.iter().filter(|m| m.is_choice()).map(|m| m.id.as_str()).collect();
    for id in ["control/touch", "vm/exit", "vm/guest-stack", "vm/pair", "thread/yield", "thread/pthread"] {
        assert!(!chosen.contains(&id), "{id}");
    }
    assert!(chosen.contains(&"thread/futex") && chosen.contains(&"fiber/goroutine"), "{chosen:?}");
    let page = |experiments: &str, line: &str| {
        format!(
            "title = \"t\"\nimplemented_by = [\"x\"]\niteration = \"i\"\nincludes = \"i\"\nplacements = [\"free\"]\nexperiments = [{experiments}]\n{line}\n[evidence]\n"
        )
    };
    let reason = |line: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("families.toml"), "[[family]]\nid = \"x\"\ntitle = \"X\"\n").unwrap();
        std::fs::create_dir(folder.path().join("x")).unwrap();
        std::fs::write(folder.path().join("x/none.toml"), page("\"switch\"", "")).unwrap();
        std::fs::write(folder.path().join("x/own.toml"), page("\"footprint\"", "")).unwrap();
        std::fs::write(folder.path().join("x/y.toml"), page("\"switch\"", line)).unwrap();
        only(folder.path()).map(|_| ())
    };
    assert_eq!(reason("contexts_of = \"x/own\"\nnot_a_choice = \"w\""), Ok(()));
    for (line, word) in [
        ("contexts_of = \"x/none\"", "x/none"),
        ("contexts_of = \"x/nowhere\"", "x/nowhere"),
        ("not_a_choice = \"\"", "not_a_choice"),
        ("control = true\nnot_a_choice = \"w\"", "not_a_choice"),
    ] {
        let error = reason(line).unwrap_err();
        assert!(error.contains("y.toml") && error.contains(word), "{line}: {error}");
    }
}

#[test]
fn a_page_in_user_space_is_bounded_also_where_it_names_no_bound() {
    let own = tempfile::tempdir().unwrap();
    std::fs::create_dir(own.path().join("stack")).unwrap();
    let page = |name: &str, evidence: &str| {
        let text = format!(
            "title = \"t\"\nimplemented_by = [\"mine\"]\niteration = \"i\"\nincludes = \"i\"\nplacements = [\"one_cpu\"]\nexperiments = [\"switch\"]\n[evidence]\nturns = true\n{evidence}\n"
        );
        std::fs::write(own.path().join(format!("stack/{name}.toml")), text).unwrap();
    };
    page("silent", "");
    page("denied", "kernel_switches = [0, 0.01]");
    page("counted", "kernel_switches = [1, 2]");
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms");
    let catalogue = crate::load(&pages, &[own.path().to_owned()], &|_| Ok(())).unwrap();
    let bound = |name: &str| {
        let found = catalogue.find(&format!("stack/{name}").parse().unwrap()).unwrap();
        found.bound.iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((bound("silent"), bound("denied")), (bound("asm"), bound("asm")));
    assert_eq!((bound("asm"), bound("counted")), (vec!["control/empty-loop".to_owned()], Vec::new()));
}
