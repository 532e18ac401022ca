//! A picture of the page as a file, drawn by an installed browser without a window.

use crate::programs::{Said, run};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use std::path::{Path, PathBuf};
use std::time::Duration;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{find_program, scratch};
use switchcost_session::{Failure, output};

/// Browsers that print what a page became, by the names of their programs.
const BROWSERS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
];

/// Drawing takes a second or two.
const PATIENCE: Duration = Duration::from_secs(120);

/// No picture of a page is larger.
const MOST_BYTES: usize = 256 << 20;

/// Width and height of the window that there is not: as wide as README shows a picture.
const WINDOW: &str = "--window-size=880,900";

/// Kinds of pictures, by the ending of the file.
const KINDS: [&str; 2] = ["svg", "png"];

/// Around the picture in what the browser prints.
const BETWEEN: (&str, &str) = ("<pre id=\"picture\">", "</pre>");

/// A file whose ending says what is drawn.
pub fn parse_file(text: &str) -> Result<PathBuf, String> {
    let path = output::writable_file(text.into())?;
    kind(&path).map(|_| path).ok_or_else(|| "it ends in .svg or .png".to_owned())
}

fn kind(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    KINDS.into_iter().find(|kind| ending.eq_ignore_ascii_case(kind))
}

/// The browser; looked for before anything is read.
pub fn browser() -> Result<PathBuf, Failure> {
    let found = BROWSERS.iter().find_map(|name| find_program(name, &[]));
    let found = found.ok_or_else(|| {
        Failure::usage("--save: no browser that draws without a window is installed; install chromium, or save the picture from the page that `report` writes")
    })?;
    switchcost_machine::root_may_run(&found).map_err(Failure::usage)?;
    Ok(found)
}

/// Writes the first picture of the page as it stands at this address.
pub fn save(browser: &Path, page: &str, show: &str, file: &Path) -> Result<(), Failure> {
    let failed = |reason: &str| Failure::usage(format!("--save {}: {reason}", file.display()));
    let interrupt = Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
    let folder = scratch();
    let drawn = std::fs::create_dir(&folder)
        .and_then(|()| std::fs::write(folder.join("page.html"), page))
        .map_err(|error| failed(&format!("{} cannot be written ({error}); set TMPDIR", folder.display())))
        .and_then(|()| draw(browser, &folder, show, kind(file).unwrap_or_default(), &interrupt));
    let _ = std::fs::remove_dir_all(&folder);
    let printed = drawn?.text;
    let found = printed.split_once(BETWEEN.0).and_then(|(_, rest)| rest.split_once(BETWEEN.1)).map(|(found, _)| found);
    let name = browser.display();
    let address = found.ok_or_else(|| failed(&format!("{name} drew nothing; open the page in it to see why")))?;
    let bytes = match address.split_once(',') {
        Some((head, data)) if head.ends_with(";base64") => STANDARD.decode(data).ok(),
        Some((_, data)) => Some(percent_decode_str(data).collect()),
        None => None,
    };
    let nothing = || failed("that view has no picture; the views are behind # in the address of the page");
    output::write_file(file, &bytes.ok_or_else(nothing)?)
}

/// What the browser prints once the page has drawn itself.
fn draw(browser: &Path, folder: &Path, show: &str, kind: &str, interrupt: &Interrupt) -> Result<Said, Failure> {
    let program = browser.to_string_lossy().into_owned();
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let address = format!("file://{}#{show}&picture={kind}", folder.join("page.html").display());
    // The page asks for nothing and holds no script but its own; root has no sandbox, and neither
    // have some containers.
    let mut said = Said::default();
    for sandbox in [None, Some("--no-sandbox")] {
        // Of what else a browser has to say nothing is of this.
        let mut words = vec!["-c", "exec \"$0\" \"$@\" 2>/dev/null", &program, "--headless", "--disable-gpu", WINDOW];
        words.extend(["--no-first-run", "--virtual-time-budget=20000", "--dump-dom", &profile]);
        words.extend(sandbox);
        words.push(&address);
        said = run("sh", &words, folder, PATIENCE, MOST_BYTES, interrupt)?;
        if said.text.contains(BETWEEN.0) {
            break;
        }
    }
    Ok(said)
}
