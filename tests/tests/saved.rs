//! `report --save`: a picture as a file, by a browser without a window.

use crate::real::real;
use crate::report::TEMPLATE;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use switchcost_e2e::{OWN, Said, World, untested};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A browser that has no sandbox here, and prints what its last argument asks for.
const BROWSER: &str = r##"#!/bin/sh
echo "noise" >&2
for last; do :; done
echo "$*" >>"${0%/*}/log"
case "$*" in *--no-sandbox*) ;; *) exit 1 ;; esac
case $last in
*view=nothing*) echo '<html><pre id="picture"></pre></html>' ;;
*picture=png) echo '<html><pre id="picture">data:image/png;base64,iVBORw0=</pre></html>' ;;
*) echo '<html><pre id="picture">data:image/svg+xml;charset=utf-8,%3Csvg%3E%C3%A9%3C%2Fsvg%3E</pre></html>' ;;
esac
"##;

fn measured() -> World {
    let world = World::new(FAKE);
    world.write("share/switchcost/report.html", TEMPLATE);
    assert_eq!(world.run("run thread/honest --rounds 2 --batches 2").status % 4, 0);
    world
}

fn with_path(world: &World, path: &str, words: &str) -> Said {
    let mut command = world.command(&words.split_whitespace().collect::<Vec<_>>());
    Said::from(command.env("PATH", path).env("TMPDIR", world.path("")).output().unwrap())
}

#[test]
fn the_browser_s_picture_is_written() {
    let world = measured();
    world.write("bin/chromium", BROWSER);
    std::fs::set_permissions(world.path("bin/chromium"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
    let file = |name: &str| world.path(name).display().to_string();
    let (svg, png) = (file("ladder.svg"), file("ladder.png"));
    let said = with_path(&world, &path, &format!("report --save {svg} --show view=ladder&theme=dark"));
    assert_eq!((said.status, said.out.trim()), (0, svg.as_str()), "{said:?}");
    assert_eq!(std::fs::read_to_string(&svg).unwrap(), "<svg>é</svg>");
    assert_eq!(with_path(&world, &path, &format!("report --save {png}")).status, 0);
    assert_eq!(std::fs::read(&png).unwrap(), b"\x89PNG\r");
    let log = std::fs::read_to_string(world.path("bin/log")).unwrap();
    assert!(log.contains("--headless") && log.contains("page.html#view=ladder&theme=dark&picture=svg\n"), "{log}");
    // Neither the page, nor the browser's own folder, nor a page of the user's.
    let left =
        std::fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with("switchcost-")), "something is left");
    let page = file("page.html");
    let said = with_path(&world, &path, &format!("report --save {svg} -o {page}"));
    assert!(said.status == 0 && std::path::Path::new(&page).exists(), "{said:?}");
    with_path(&world, &path, &format!("report --save {svg} --show view=nothing")).refuses(2, &["has no picture"]);
}

#[test]
fn without_a_browser_there_is_one_sentence() {
    let world = measured();
    let save = |name: &str| format!("report --save {}", world.path(name).display());
    with_path(&world, "/usr/none", &save("a.svg")).refuses(2, &["--save: no browser", "install chromium"]);
    with_path(&world, "/usr/none", &save("a.pdf")).refuses(2, &["--save", "it ends in .svg or .png"]);
    with_path(&world, "/usr/none", "report --save /nowhere/a.svg").refuses(2, &["--save", "cannot write it"]);
    with_path(&world, "/usr/none", "report --show view=ladder").refuses(2, &["--save"]);
    assert!(!world.path("a.svg").exists());
}

/// The real page in a real browser.
#[test]
fn a_real_browser_draws_the_ladder() {
    let Some(real) = real() else { return };
    let installed = |name: &str| Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap();
    if !["chromium", "google-chrome"].iter().any(|name| installed(name).status.success()) {
        untested("no browser is installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(real.run("run control/empty-loop --rounds 6 --batches 5").status % 4, 0);
    let said = real.run(&format!("report --save {}", file("a.svg")));
    if said.err.contains("make build") {
        untested(&format!("{OWN}the page is not built"));
        return;
    }
    let svg = std::fs::read_to_string(file("a.svg")).unwrap_or_else(|_| panic!("{said:?}"));
    assert!(svg.starts_with("<svg ") && svg.contains("</svg>") && !svg.contains("var(--"), "{svg}");
    let said = real.run(&format!("report --save {} --show theme=dark", file("a.png")));
    assert!(said.status == 0 && std::fs::read(file("a.png")).unwrap().starts_with(b"\x89PNG"), "{said:?}");
}
