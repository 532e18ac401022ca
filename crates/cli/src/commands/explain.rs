//! `explain`: where the nanoseconds of a mechanism go.

use crate::arguments::CountersOption;
use clap::Parser;
use std::time::{Duration, Instant};
use switchcost_analysis::{Analysis, BreakEven, Row, label, short_of};
use switchcost_catalogue::grammar::{self, Pattern, Word};
use switchcost_catalogue::{Broken, Catalogue};
use switchcost_model::{
    EndedBy, Explanation, Layer, Mechanism, Parameters, Placement, Request, Run, Term, Variant, Wanted,
};
use switchcost_report::text::{wrapped, wrapped_names};
use switchcost_report::{Style, about, answer_of, explain_json, explain_text, figure_of};
use switchcost_session::arguments::{ListFormat, Measuring, StoreOption, parse_budget};
use switchcost_session::{Action, Exit, Failure, Installation, Prepared, Stored, output, paths, place, request};

/// Where the nanoseconds of a mechanism go, layer by layer
///
/// Each layer is a difference of measured rows with its interval, all from one interleaved run.
/// What no layer explains is the unexplained rest.
#[derive(Parser, Debug)]
#[command(name = "explain")]
pub struct Explain {
    /// Mechanism, such as thread/pipe, or a row of it, such as 'thread/pipe free' [default: list
    /// what can be explained]
    pub mechanism: Option<String>,
    /// With the measured rows that each layer is the difference of; of the list, the layers
    #[arg(short, long)]
    pub verbose: bool,
    /// Time limit for measuring
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_budget)]
    pub budget: Duration,
    /// Exactly this many rounds [default: 10 to 40, as precision needs]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rounds: Option<u64>,
    /// Take the newest stored run that holds all of it, and measure nothing
    #[arg(long, conflicts_with_all = ["seed", "resume", "wait"])]
    pub stored: bool,
    /// What is counted beside the time
    #[command(flatten)]
    pub counting: CountersOption,
    /// How each command measures
    #[command(flatten)]
    pub how: Measuring,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

impl Action for Explain {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let Some(name) = &self.mechanism else {
            output::print(&list(&catalogue, self.verbose, output::style()))?;
            return Ok(Exit::Fine);
        };
        let pattern = catalogue.pattern(name).map_err(Failure::usage)?;
        let mechanism = find(&pattern, &catalogue)?;
        if let Some(answer) = self.answered(&pattern, mechanism, &catalogue)? {
            output::print(&answer)?;
            return Ok(Exit::Fine);
        }
        if !mechanism.switches() {
            return Err(Failure::usage(format!(
                "{0} has no switch to explain, only experiment {1}: `switchcost run {0} --experiment {1}` measures that",
                mechanism.id, mechanism.experiments[0]
            )));
        }
        let (chosen, mut notes) = choose(&Asked::new(&pattern, mechanism)?, mechanism, &catalogue);
        let wanted: Vec<Wanted> = std::iter::once(chosen.total.clone())
            .chain(chosen.layers.iter().flat_map(|layer| layer.terms.iter().map(|term| term.wanted.clone())))
            .collect();
        let store = paths::store(self.store.path())?;
        let (run, places) = if self.stored {
            let holds_all = |run: &Run| {
                wanted
                    .iter()
                    .map(|wanted| place(run, wanted, &catalogue).map(Some))
                    .collect::<Option<Vec<_>>>()
                    .map(|p| (run.clone(), p))
            };
            Stored::open(&store, &self.how, |_: &_| true)?.find(None, holds_all)?.ok_or_else(|| {
                Failure::nothing(format!(
                    "no stored run of this machine holds all rows of {name}; leave --stored out to measure them"
                ))
            })?
        } else {
            let counters = self.counting.counters.clone();
            let request = Request { counters, ..request(self.budget, self.rounds, &self.how) };
            let prepared = Prepared::new(&wanted, &request, &installation, &catalogue, &store, &self.how)?;
            prepared.measure(&request, &catalogue)?
        };
        notes.extend(switchcost_report::watched(&run));
        let analysis = Analysis::new(&run, &catalogue);
        let rows: Vec<_> = places.iter().map(|place| analysis.rows.get((*place)?)).collect();
        let explained = switchcost_analysis::explain(&chosen, &rows)
            .map_err(|reason| Failure::nothing(format!("{} has no figure: {reason}", chosen.total)))?;
        if explained.total.interval.is_none() {
            notes.push(
                "fewer than 6 rounds were measured, so that there are no intervals; give it more --budget".into(),
            );
        }
        notes.extend(self.break_even(mechanism, &catalogue)?);
        notes.extend(switchcost_analysis::in_layers(&chosen, &rows).map(|remark| remark.to_string()));
        notes.extend(switchcost_report::not_counted(rows.iter().flatten().map(|row| &row.judged)));
        let early =
            run.ended_by == EndedBy::Budget && short_of(&run, self.rounds) || run.ended_by == EndedBy::Interrupt;
        let partial = explained.layers.iter().any(|layer| layer.cost.is_err()) || early && !self.stored;
        let contradicted = rows.iter().flatten().any(|row| row.verdict == switchcost_model::Verdict::Contradicted);
        let answer = switchcost_report::Explanation {
            label: chosen.total.to_string(),
            title: mechanism.title.clone(),
            run: run.id.clone(),
            figure: rows.first().copied().flatten().map(figure_of).unwrap_or_default(),
            explained,
            notes,
        };
        output::print(&match self.format {
            ListFormat::Table => explain_text(&answer, self.verbose, output::style()),
            ListFormat::Json => explain_json(&answer),
        })?;
        Ok(match (contradicted, partial) {
            (true, _) => Exit::Contradicted,
            (false, true) => Exit::Partial,
            (false, false) => Exit::Fine,
        })
    }
}

