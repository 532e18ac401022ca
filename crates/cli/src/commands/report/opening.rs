//! A page in the user's browser.

use std::path::Path;

/// Hands the page to the program that opens pages here. Where there is none, one sentence says so:
/// the page is written all the same, which is what was asked for, so the exit status is that of the
/// rest.
pub fn open(file: &Path) {
    let programs =
        || open::commands(file).into_iter().map(|command| command.get_program().to_string_lossy().into_owned());
    let found = || programs().filter_map(|program| switchcost_machine::spawn::find_program(&program, &[]));
    let refused = || found().find_map(|program| switchcost_machine::root_may_run(&program).err());
    let reason = match absent_desktop().map(str::to_owned).or_else(refused) {
        Some(reason) => reason,
        None => match open::that_detached(file) {
            Ok(()) => return,
            Err(error) => format!("no program opened it ({error})"),
        },
    };
    let place = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    switchcost_session::output::say(&format!(
        "--open: {reason}; the page is {}, which any browser shows",
        place.display()
    ));
}

/// Why no browser can be shown here: without a desktop xdg-open would start one that takes over the
/// terminal, or fail in several lines.
fn absent_desktop() -> Option<&'static str> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let here = !cfg!(all(unix, not(target_os = "macos")))
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"].into_iter().any(set);
    (!here).then_some("there is no desktop here (neither DISPLAY nor WAYLAND_DISPLAY nor BROWSER is set)")
}
