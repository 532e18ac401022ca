//! `data/crosscheck/*.toml`: other tools that measure what a mechanism of ours measures, and how
//! their figures are read and converted.

use crate::latencies;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use switchcost_catalogue::{CatalogueError, entries, read};
use switchcost_model::{Experiment, MechanismId, Parameters, Placement};

/// Another tool.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Name of its file.
    pub id: String,
    /// What it does.
    pub title: String,
    /// Program, looked up in PATH and then in `look_in`.
    pub program: String,
    /// Further folders.
    pub look_in: Vec<PathBuf>,
    /// What brings it.
    pub package: String,
    /// Arguments; `{cpu}` stands for the measured CPU, `{other}` for another one, if there is one.
    pub arguments: Vec<String>,
    /// Unit of its figure, as it means it.
    pub unit: String,
    /// ns in its unit of time.
    pub ns: f64,
    /// Switches in one of its units.
    pub switches: f64,
    /// The figure is a rate.
    pub rate: bool,
    /// How long it may take.
    pub timeout: Duration,
    /// Ours that does the same.
    pub mechanism: MechanismId,
    /// Where.
    pub placement: Placement,
    /// With which parameters.
    pub parameters: Parameters,
    /// Why the two differ.
    pub reason: String,
    /// What is measured of it, if that is not a switch.
    pub experiment: Option<Experiment>,
    /// The figure is a percentile of latencies.
    pub latency: Option<Latency>,
    /// Tasks beside it that want each CPU, as beside ours.
    pub hogs: u64,
    /// Words of the line with its figure, which stands for [`FIGURE`].
    figure: Vec<String>,
}

/// A percentile of what a tool prints as a histogram of its unit.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Share of latencies below it.
    pub share: f64,
    /// The tool skips times that it missed: its period, µs.
    pub skips_after_us: f64,
}

/// Stands for the number in a pattern.
const FIGURE: &str = "{figure}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    program: String,
    #[serde(default)]
    look_in: Vec<PathBuf>,
    package: String,
    arguments: Vec<String>,
    #[serde(default)]
    figure: Option<String>,
    #[serde(default)]
    latency: Option<Latency>,
    #[serde(default)]
    hogs: u64,
    #[serde(default)]
    experiment: Option<String>,
    unit: String,
    ns: f64,
    switches: f64,
    #[serde(default)]
    rate: bool,
    timeout_s: u64,
    mechanism: String,
    #[serde(default)]
    placement: Option<String>,
    #[serde(default)]
    parameters: Parameters,
    reason: String,
}

impl Peer {
    /// The figure in what the tool printed.
    ///
    /// # Errors
    /// A clause: none, several, or no positive number. A tool that prints `inf` or nothing and
    /// calls it success has no figure.
    pub fn figure(&self, printed: &str) -> Result<f64, String> {
        if let Some(latency) = self.latency {
            let (steps, beyond) = latencies::printed(printed).ok_or("its histogram does not say what it left out")?;
            let lacking = || "its histogram holds no such percentile".to_owned();
            return latencies::percentile(&steps, beyond, latency.share).ok_or_else(lacking);
        }
        let found: Vec<&str> = printed.lines().flat_map(|line| self.figures_in(line)).collect();
        match found.as_slice() {
            [] => Err("its output holds no figure of the form that is known".into()),
            [text] => match text.parse::<f64>() {
                Ok(figure) if figure.is_finite() && figure > 0.0 => Ok(figure),
                _ => Err(format!("its figure `{text}` is not a positive number")),
            },
            several => Err(format!("its output holds {} figures where one is known", several.len())),
        }
    }

    /// The numbers of a line that stand where the pattern has the figure.
    fn figures_in<'t>(&self, line: &'t str) -> Vec<&'t str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fits = |(pattern, word): (&String, &&str)| {
            if pattern == FIGURE { word.parse::<f64>().is_ok() } else { pattern == word }
        };
        let place = self.figure.iter().position(|word| word == FIGURE).unwrap_or(0);
        let found = words.windows(self.figure.len()).filter(|words| self.figure.iter().zip(*words).all(fits));
        found.map(|words| words[place]).collect()
    }

    /// ns per switch, from its own unit.
    #[must_use]
    pub fn ns_per_switch(&self, figure: f64) -> f64 {
        let of_unit = if self.rate { self.ns / figure } else { figure * self.ns };
        of_unit / self.switches
    }
}

