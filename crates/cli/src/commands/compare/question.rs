//! Mechanisms by name: the questions that pages of experiments ask of them, answered from what is
//! stored, and what is missing measured now.

use super::arguments::Compare;
use super::measured::{request, say_stopped};
use super::operands::{has_figure, is_called};
use std::path::Path;
use std::time::Duration;
use switchcost_analysis::{Analysis, Burden, FEWEST_STARTS, Load, Quantity, Row, usable};
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_machine::cpus::Cpus;
use switchcost_model::number::counted;
use switchcost_model::{Experiment, Inquiry, Mechanism, Placement, Request, Run, Sight, Wanted, remark};
use switchcost_report::{AskedBy, Compared, Loaded};
use switchcost_runner::check;
use switchcost_session::{Failure, Installation, Prepared, Stored, output, place};

/// Older figures are measured again: kernel, settings and temperature change.
const AGE: Duration = Duration::from_secs(7 * 86_400);

/// Different mechanisms.
pub struct Question<'c> {
    asked: Vec<&'c Mechanism>,
    contexts: Option<u64>,
    /// It is one of a load: what a switch, making one and memory cost answers it.
    of_load: bool,
    catalogue: &'c Catalogue,
}

/// Rows of one inquiry in one run; of each the place of its mechanism among those asked.
pub struct Group {
    asks: Asks,
    run: usize,
    rows: Vec<(usize, usize)>,
}

/// The first word that its page goes by.
fn language(mechanism: &Mechanism) -> Option<&str> {
    mechanism.tags.first().map(String::as_str)
}

/// Two rows of a run.
pub struct Pair {
    /// Index of their run.
    pub run: usize,
    /// Those of the rows.
    pub rows: (usize, usize),
    /// The mechanisms that they stand for, and what was asked of these.
    pub asked: AskedBy,
}

/// An inquiry of an experiment.
type Asks = (Experiment, Inquiry);

/// What is beside its experiment in words: `10,000 contexts`.
fn beside((_, inquiry): Asks) -> String {
    let contexts = inquiry.contexts.map(|count| counted(usize::try_from(count).unwrap_or(usize::MAX), "context"));
    let cpus = inquiry.cpus.map(|cpus| Placement::of_cpus(cpus).title());
    contexts.into_iter().chain(cpus).collect::<Vec<_>>().join(", ")
}

/// The same before it is found or measured.
struct Needed {
    asks: Asks,
    rows: Vec<(usize, Wanted)>,
}

impl Needed {
    /// Each row once: two mechanisms may have the same contexts.
    fn wanted(&self) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = Vec::new();
        for (_, row) in &self.rows {
            if !all.contains(row) {
                all.push(row.clone());
            }
        }
        all
    }
}

impl<'c> Question<'c> {
    /// In what those asked for differ beside their cost: their language, with a thread of the first
    /// one's, and what their family lacks.
    pub fn unlike(&self) -> Vec<String> {
        let first = self.asked.first().and_then(|mechanism| language(mechanism));
        let mut said = Vec::new();
        if self.asked.iter().any(|mechanism| language(mechanism) != first) {
            let named = |mechanism: &&Mechanism| {
                format!("{} {}", mechanism.id, language(mechanism).unwrap_or("of no language"))
            };
            let all = self.asked.iter().map(named).collect::<Vec<_>>().join(", ");
            let thread = |mechanism: &Mechanism| mechanism.id.family() == "thread";
            let foreign = self.asked.iter().any(|other| thread(other) && language(other) != first);
            let own = self.catalogue.mechanisms.iter().find(|own| thread(own) && language(own) == first);
            let thread = own.filter(|_| foreign).map(|own| own.id.to_string());
            said.push(remark!(by_language, all, thread, language = first));
        }
        let lacks = |mechanism: &Mechanism| self.catalogue.lacks(mechanism.id.family());
        let lacking: Vec<&Mechanism> = self.asked.iter().copied().filter(|asked| !lacks(asked).is_empty()).collect();
        if let Some(one) = lacking.first().filter(|_| lacking.len() < self.asked.len()) {
            let mechanisms = lacking.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(" and ");
            said.push(remark!(family_lacks, mechanisms, what = lacks(one)));
        }
        said.iter().map(ToString::to_string).collect()
    }

