//! `fleet plan`: the shell script by which a launcher starts one measurement, or another command,
//! on each node.

use super::nodes::nodes;
use crate::arguments::{self, Launch, Launcher};
use crate::data::{FleetPlan, fleet_plan};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use switchcost_catalogue::grammar::command_line;
use switchcost_machine::spawn::find_program;
use switchcost_model::harmless_line;
use switchcost_session::{Exit, Failure, output};

/// What all launchers share. Scripts are part of the program: a plan can be carried to a machine
/// that has only the engine.
const FRAME: &str = include_str!("launchers/frame.sh");

/// Program that a launcher needs here, and its part of the script.
fn engine(launcher: Launcher) -> (&'static str, String) {
    let with_python = |script: &str, python: &str| script.replace("@PYTHON@\n", python);
    match launcher {
        Launcher::Srun => ("srun", include_str!("launchers/srun.sh").to_owned()),
        Launcher::Clush => ("clush", include_str!("launchers/clush.sh").to_owned()),
        Launcher::Parallel => ("parallel", include_str!("launchers/parallel.sh").to_owned()),
        Launcher::Ansible => {
            ("ansible", with_python(include_str!("launchers/ansible.sh"), include_str!("launchers/ansible.py")))
        }
        Launcher::Ray => ("python3", with_python(include_str!("launchers/ray.sh"), include_str!("launchers/ray.py"))),
        Launcher::K8s => ("kubectl", include_str!("launchers/k8s.sh").to_owned()),
    }
}

/// Prints or runs it.
pub fn plan(arguments: &arguments::FleetPlan) -> Result<Exit, Failure> {
    let nodes = nodes("--nodes", &arguments.nodes)?;
    let script = script(&arguments.launch, &waves(nodes), &arguments.into, &arguments.command)?;
    if !arguments.go {
        output::print(&script)?;
        return Ok(Exit::Fine);
    }
    run(&script, arguments.launch.launcher)
}

/// Runs the script. Its outcome is what comes into the folder; that some nodes failed is for `fleet
/// judge` to say.
pub fn run(script: &str, launcher: Launcher) -> Result<Exit, Failure> {
    let refused = |error: std::io::Error| Failure::refused("cannot start `sh`", error);
    // The script starts the engine, and the shell starts the script.
    for file in ["sh", engine(launcher).0].iter().filter_map(|name| find_program(name, &[])) {
        switchcost_machine::root_may_run(&file).map_err(Failure::usage)?;
    }
    let mut child =
        Command::new("sh").arg("-s").stdin(Stdio::piped()).stdout(std::io::stderr()).spawn().map_err(refused)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes()).map_err(refused)?;
    }
    let status = child.wait().map_err(refused)?;
    match status.code() {
        Some(0) => Ok(Exit::Fine),
        Some(127) => {
            Err(Failure::nothing(format!("--launcher {launcher:?}: it is not installed here; choose another one")))
        }
        _ => Err(Failure::partial(format!(
            "not every node ended well ({status}); `fleet judge` with --expect names those that did not answer"
        ))),
    }
}

/// Nodes that may be measured at the same time: of each physical host one.
pub fn waves(nodes: Vec<(String, Option<String>)>) -> Vec<Vec<String>> {
    let mut waves: Vec<Vec<String>> = Vec::new();
    let mut of_host = std::collections::BTreeMap::<String, usize>::new();
    for (node, host) in nodes {
        let wave = host.map_or(0, |host| {
            let next = of_host.entry(host).or_default();
            *next += 1;
            *next - 1
        });
        if waves.len() <= wave {
            waves.resize_with(wave + 1, Vec::new);
        }
        waves[wave].push(node);
    }
    waves
}

/// What runs on a node: the run file on standard output, and nothing left behind. A run that its
/// budget ended (status 4) is a whole run file: slow nodes have fewer starts.
fn on_node(program: &str, plan: &FleetPlan) -> String {
    let rows = command_line(plan.rows.iter().map(|row| row.pattern.as_str()));
    format!(
        "d=$(mktemp -d) || exit; {} run {rows} --rounds {} --budget {}s --store \"$d/runs.sqlite\" --format jsonl; s=$?; rm -rf \"$d\"; [ $s -ne 4 ] || s=0; exit $s",
        command_line([program]),
        plan.rounds,
        plan.budget_s
    )
}

/// The script for a launcher: the measurement, or the words of another command, as a shell on the
/// node reads them.
pub fn script(launch: &Launch, waves: &[Vec<String>], into: &Path, words: &[String]) -> Result<String, Failure> {
    let folder =
        into.to_str().ok_or_else(|| Failure::usage("--into: the name of the folder is not UTF-8; choose another"))?;
    // The script is read by people on a terminal before a shell reads it.
    let texts = [("--into", folder), ("--program", &launch.program), ("--image", &launch.image)];
    if let Some((flag, _)) = texts
        .into_iter()
        .chain(words.iter().map(|word| ("COMMAND", word.as_str())))
        .find(|(_, text)| harmless_line(text) != *text)
    {
        return Err(Failure::usage(format!("{flag}: a line break or another control character in it; leave it out")));
    }
    let plan = fleet_plan();
    let (ending, command, what) = if words.is_empty() {
        let what = format!("One measurement with a budget of {} s", plan.budget_s);
        ("jsonl", on_node(&launch.program, &plan), what)
    } else {
        ("out", words.join(" "), "One command".to_owned())
    };
    let (engine, launcher) = engine(launch.launcher);
    let given = [
        ("engine", engine),
        ("folder", folder),
        ("ending", ending),
        ("command", command.as_str()),
        ("image", launch.image.as_str()),
    ];
    let mut text = format!("# {what} on each node, into NODE.{ending} of the folder; by `switchcost fleet plan`.\n");
    if waves.len() > 1 {
        text += &format!("# {} waves: nodes of one physical host are measured one after another.\n", waves.len());
    }
    for (name, value) in given {
        text += &format!("{name}={}\n", command_line([value]));
    }
    text += &format!("\n{FRAME}\n{launcher}\n");
    for wave in waves {
        text += &format!("wave <<'NODES'\n{}\nNODES\n", wave.join("\n"));
    }
    Ok(text + "exit $failed\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_physical_host_measures_one_node_at_a_time() {
        let nodes = [("a", Some("h1")), ("b", Some("h1")), ("c", Some("h2")), ("d", None)];
        let nodes = nodes.map(|(node, host)| (node.to_owned(), host.map(str::to_owned)));
        assert_eq!(waves(nodes.to_vec()), [vec!["a", "c", "d"], vec!["b"]]);
    }
}
