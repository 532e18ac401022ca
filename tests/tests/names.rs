//! Plain names and questions with the real binary: what people call a mechanism, and one command
//! for an answer.

use switchcost_e2e::{World, mechanism};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// The fake's mechanisms as those of a language.
fn named() -> World {
    let world = World::new(FAKE);
    let called = |tags: &str, title: &str| {
        mechanism("").replace("title = \"A fake\"", &format!("title = \"{title}\"\ntags = [{tags}]"))
    };
    world.write(
        "share/switchcost/mechanisms/thread/honest.toml",
        &called("\"c++\", \"native\"", "A semaphore, sound for all"),
    );
    world.write(
        "share/switchcost/mechanisms/thread/sized.toml",
        &called("\"go\", \"golang\"", "A goroutine, of several sizes"),
    );
    let families = "[[family]]\nid = \"control\"\ntitle = \"Controls\"\n\
                    [[family]]\nid = \"thread\"\ntitle = \"Threads\"\nexample = \"thread/honest\"\n";
    world.write("share/switchcost/mechanisms/families.toml", families);
    world
}

#[test]
fn a_language_a_word_and_a_family_name_mechanisms() {
    let world = named();
    let listed = |name: &str| -> Vec<String> {
        let said = world.run(&format!("list {name} --format json"));
        let json: serde_json::Value =
            serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        let all = json["mechanisms"].as_array().unwrap_or_else(|| panic!("{json}"));
        all.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    for (name, id) in [
        ("c++", "honest"),
        ("GO", "sized"),
        ("golang", "sized"),
        ("goroutine", "sized"),
        ("Semaphore", "honest"),
        ("HONEST", "honest"),
    ] {
        assert_eq!(listed(name), [format!("thread/{id}")], "{name}");
    }
    assert_eq!(world.run("run goroutine semaphore --rounds 6").status, 0);
    let rows =
        |command: &str| world.run(command).out.lines().filter(|line| line.trim_start().starts_with("thread/")).count();
    assert_eq!((rows("show goroutine"), rows("show c++ golang")), (1, 2));
    // `fake` stands in many titles: it means none of them.
    world.run("run fake --rounds 6").refuses(2, &["`fake`"]);
    // Nor does a word that any sentence may have, and what is like nothing is like no word of a
    // title.
    world.run("run all --rounds 6").refuses(2, &["`all`"]);
    let said = world.run("run sonnets");
    assert!(said.status == 2 && !said.err.contains("did you mean"), "{said:?}");
}

/// A file that is called as a mechanism is has a path.
#[test]
fn a_file_does_not_take_a_mechanism_s_name() {
    let world = named();
    assert_eq!(world.run("run golang --rounds 6").status, 0);
    for words in [&["show", "golang"], &["show", "GO"]] {
        let mut command = world.command(words);
        std::fs::write(world.path(words[1]), "not a run\n").unwrap();
        let said: switchcost_e2e::Said = command.current_dir(world.path("")).output().unwrap().into();
        assert!(said.status == 0 && said.out.contains("thread/sized"), "{said:?}");
    }
    let mut command = world.command(&["show", "./golang"]);
    let said: switchcost_e2e::Said = command.current_dir(world.path("")).output().unwrap().into();
    said.refuses(2, &["golang"]);
}

/// After a run or a file as well, and of several rows it means the one that its whole id names.
#[test]
fn a_short_name_of_a_run_is_that_of_the_whole_id() {
    let world = named();
    assert_eq!(world.run("run goroutine semaphore --param ticks=1000,2000 --rounds 10").status, 0);
    let answer = |a: &str, b: &str| {
        let said = world.run_words(&["compare", a, b]);
        assert_eq!(said.status, 0, "{said:?}");
        said.out.lines().next().unwrap().to_owned()
    };
    let whole = answer("latest:thread/sized", "latest:thread/honest");
    assert!(whole.starts_with("thread/honest against thread/sized"), "{whole}");
    assert_eq!(answer("latest:goroutine", "latest:Semaphore"), whole);
    let placed = answer("latest:goroutine ticks=2000", "latest:semaphore ticks=2000");
    assert!(placed.starts_with("thread/honest ticks=2000 against thread/sized ticks=2000"), "{placed}");
    // A family and a glob still name several rows.
    let many = world.run("compare latest:thread latest:goroutine");
    many.refuses(2, &["names 4 rows", "such as 'latest:thread/honest'"]);
}

#[test]
fn an_unknown_name_gives_what_is_near() {
    let world = named();
    for command in ["run", "list", "explain", "history", "show"] {
        assert_eq!(world.run("run honest --rounds 6").status, 0);
        let said = world.run(&format!("{command} gorutine"));
        said.refuses(2, &["gorutine", "did you mean `thread/sized`"]);
        let far = world.run(&format!("{command} qqqqqq"));
        far.refuses(2, &["qqqqqq"]);
        assert!(!far.err.contains("did you mean"), "{far:?}");
    }
}

#[test]
fn two_names_are_a_question() {
    let world = named();
    // Also where nothing is stored yet.
    world.run("compare semaphore gorutine").refuses(2, &["gorutine", "did you mean `thread/sized`"]);
    let asked = world.run("compare semaphore goroutine --contexts 2 --rounds 10");
    assert_eq!(asked.status, 0, "{asked:?}");
    assert!(asked.err.contains("measured now"), "{asked:?}");
    let first = asked.out.lines().next().unwrap();
    assert!(first.contains("thread/sized") && first.contains("thread/honest") && first.contains("switch"), "{asked:?}");
    // What was measured for it answers the next.
    let again = world.run("compare semaphore goroutine --contexts 2");
    assert!(again.status == 0 && !again.err.contains("measured"), "{again:?}");
    assert_eq!(again.out.lines().next(), Some(first));
    // A family is its example.
    let family = world.run("compare thread goroutine --contexts 2");
    assert_eq!(family.out.lines().next(), Some(first), "{family:?}");
    world.run("compare thread honest").refuses(2, &["both mean thread/honest"]);
    world.run("compare goroutine nothing-here").refuses(2, &["nothing-here"]);
    world.run("compare goroutine absent").refuses(3, &["thread/absent", "cannot be measured"]);
}

#[test]
fn show_of_a_name_reads_the_newest_run_that_has_it() {
    let world = named();
    assert_eq!(world.run("run honest --rounds 6").status, 0);
    assert_eq!(world.run("run blind --rounds 6").status, 0);
    let shown = world.run("show honest");
    let run = world.run("export latest~1 --format json").json()["run"]["id"].clone();
    assert!(shown.out.contains(run.as_str().unwrap()), "{shown:?}");
    world.run("show latest honest").refuses(2, &["honest"]);
}
