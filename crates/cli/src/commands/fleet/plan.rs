//! `fleet plan`: the shell script by which a launcher starts one measurement per node.

use super::nodes;
use crate::arguments::{self, Launch, Launcher};
use crate::exit::{Exit, Failure};
use crate::output;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use switchcost_catalogue::grammar::command_line;
use switchcost_catalogue::{FleetPlan, fleet_plan};

/// Nodes that are measured at one time, at most, where the launcher does not count for itself.
const AT_ONCE: usize = 64;

/// Prints or runs it.
pub fn plan(arguments: &arguments::FleetPlan) -> Result<Exit, Failure> {
    let nodes = nodes("--nodes", &arguments.nodes)?;
    let script = script(&arguments.launch, &waves(nodes), &arguments.into)?;
    if !arguments.go {
        output::print(&script)?;
        return Ok(Exit::Fine);
    }
    run(&script, arguments.launch.launcher)
}

/// Runs the script. Its outcome is what comes into the folder; that some nodes failed is for `fleet judge` to say.
pub fn run(script: &str, launcher: Launcher) -> Result<Exit, Failure> {
    let refused = |error: std::io::Error| Failure::refused("cannot start `sh`", error);
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
            "not every node was measured ({status}); `fleet judge` with --expect names those that did not answer"
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

/// What runs on a node: the run file on standard output, and nothing left behind. A run that its budget ended (status 4) is a whole run file: slow nodes
/// have fewer starts.
fn on_node(program: &str, plan: &FleetPlan) -> String {
    let rows = command_line(plan.rows.iter().map(|row| row.pattern.as_str()));
    format!(
        "d=$(mktemp -d) || exit; {} run {rows} --rounds {} --budget {}s --store \"$d/runs.sqlite\" --format jsonl; s=$?; rm -rf \"$d\"; [ $s -ne 4 ] || s=0; exit $s",
        command_line([program]),
        plan.rounds,
        plan.budget_s
    )
}

/// The script for a launcher.
pub fn script(launch: &Launch, waves: &[Vec<String>], into: &Path) -> Result<String, Failure> {
    let folder =
        into.to_str().ok_or_else(|| Failure::usage("--into: the name of the folder is not UTF-8; choose another"))?;
    if folder.contains(['\n', '\'']) {
        return Err(Failure::usage("--into: a quote or a line break in the name of the folder; choose another"));
    }
    let plan = fleet_plan();
    let command = on_node(&launch.program, &plan);
    let quoted = command_line(["sh", "-c", &command]);
    let folder = command_line([folder]);
    let mut text = format!(
        "# One measurement with a budget of {} s on each node, into {folder}/NODE.jsonl; by `switchcost fleet plan`.\nset -e\nmkdir -p {folder}\nfailed=0\n",
        plan.budget_s
    );
    if waves.len() > 1 {
        text += &format!("# {} waves: nodes of one physical host are measured one after another.\n", waves.len());
    }
    for wave in waves {
        let names = wave.join(",");
        text += &match launch.launcher {
            Launcher::Srun => format!(
                "srun --nodes={n} --ntasks={n} --ntasks-per-node=1 --nodelist={names} --output=/dev/null {} {folder} || failed=1\n",
                // Slurm's %N is the name of the host, which may be another one than that of the node.
                command_line([
                    "sh",
                    "-c",
                    &format!("exec >\"$0/$SLURMD_NODENAME.jsonl\" 2>\"$0/$SLURMD_NODENAME.err\"; {command}")
                ]),
                n = wave.len()
            ),
            // It prints what it keeps.
            Launcher::Clush => format!(
                "clush -S -f {AT_ONCE} -w {names} --outdir={folder} {} >/dev/null || failed=1\n",
                command_line([quoted.as_str()])
            ),
            Launcher::Parallel => format!(
                "printf '%s\\n' {} | parallel -j {AT_ONCE} ssh -o BatchMode=yes {{}} {} '>' {folder}/{{}}.jsonl || failed=1\n",
                wave.join(" "),
                command_line([command_line([quoted.as_str()]).as_str()])
            ),
            Launcher::Ansible => ansible(&names, &command, &folder),
            Launcher::Ray => ray(wave, &command, &folder),
            Launcher::K8s => k8s(wave, &command, &folder, &launch.image),
        };
    }
    Ok(text + "exit $failed\n")
}

/// Text as it stands in YAML and JSON alike; Python reads it as well.
fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            _ => out.push(letter),
        }
    }
    out + "\""
}