/// Reads the tools in a folder, by name.
///
/// # Errors
/// The first file that is not of the right form.
pub fn load_peers(folder: &Path) -> Result<Vec<Peer>, CatalogueError> {
    let files = entries(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    files.map(|path| peer(&path)).collect()
}

fn peer(path: &Path) -> Result<Peer, CatalogueError> {
    let invalid = |what: String| CatalogueError::invalid(path, what);
    let file: File = read(path)?;
    let figure: Vec<String> = file.figure.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
    if file.latency.is_none() && figure.iter().filter(|word| *word == FIGURE).count() != 1 {
        return Err(invalid(format!("figure has not exactly one word {FIGURE}")));
    }
    for (name, number) in [("ns", file.ns), ("switches", file.switches)] {
        if !(number.is_finite() && number > 0.0) {
            return Err(invalid(format!("{name} is not above 0")));
        }
    }
    let placement = file.placement.map_or(Ok(Placement::usual()), |word| word.parse());
    Ok(Peer {
        id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        title: file.title,
        program: file.program,
        look_in: file.look_in,
        package: file.package,
        arguments: file.arguments,
        unit: file.unit,
        ns: file.ns,
        switches: file.switches,
        rate: file.rate,
        timeout: Duration::from_secs(file.timeout_s.max(1)),
        mechanism: file.mechanism.parse().map_err(|error: switchcost_model::IdError| invalid(error.0))?,
        placement: placement.map_err(|error: switchcost_model::IdError| invalid(error.0))?,
        parameters: file.parameters,
        reason: file.reason,
        experiment: file
            .experiment
            .map(|word| word.parse())
            .transpose()
            .map_err(|error: switchcost_model::IdError| invalid(error.0))?,
        latency: file.latency,
        hogs: file.hogs,
        figure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/crosscheck");

    #[test]
    fn every_tool_names_a_mechanism_that_exists() {
        let catalogue = switchcost_catalogue::load(
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms")),
            &[],
            &|_| Ok(()),
        )
        .unwrap();
        let peers = load_peers(Path::new(FOLDER)).unwrap();
        assert!(peers.len() >= 8);
        for peer in peers {
            let mechanism =
                catalogue.find(&peer.mechanism).unwrap_or_else(|| panic!("{}: {}", peer.id, peer.mechanism));
            assert!(mechanism.placements.contains(&peer.placement), "{}", peer.id);
            for (name, value) in &peer.parameters {
                mechanism.parameters[name].accepts(value).unwrap();
            }
            for text in [&peer.title, &peer.program, &peer.package, &peer.unit, &peer.reason] {
                assert!(!text.trim().is_empty(), "{}", peer.id);
            }
        }
    }

    /// Lines as the tools print them.
    #[test]
    fn figures_are_read_strictly_and_converted() {
        let peers = load_peers(Path::new(FOLDER)).unwrap();
        let peer = |id: &str| peers.iter().find(|peer| peer.id == id).unwrap();
        for (id, printed, ns) in [
            (
                "perf-pipe-threads",
                "     Total time: 0.161 [sec]\n\n       2.530000 usecs/op\n         395256 ops/sec\n",
                1265.0,
            ),
            (
                "stress-ng-context",
                "stress-ng: metrc: [1] context    4000000.00 swapcontext calls per sec (geometic mean of 1 instances)",
                250.0,
            ),
            ("sysbench-threads", "    avg:                                    1.41\n", 705.0),
            ("hackbench-pipe", "Time: 0.200\n", 1000.0),
            ("lmbench-lat-ctx", "\"size=0k ovr=0.53\n2 0.97\n", 970.0),
            ("cyclictest-fifo", "# Histogram\n000013 000004\n000014 000004\n# Histogram Overflows: 00000\n", 14_000.0),
        ] {
            let peer = peer(id);
            assert!((peer.ns_per_switch(peer.figure(printed).unwrap()) - ns).abs() < 1e-6, "{id}");
        }
        let perf = peer("perf-pipe-threads");
        for (printed, words) in [
            ("", "no figure"),
            ("inf usecs/op", "not a positive number"),
            ("2.530000\nusecs/op", "no figure"),
            ("1.0 usecs/op 2.0 usecs/op", "2 figures"),
            ("0.000000 usecs/op", "not a positive number"),
        ] {
            assert!(perf.figure(printed).unwrap_err().contains(words), "{printed}");
        }
    }

    #[test]
    fn bad_files_are_one_sentence() {
        let good = std::fs::read_to_string(format!("{FOLDER}/perf-pipe-threads.toml")).unwrap();
        for (was, is, words) in [
            ("figure = ", "#", "figure has not exactly one word {figure}"),
            ("{figure}", "2.0", "figure has not exactly one word {figure}"),
            ("{figure}", "{figure} {figure}", "figure has not exactly one word {figure}"),
            ("switches = 2.0", "switches = 0.0", "switches is not above 0"),
            ("ns = 1000.0", "ns = nan", "ns is not above 0"),
            ("timeout_s", "timeout", "unknown field"),
            ("\"thread/pipe\"", "\"threads\"", "family/name"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("x.toml"), good.replacen(was, is, 1)).unwrap();
            let error = load_peers(folder.path()).unwrap_err().to_string();
            assert!(error.contains("x.toml") && error.contains(words), "{error}");
        }
    }
}
