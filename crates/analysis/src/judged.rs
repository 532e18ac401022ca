//! A run → its rows, each by itself.

use crate::at::At;
use crate::compare::unit;
use crate::judge::Constants;
use crate::label::labels;
use crate::row::Judged;
use crate::rulers::Speeds;
use crate::settle::{Settled, settled};
use crate::summary::{measured, verdict_of};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Invocation, Judgement, Mechanism, Reason, Run, Variant, Verdict};

/// One a variant, in the run's order.
pub(crate) fn judged<'r>(run: &'r Run, catalogue: &Catalogue, speeds: &Speeds, at: At) -> Vec<Judged<'r>> {
    let target = run.request.rounds.is_none().then_some(run.precision_ppm as f64 / 1e6);
    let starts = run.starts();
    let settled = settled(&run.variants, &starts, speeds, target, at);
    let labels = labels(run, catalogue);
    let row = |(index, (starts, (summary, undisturbed))): (usize, (Vec<&'r Invocation>, Settled))| {
        let variant = &run.variants[index];
        let mechanism = catalogue.find(&variant.mechanism);
        let judgement = untranslated(run, variant, &starts, verdict_of(&Constants::OURS, run, index, &starts));
        let Judgement { verdict, reason } = judgement;
        let summary = measured(summary, reason.as_ref());
        let undisturbed = undisturbed.filter(|_| run.machine.translated().is_none());
        Judged {
            index,
            at,
            variant,
            full: full(variant, mechanism),
            label: labels[index].clone(),
            unit: unit(variant, catalogue).to_owned(),
            quantity: variant.experiment.quantity,
            control: mechanism.is_some_and(|mechanism| mechanism.control),
            summary,
            undisturbed,
            starts,
            verdict,
            reason,
            run_to_run: if variant.experiment.quantity.exact {
                0.0
            } else {
                catalogue.run_to_run(variant.mechanism.family())
            },
            short: mechanism.map_or_else(String::new, |mechanism| mechanism.short.clone()),
            choice: mechanism.is_some_and(Mechanism::is_choice),
        }
    };
    starts.into_iter().zip(settled).enumerate().map(row).collect()
}

/// Of a translated program no time is the machine's, but for those that a model computes.
fn untranslated(run: &Run, variant: &Variant, starts: &[&Invocation], judgement: Judgement) -> Judgement {
    let computed =
        |start: &&Invocation| start.transcript.hello.as_ref().is_some_and(|hello| hello.clock.is_simulated());
    let timed = variant.experiment.timed() && !starts.iter().all(computed);
    match run.machine.translated() {
        Some(below) if timed && matches!(judgement.verdict, Verdict::Verified | Verdict::Unobservable) => {
            Judgement::new(Verdict::Unobservable, Reason::Translated { below: below.to_owned() })
        }
        _ => judgement,
    }
}

/// The variant with every parameter that its mechanism has.
fn full(variant: &Variant, mechanism: Option<&Mechanism>) -> Variant {
    let mut full = variant.clone();
    for (name, parameter) in mechanism.iter().flat_map(|mechanism| &mechanism.parameters) {
        full.parameters.entry(name.clone()).or_insert_with(|| parameter.default.clone());
    }
    full
}
