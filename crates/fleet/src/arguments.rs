//! `fleet`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use switchcost_session::arguments::ListFormat;
use switchcost_session::output::file_parser;

/// Measure the nodes of a fleet, and name those that may be odd
#[derive(Parser, Debug)]
#[command(name = "fleet")]
pub struct Fleet {
    /// What to do.
    #[command(subcommand)]
    pub action: FleetAction,
}

/// What is done with a fleet.
#[derive(Subcommand, Debug)]
pub enum FleetAction {
    /// Print what starts one measurement, with a budget of 8 s, on each node, by a launcher that
    /// you have
    ///
    /// switchcost fleet plan --launcher srun --nodes nodes.txt --into /shared/round1 switchcost
    /// fleet plan --launcher parallel --nodes n1,n2,n3 --into round1 --go switchcost fleet plan
    /// --launcher clush --nodes nodes.txt --into fit --go -- switchcost check
    ///
    /// The folder gets NODE.jsonl, what the node said on standard error (NODE.err) and how it ended
    /// (NODE.status). The script reads SWITCHCOST_PATIENCE (seconds for a node, 60),
    /// SWITCHCOST_JOBS (nodes at once, 64) and SWITCHCOST_SSH_OPTIONS.
    #[command(verbatim_doc_comment)]
    Plan(FleetPlan),
    /// Which of the nodes in a folder may be unlike the others, and what its odd rows point to
    ///
    /// Reads one run file per node, NODE.jsonl. Several folders are rounds, the oldest first.
    ///
    /// An odd node is a suspicion: in simulated fleets of 64 nodes, made of one machine's runs, at
    /// most 1 of 1,000 equal nodes is named, and faults of a few percent are often missed
    /// (docs/fleet.md). Measure it again (--confirm) before you take it out.
    ///
    ///   switchcost fleet judge round1 --expect nodes.txt
    ///   switchcost fleet judge monday tuesday today        what changed, and what was always so
    #[command(after_help = JUDGE_EXITS, verbatim_doc_comment)]
    Judge(FleetJudge),
}

/// Ends the help of `fleet judge`.
const JUDGE_EXITS: &str = "Exit status:
  0   no node is unlike the others
  1   a node is
  2   usage error: a flag or a folder cannot be used
  3   inconclusive: no six nodes of the same hardware answered, no cluster of them is the majority, or others ran beside most of them
  4   no node is unlike the others, but an expected one did not answer, a file was left out, or a node has no usable row";

/// `fleet plan`.
#[derive(Args, Debug)]
pub struct FleetPlan {
    /// How nodes are reached
    #[command(flatten)]
    pub launch: Launch,
    /// Nodes: n1,n2 or n[001-064] or a file with one a line, and beside it, where it is known, the
    /// physical host, which measures one node at a time
    #[arg(long, value_name = "NODES")]
    pub nodes: String,
    /// Folder that the run files come into
    #[arg(long, value_name = "FOLDER")]
    pub into: PathBuf,
    /// Run it instead of printing it
    #[arg(long)]
    pub go: bool,
    /// What each node runs instead of a measurement, as its shell reads it; what it prints is
    /// NODE.out
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// How nodes are reached.
#[derive(Args, Debug)]
pub struct Launch {
    /// What starts the measurement on the nodes
    #[arg(long, value_name = "LAUNCHER")]
    pub launcher: Launcher,
    /// switchcost on the nodes
    #[arg(long, value_name = "PATH", default_value = "switchcost")]
    pub program: String,
    /// Image that holds it, for k8s
    #[arg(long, value_name = "IMAGE", default_value = "switchcost:latest")]
    pub image: String,
}

/// What starts something on many nodes.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// Slurm
    Srun,
    /// ClusterShell
    Clush,
    /// GNU parallel with ssh
    Parallel,
    /// Ansible
    Ansible,
    /// Ray
    Ray,
    /// Kubernetes: an Indexed Job, one pod a node
    K8s,
}

/// `fleet judge`.
#[derive(Args, Debug)]
pub struct FleetJudge {
    /// Folders with a run file per node; several are rounds, the oldest first
    #[arg(value_name = "FOLDER", required = true)]
    pub folders: Vec<PathBuf>,
    /// Nodes that should have answered: n1,n2 or n[001-064] or a file with one a line
    #[arg(long, value_name = "NODES")]
    pub expect: Option<String>,
    /// Measure odd nodes and two others again by this launcher; who is not odd again is not named
    #[arg(long, value_name = "LAUNCHER")]
    pub confirm: Option<Launcher>,
    /// switchcost on the nodes, for --confirm
    #[arg(long, value_name = "PATH", default_value = "switchcost")]
    pub program: String,
    /// Image that holds it, for --confirm k8s
    #[arg(long, value_name = "IMAGE", default_value = "switchcost:latest")]
    pub image: String,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Also write a page: one mark a node, groups, rows
    #[arg(long, value_name = "FILE", value_parser = file_parser())]
    pub page: Option<PathBuf>,
}