impl Explain {
    /// How long it pays that contexts look before they block, by stored runs; None: they cannot.
    fn break_even(&self, mechanism: &Mechanism, catalogue: &Catalogue) -> Result<Option<String>, Failure> {
        let Some(mut even) = BreakEven::of(mechanism) else { return Ok(None) };
        let own = |variant: &Variant| variant.mechanism == mechanism.id;
        let take = |run: &Run| {
            even.take(&Analysis::new(run, catalogue).rows, mechanism);
            even.known().then_some(())
        };
        Stored::open(&paths::store(self.store.path())?, &self.how, own)?.find(None, take)?;
        Ok(even.remark(mechanism).map(|remark| remark.to_string()))
    }

    /// What the newest stored row that sought something and fits the words came to; None: those ask
    /// for a switch.
    fn answered(
        &self,
        pattern: &Pattern<'_>,
        mechanism: &Mechanism,
        catalogue: &Catalogue,
    ) -> Result<Option<String>, Failure> {
        if pattern.is_plain() && mechanism.switches() || self.format == ListFormat::Json {
            return Ok(None);
        }
        let style = output::style();
        let fits = |variant: &Variant| pattern.fits(variant, &label(variant, catalogue, false));
        let told = |run: &Run| {
            let shown = run.harmless();
            let analysis = Analysis::new(&shown, catalogue);
            let sought = |row: &&Row<'_>| pattern.fits(row.variant, &row.label) && !row.answer.is_empty();
            let lines: Vec<String> = analysis.rows.iter().filter(sought).flat_map(answer_of).collect();
            let about = about(&shown).map(|line| style.headline(&line)).concat();
            let lines: String = lines.iter().map(|line| wrapped("  ", line, style)).collect();
            (!lines.is_empty()).then(|| style.sealed(&(about + &lines)))
        };
        Stored::open(&paths::store(self.store.path())?, &self.how, fits)?.find(None, told)
    }
}

fn find<'a>(pattern: &Pattern<'_>, catalogue: &'a Catalogue) -> Result<&'a Mechanism, Failure> {
    let broken = |page: &&Broken| page.mechanism.as_ref().is_some_and(|id| id.as_str() == pattern.name());
    if let Some(page) = catalogue.broken.iter().find(broken) {
        return Err(Failure::usage(&page.reason));
    }
    catalogue.meant(pattern, Mechanism::switches).map_err(Failure::usage)
}

/// What is asked of a row, by the words after its mechanism.
#[derive(Default)]
struct Asked {
    placement: Option<Placement>,
    parameters: Parameters,
}

impl Asked {
    fn new(pattern: &Pattern<'_>, mechanism: &Mechanism) -> Result<Self, Failure> {
        let mut asked = Self::default();
        for (text, word) in pattern.said().map_err(Failure::usage)? {
            match word {
                Word::Placement(placement) if mechanism.placements.contains(&placement) => {
                    asked.placement = Some(placement);
                }
                Word::Placement(placement) => {
                    let known: Vec<String> = mechanism.placements.iter().map(ToString::to_string).collect();
                    return Err(Failure::usage(format!(
                        "{placement} cannot be measured for {}; it has {}",
                        mechanism.id,
                        known.join(", ")
                    )));
                }
                Word::Parameter(name, value) => {
                    let known = mechanism.parameters.get(&name).ok_or_else(|| {
                        Failure::usage(format!(
                            "{0}: {1} has no such parameter; `switchcost list {1}` shows those it has",
                            name, mechanism.id
                        ))
                    })?;
                    let value = grammar::value(&value, Some(known));
                    known.accepts(&value).map_err(|reason| Failure::usage(format!("{name}: {reason}")))?;
                    asked.parameters.insert(name, value);
                }
                _ => {
                    return Err(Failure::usage(format!(
                        "`{text}`: what is explained is a switch, measured in batches"
                    )));
                }
            }
        }
        Ok(asked)
    }
}