fn ansible(names: &str, command: &str, folder: &str) -> String {
    // The run file is fetched as a file: as a template its text would be read as JSON.
    let kept = format!("f=$(mktemp); ({command}) > \"$f\" 2>/dev/null; echo \"$f\"");
    format!(
        "ansible-playbook --inventory {names}, --forks {AT_ONCE} /dev/stdin <<'PLAY' || failed=1
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.raw: {}
      register: kept
    - ansible.builtin.fetch:
        src: \"{{{{ kept.stdout_lines | last }}}}\"
        dest: {}
        flat: true
    - ansible.builtin.raw: \"rm -f {{{{ kept.stdout_lines | last }}}}\"
PLAY
",
        json(&kept),
        json(&format!("{}/{{{{ inventory_hostname }}}}.jsonl", plain(folder)))
    )
}

/// A quoted folder without its quotes: the script's own quoting ends where a document begins.
fn plain(folder: &str) -> &str {
    folder.trim_matches('\'')
}

fn ray(wave: &[String], command: &str, folder: &str) -> String {
    let names: Vec<String> = wave.iter().map(|name| json(name)).collect();
    format!(
        "python3 - <<'RAY' || failed=1
import pathlib, subprocess, sys
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

ray.init(address=\"auto\", log_to_driver=False)
folder, wanted = pathlib.Path({folder}), {{{names}}}

@ray.remote(num_cpus=0)
def measure():
    return subprocess.run([\"sh\", \"-c\", {command}], stdout=subprocess.PIPE, timeout=60).stdout

tasks = {{}}
for node in ray.nodes():
    name = next((n for n in (node[\"NodeManagerHostname\"], node[\"NodeManagerAddress\"]) if n in wanted), None)
    if node[\"Alive\"] and name:
        here = NodeAffinitySchedulingStrategy(node[\"NodeID\"], soft=False)
        tasks[name] = measure.options(scheduling_strategy=here).remote()
failed = wanted - tasks.keys()
for name, task in tasks.items():
    try:
        (folder / (name + \".jsonl\")).write_bytes(ray.get(task, timeout=120))
    except Exception as error:
        print(name, error, file=sys.stderr)
        failed.add(name)
sys.exit(bool(failed))
RAY
",
        folder = json(plain(folder)),
        names = names.join(", "),
        command = json(command),
    )
}

fn k8s(wave: &[String], command: &str, folder: &str, image: &str) -> String {
    let values: Vec<String> = wave.iter().map(|name| json(name)).collect();
    format!(
        "kubectl delete job switchcost-fleet --ignore-not-found --wait
kubectl apply -f - <<'JOB'
apiVersion: batch/v1
kind: Job
metadata:
  name: switchcost-fleet
spec:
  completionMode: Indexed
  completions: {count}
  parallelism: {count}
  backoffLimit: 0
  activeDeadlineSeconds: 300
  template:
    metadata:
      labels:
        app: switchcost-fleet
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: kubernetes.io/hostname
                    operator: In
                    values: [{values}]
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels:
                  app: switchcost-fleet
      containers:
        - name: switchcost
          image: {image}
          command: [\"sh\", \"-c\", {command}]
JOB
kubectl wait --for=condition=complete --timeout=300s job/switchcost-fleet || failed=1
kubectl get pods -l app=switchcost-fleet -o 'jsonpath={{range .items[*]}}{{.metadata.name}} {{.spec.nodeName}}{{\"\\n\"}}{{end}}' |
while read -r pod node; do
    [ -n \"$node\" ] && kubectl logs \"$pod\" > {folder}/\"$node\".jsonl
done || failed=1
",
        count = wave.len(),
        values = values.join(", "),
        image = json(image),
        // The progress of a run goes to standard error, which a pod's log would hold as well.
        command = json(&format!("exec 2>/dev/null; {command}")),
    )
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
