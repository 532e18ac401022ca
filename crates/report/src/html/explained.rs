//! Costs of a run taken apart, where it holds all their layers: what `explain --stored` would say
//! of it.

use crate::columns::figure_of;
use crate::explain::{Document, Explanation, explain_document};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Explanation as Layers, Mechanism, Wanted};

/// A cost with its layers.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Explained", title = "Explained")]
pub struct ExplainedPart {
    #[serde(flatten, serialize_with = "as_document")]
    #[schemars(with = "Document<'static>")]
    explanation: Explanation,
}

fn as_document<S: Serializer>(explanation: &Explanation, serializer: S) -> Result<S::Ok, S::Error> {
    explain_document(explanation).serialize(serializer)
}

/// Every cost of the catalogue whose rows this run has measured, all of them.
pub fn explained(analysis: &Analysis<'_>, catalogue: &Catalogue) -> Vec<ExplainedPart> {
    let layered = |mechanism: &'_ Mechanism| {
        let layers = mechanism.explanations.iter().filter(|layers| !layers.floor_only);
        layers.filter_map(|layers| of(layers, mechanism, analysis, catalogue)).collect::<Vec<_>>()
    };
    catalogue.mechanisms.iter().flat_map(layered).collect()
}

fn of(layers: &Layers, mechanism: &Mechanism, analysis: &Analysis<'_>, catalogue: &Catalogue) -> Option<ExplainedPart> {
    let terms = layers.layers.iter().flat_map(|layer| layer.terms.iter().map(|term| &term.wanted));
    let places: Option<Vec<usize>> =
        std::iter::once(&layers.total).chain(terms).map(|wanted| place(wanted, analysis, catalogue)).collect();
    let rows: Vec<_> = places?.into_iter().map(|place| analysis.rows.get(place)).collect();
    let explained = switchcost_analysis::explain(layers, &rows).ok()?;
    let figure = rows.first().copied().flatten().map(figure_of).unwrap_or_default();
    let explanation = Explanation {
        label: layers.total.to_string(),
        title: mechanism.title.clone(),
        run: analysis.run.id.clone(),
        figure,
        explained,
        notes: Vec::new(),
    };
    Some(ExplainedPart { explanation })
}

fn place(wanted: &Wanted, analysis: &Analysis<'_>, catalogue: &Catalogue) -> Option<usize> {
    let mechanism = catalogue.find(&wanted.mechanism)?;
    let run = analysis.run;
    (0..run.variants.len())
        .find(|index| wanted.fits(&run.variants[*index], mechanism) && !run.not_run.contains_key(index))
}