/// The explanation that fits what was asked; of a mechanism without layers one made of its
/// controls.
fn choose(asked: &Asked, mechanism: &Mechanism, catalogue: &Catalogue) -> (Explanation, Vec<String>) {
    let fits = |explanation: &&Explanation| {
        asked.placement.is_none_or(|placement| explanation.total.placement == placement.kind())
            && asked.parameters.iter().all(|(name, value)| explanation.total.parameters.get(name) == Some(value))
    };
    let found = mechanism.explanations.iter().find(fits);
    let notes = others(mechanism, found).into_iter().collect();
    if let Some(found) = found.filter(|found| !found.floor_only) {
        return (found.clone(), notes);
    }
    let mut total = Wanted::plain(mechanism.id.clone(), asked.placement.unwrap_or(mechanism.placements[0]));
    total.parameters = asked.parameters.clone();
    let (total, residue) = found.map_or((total, None), |found| (found.total.clone(), found.residue.clone()));
    // Each floor holds the one below it, so that only the highest is a part; the rest are not parts
    // of their own.
    let floor = mechanism.floor.iter().find_map(|id| catalogue.find(id)).map(|floor| beside(&total, floor));
    (Explanation { total, layers: floor.into_iter().collect(), floor_only: true, residue }, notes)
}

/// The row of a floor that is nearest to this one: its placement and parameters, where the floor
/// has them.
fn beside(total: &Wanted, floor: &Mechanism) -> Layer {
    let placement = Some(total.placement).filter(|placement| floor.placements.contains(placement));
    let mut wanted = Wanted::plain(floor.id.clone(), placement.unwrap_or(floor.placements[0]));
    wanted.parameters.clone_from(&total.parameters);
    wanted
        .parameters
        .retain(|name, value| floor.parameters.get(name).is_some_and(|parameter| parameter.accepts(value).is_ok()));
    Layer {
        name: format!("what {} costs", floor.id),
        terms: vec![Term { wanted, times: 1.0, per: None }],
        why: floor.title.clone(),
    }
}

/// The other rows of the mechanism that have layers, as they are asked for.
fn others(mechanism: &Mechanism, chosen: Option<&Explanation>) -> Option<String> {
    let asked = |explanation: &Explanation| {
        let total = &explanation.total;
        let parameters: String = total.parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        format!("`{} {}{parameters}`", mechanism.id, total.placement)
    };
    let layered = mechanism.explanations.iter().filter(|explanation| !explanation.floor_only);
    let others: Vec<String> = layered.filter(|explanation| Some(*explanation) != chosen).map(asked).collect();
    (!others.is_empty()).then(|| format!("other rows with layers: {}", others.join(", ")))
}

/// What can be explained: names to copy, or `verbose` the layers of each.
fn list(catalogue: &Catalogue, verbose: bool, style: Style) -> String {
    let switching = || catalogue.mechanisms.iter().filter(|mechanism| mechanism.switches());
    let layered = |explanation: &&Explanation| !explanation.floor_only;
    let rows = || switching().flat_map(|mechanism| mechanism.explanations.iter().filter(layered));
    let without = switching().filter(|one| !one.control && !one.explanations.iter().any(|one| !one.floor_only));
    let without: Vec<&str> = without.map(|mechanism| mechanism.id.as_str()).collect();
    let mut out = style.headline("switchcost explain NAME: where the nanoseconds of a switch go. With layers:");
    if verbose {
        for Explanation { total, layers, .. } in rows() {
            let layers: String = layers.iter().map(|layer| format!("{} + ", layer.name)).collect();
            out.push_str(&wrapped("  ", &format!("{total} ({}) = {layers}rest", total.placement), style));
        }
    } else {
        let quoted = |name: String| if name.contains(' ') { format!("'{name}'") } else { name };
        out.push_str(&wrapped_names("  ", rows().map(|row| quoted(row.total.to_string())), style));
    }
    if !without.is_empty() {
        out.push_str(&format!("Beside their floor only:\n{}", wrapped_names("  ", &without, style)));
    }
    if !verbose {
        out.push_str("`switchcost explain -v` lists the layers of each.\n");
    }
    style.sealed(&out)
}