    /// The question that operands ask; None: they name runs, or rows more exactly.
    pub fn of(arguments: &Compare, catalogue: &'c Catalogue) -> Result<Option<Self>, Failure> {
        let operands = &arguments.operands;
        let one = |text: &String| -> Result<Option<&'c Mechanism>, Failure> {
            let Ok(pattern) = Pattern::parse(text) else { return Ok(None) };
            let glob = text.contains(['*', '?']);
            if glob || !pattern.is_plain() || !is_called(text, catalogue) {
                return Ok(None);
            }
            catalogue.meant(&pattern, Mechanism::switches).map(Some).map_err(Failure::usage)
        };
        let found = operands.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        // A word beside a mechanism's name, and no run, file or row: a name that nobody has.
        let word = |text: &str| text != "latest" && text.chars().all(|c| c.is_alphabetic() || "-_+ ".contains(c));
        let nobody = |text: &str| word(text) && !is_called(text, catalogue);
        let unknown = || operands.iter().zip(&found).find(|(text, found)| found.is_none() && nobody(text));
        if let Some((text, _)) = unknown().filter(|_| found.iter().any(Option::is_some)) {
            let near = catalogue.did_you_mean(text);
            return Err(Failure::usage(format!("`{text}` is neither a run, a file nor a mechanism{near}")));
        }
        let Some(asked) = found.into_iter().collect::<Option<Vec<&Mechanism>>>() else { return Ok(None) };
        for (place, mechanism) in asked.iter().enumerate() {
            if let Some(before) = asked[..place].iter().position(|known| known.id == mechanism.id) {
                let (a, b) = (&operands[before], &operands[place]);
                return Err(Failure::usage(format!("`{a}` and `{b}` both mean {}; name another", mechanism.id)));
            }
        }
        let of_load = arguments.contexts.is_some() || arguments.rate.is_some();
        Ok(Some(Self { asked, contexts: arguments.contexts, of_load, catalogue }))
    }

    /// Refuses a number of contexts that none of the mechanisms can have.
    fn check(&self, installation: &Installation) -> Result<(), Failure> {
        let Some(contexts) = self.contexts else { return Ok(()) };
        let (cpus, probes) = (Cpus::detect().map_err(Failure::usage)?, installation.probes(self.catalogue));
        let refused = self.asked.iter().map(|mechanism| {
            let (patterns, experiment) = (vec![mechanism.id.to_string()], Some(Experiment::usual()));
            let request = Request { patterns, experiment, contexts: vec![contexts], ..Request::default() };
            check(&request, self.catalogue, &probes, &cpus).err()
        });
        let refused = refused.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().next());
        refused.map_or(Ok(()), |reason| Err(Failure::usage(format!("--contexts {contexts}: {reason}"))))
    }

    /// Finds or measures the rows.
    pub fn answer(
        &self,
        arguments: &Compare,
        installation: &Installation,
        store: &Path,
        compared: &mut Compared,
    ) -> Result<(Vec<Run>, Vec<Group>), Failure> {
        self.check(installation)?;
        let mut runs: Vec<Run> = Vec::new();
        let (mut groups, mut missing) = (Vec::new(), Vec::new());
        let mut stored = Stored::open(store, &arguments.measure.how, |_: &_| true)?;
        for needed in self.needed() {
            let usual = needed.asks == (Experiment::usual(), Inquiry::default());
            let all = |run: &Run| {
                let place = |(of, row): &(_, _)| Some((*of, self.place(run, row, usual)?));
                needed.rows.iter().map(place).collect::<Option<Vec<_>>>()
            };
            let found = if arguments.measure.measure {
                None
            } else {
                stored.find(Some(AGE), |run| Some((run.clone(), all(run)?)))?
            };
            match found {
                Some((run, rows)) => {
                    let known = runs.iter().position(|known| known.id == run.id);
                    groups.push(Group { asks: needed.asks, run: known.unwrap_or(runs.len()), rows });
                    runs.extend(known.is_none().then_some(run));
                }
                None => missing.push(needed),
            }
        }
        if !missing.is_empty() {
            let run = self.measure(arguments, &missing, installation, store, compared)?;
            for Needed { asks, rows } in missing {
                let places = rows.into_iter().filter_map(|(of, row)| Some((of, place(&run, &row, self.catalogue)?)));
                groups.push(Group { asks, run: runs.len(), rows: places.collect() });
            }
            runs.push(run);
        }
        groups.sort_by_key(|group| group.asks);
        self.say_lacking(&groups, compared);
        Ok((runs, groups))
    }

    fn measure(
        &self,
        arguments: &Compare,
        missing: &[Needed],
        installation: &Installation,
        store: &Path,
        compared: &mut Compared,
    ) -> Result<Run, Failure> {
        let wanted: Vec<Wanted> = missing.iter().flat_map(Needed::wanted).collect();
        let request = request(arguments);
        let prepared = Prepared::new(&wanted, &request, installation, self.catalogue, store, &arguments.measure.how)?;
        let usual = (Experiment::usual(), Inquiry::default());
        let asks = missing.iter().flat_map(|needed| needed.wanted().into_iter().map(|row| (needed.asks, row)));
        let switches = asks.enumerate().filter(|(_, (asks, _))| *asks == usual);
        let absent =
            switches.filter_map(|(place, (_, row))| Some((row.to_string(), prepared.why_not(place)?.to_string())));
        compared.skipped.extend(absent);
        if let Some((row, reason)) = compared.skipped.first().filter(|_| self.asked.len() < compared.skipped.len() + 2)
        {
            return Err(Failure::nothing(format!("{row} cannot be measured here: {reason}")));
        }
        let names: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        let why = if arguments.measure.measure {
            "measured now"
        } else {
            "no run of the last week has all, so they are measured now"
        };
        output::say(&format!("{why}: {}", names.join(", ")));
        let (run, stored) = prepared.measure_until(&request, self.catalogue)?;
        say_stopped(&run, arguments.measure.rounds, compared);
        stored.map(|()| run).map_err(Failure::usage)
    }

    /// The row, if it has starts enough; but for the switch itself also one that was tried and has
    /// none, since it would have none again.
    fn place(&self, run: &Run, wanted: &Wanted, usual: bool) -> Option<usize> {
        let index = place(run, wanted, self.catalogue)?;
        let starts = || run.invocations.iter().filter(|start| start.variant == index).count();
        let tried = || run.not_run.contains_key(&index) || starts() >= FEWEST_STARTS;
        (has_figure(run, index) || !usual && tried()).then_some(index)
    }

    /// What they have, or have borrowed: futexes do not make threads, a thread is as large whatever
    /// it waits for, and who sleeps until a time waits for nobody.
    fn whose(&self, mechanism: &'c Mechanism, (experiment, inquiry): Asks) -> Option<&'c Mechanism> {
        let cpus = |of: &&Mechanism| {
            let placements = || of.placements.iter().filter(|placement| experiment.fits(**placement));
            inquiry.cpus.is_none_or(|cpus| placements().any(|placement| *placement == Placement::of_cpus(cpus)))
        };
        let contexts = |of: &&Mechanism| {
            let in_kernel = [Sight::Threads, Sight::Processes].iter().any(|sight| of.evidence.seen.contains_key(sight));
            inquiry
                .contexts
                .is_none_or(|count| !in_kernel && of.bound_of_contexts(experiment).is_none_or(|most| count <= most))
        };
        let lender = mechanism.contexts_of.as_ref().and_then(|id| self.catalogue.find(id));
        let same = lender.unwrap_or(mechanism);
        let sleeper = self.catalogue.mechanisms.iter().filter(|other| other.contexts_of.as_ref() == Some(&same.id));
        let sleeper = sleeper.filter(|other| experiment.paced && !other.switches());
        let lender = lender.filter(|_| experiment.of_contexts);
        let mut all = sleeper.chain([mechanism]).chain(lender).filter(cpus).filter(contexts);
        all.find(|of| of.experiments.contains(&experiment))
    }

    fn needed(&self) -> Vec<Needed> {
        let needed = |asks: Asks| {
            let (experiment, inquiry) = asks;
            let of = self.asked.iter().enumerate();
            let of: Vec<_> = of.filter_map(|(place, asked)| Some((place, self.whose(asked, asks)?))).collect();
            let shared = of.first().and_then(|(_, first)| {
                let by_all = |placement: &&_| of.iter().all(|(_, other)| other.placements.contains(placement));
                first.placements.iter().find(by_all).copied()
            });
            let shared = inquiry.cpus.map(Placement::of_cpus).or(shared);
            let wanted = |of: &Mechanism| Wanted {
                experiment,
                contexts: inquiry.contexts.or(self.contexts.filter(|_| experiment.many)),
                ..Wanted::plain(of.id.clone(), shared.unwrap_or(of.placements[0]))
            };
            Needed { asks, rows: of.iter().map(|(place, of)| (*place, wanted(of))).collect() }
        };
        let plain = |(experiment, inquiry): &Asks| *inquiry == Inquiry::default() && !experiment.paced;
        let asked =
            Experiment::all().into_iter().flat_map(|of| of.page().asked.iter().map(move |inquiry| (of, *inquiry)));
        let asked = asked.filter(|asks| !self.of_load || plain(asks));
        asked.map(needed).filter(|needed| needed.wanted().len() > 1).collect()
    }

    /// Names the mechanisms without a row where others have one.
    fn say_lacking(&self, groups: &[Group], compared: &mut Compared) {
        for group in groups {
            let lacks = |(_, asked): &(usize, &&'c Mechanism)| self.whose(asked, group.asks).is_none();
            let lacking: Vec<&str> =
                self.asked.iter().enumerate().filter(lacks).map(|(_, asked)| asked.id.as_str()).collect();
            if !lacking.is_empty() {
                let (experiment, beside) = (group.asks.0, beside(group.asks));
                let what = if beside.is_empty() { experiment.to_string() } else { format!("{experiment}, {beside}") };
                compared.skipped.extend(lacking.iter().map(|id| ((*id).to_owned(), format!("no row of {what}"))));
            }
        }
    }

    /// What a load costs by each mechanism, the cheapest that fits first.
    pub fn loaded(&self, load: Load, groups: &[Group], analyses: &[Analysis<'_>]) -> Loaded {
        let of = |index: usize, fits: &dyn Fn(&Group) -> bool| {
            groups.iter().filter(|group| fits(group)).find_map(|group| row(group, index, analyses))
        };
        let burden = |(index, mechanism): (usize, &&Mechanism)| {
            let switches = of(index, &|group| group.asks == (Experiment::usual(), Inquiry::default()))?;
            let memory = of(index, &|group| group.asks.0.quantity == Quantity::MEMORY);
            load.burden(mechanism.id.to_string(), switches, memory)
        };
        let mut burdens: Vec<Burden> = self.asked.iter().enumerate().filter_map(burden).collect();
        burdens.sort_by(|a, b| a.fit.cmp(&b.fit).then(a.usual().total_cmp(&b.usual())));
        let known = |id: &String| burdens.iter().any(|burden| burden.mechanism == *id);
        let unknown = self.asked.iter().map(|mechanism| mechanism.id.to_string()).filter(|id| !known(id)).collect();
        Loaded { load, burdens, unknown }
    }

    /// The pairs of each group: the reference is the first mechanism that has a row there.
    pub fn pairs(&self, groups: &[Group]) -> Vec<Pair> {
        let name = |index: usize| self.asked[index].id.to_string();
        let mut pairs = Vec::new();
        for group in groups {
            let Some(&(a, of_a)) = group.rows.first() else { continue };
            let others = group.rows.iter().filter(|(_, row)| *row != of_a);
            pairs.extend(others.map(|&(b, of_b)| Pair {
                run: group.run,
                rows: (of_a, of_b),
                asked: AskedBy { a: name(a), b: name(b), beside: beside(group.asks) },
            }));
        }
        pairs
    }
}

/// The usable row of a mechanism in a group.
fn row<'l, 'r>(group: &Group, index: usize, analyses: &'l [Analysis<'r>]) -> Option<&'l Row<'r>> {
    let (_, row) = group.rows.iter().find(|(of, _)| *of == index)?;
    analyses.get(group.run)?.rows.get(*row).filter(|row| usable(row).is_ok())
}
