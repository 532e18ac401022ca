//! A write-up's program: its own form of answer, ours for the same work, and the reasons of the difference.

use super::template_row::TemplateRow;
use super::{PageError, environment};
use crate::formats::{json, table};
use crate::text::{Style, drawn};
use minijinja::value::Serde;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Program;

/// Values of a program's arguments.
pub type Arguments = BTreeMap<String, u64>;

/// Variant of a program → its rows in the run, and the units that the original carries out; or why it has none. Variants that were not asked
/// for are absent.
pub type ProgramRows = BTreeMap<String, Result<(Vec<usize>, u64), String>>;

/// A program that has been carried out.
pub struct Performance<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its arguments.
    pub arguments: Arguments,
    /// Arguments were given to a program that never looks at them.
    pub ignored: bool,
    /// What was measured.
    pub run: &'a Analysis<'a>,
    /// Name of the operating system that it was measured on.
    pub os: &'a str,
    /// Where its variants are in the run.
    pub rows: ProgramRows,
}

/// Checks what was typed as the original does.
///
/// # Errors
/// What the original prints when it refuses.
pub fn arguments_of(program: &Program, typed: &[String]) -> Result<Arguments, String> {
    let Some(usage) = &program.usage else { return Ok(Arguments::new()) };
    if typed.len() > program.arguments.len() {
        return Err(usage.clone());
    }
    let mut values = Arguments::new();
    for (index, argument) in program.arguments.iter().enumerate() {
        let value = match typed.get(index) {
            None => argument.default,
            Some(text) => match text.parse() {
                Ok(value) if (argument.min..=argument.max).contains(&value) => value,
                _ => return Err(usage.clone()),
            },
        };
        values.insert(argument.name.clone(), value);
    }
    Ok(values)
}

/// Value of an expression over the arguments, such as `threads * iterations`.
///
/// # Errors
/// The expression means nothing, or is not a natural number.
pub fn units_of(program: &Program, expression: &str, arguments: &Arguments) -> Result<u64, PageError> {
    let environment = environment();
    environment
        .compile_expression(expression)
        .and_then(|compiled| compiled.eval(Serde(arguments)))
        .and_then(u64::try_from)
        .map_err(|error| PageError::new(&format!("classic/{}.toml, `{expression}`", program.name), &error))
}

/// One build of a probe, for tables that compare compilers.
#[derive(Serialize)]
struct Build {
    probe: String,
    compiler: String,
    /// Every variant of the program; what this build does not have is there without a figure.
    v: BTreeMap<String, TemplateRow>,
}

#[derive(Serialize)]
struct Context {
    #[serde(flatten)]
    arguments: Arguments,
    /// Variant → its row, the best probe's where there are several.
    v: BTreeMap<String, TemplateRow>,
    builds: Vec<Build>,
    os: String,
    rounds: u64,
}

/// A part of the original's form of answer, filled in.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Part {
    heading: String,
    text: String,
}

impl Performance<'_> {
    fn cells(&self) -> BTreeMap<String, Vec<TemplateRow>> {
        let of =
            |indices: &[usize], work| indices.iter().map(|&row| TemplateRow::new(&self.run.rows[row], work)).collect();
        let cells = |rows: &Result<(Vec<usize>, u64), String>| match rows {
            Ok((indices, work)) => of(indices, *work),
            Err(reason) => vec![TemplateRow::absent(reason)],
        };
        self.rows.iter().map(|(name, rows)| (name.clone(), cells(rows))).collect()
    }

    fn context(&self) -> Context {
        let cells = self.cells();
        let mut builds: Vec<Build> = Vec::new();
        for (name, cell) in cells.iter().flat_map(|(name, cells)| cells.iter().map(move |cell| (name, cell))) {
            if !cell.found() {
                continue;
            }
            let known = builds.iter().position(|build| build.probe == cell.probe());
            let place = known.unwrap_or_else(|| {
                let (probe, compiler) = (cell.probe().to_owned(), cell.compiler().to_owned());
                builds.push(Build { probe, compiler, v: BTreeMap::new() });
                builds.len() - 1
            });
            builds[place].v.insert(name.clone(), cell.clone());
        }
        for build in &mut builds {
            for name in cells.keys() {
                build.v.entry(name.clone()).or_insert_with(|| TemplateRow::absent("this build does not have it"));
            }
        }
        builds.sort_by(|a, b| a.probe.cmp(&b.probe));
        let best = |cells: &[TemplateRow]| cells.iter().find(|cell| cell.found()).or(cells.first()).cloned();
        Context {
            arguments: self.arguments.clone(),
            v: cells.iter().filter_map(|(name, cells)| Some((name.clone(), best(cells)?))).collect(),
            builds,
            os: self.os.to_owned(),
            rounds: self.program.rounds,
        }
    }

    fn render(&self, template: &str, context: &Context) -> Result<String, PageError> {
        let name = format!("classic/{}.toml", self.program.name);
        environment().render_str(template, Serde(context)).map_err(|error| PageError::new(&name, &error))
    }

    fn parts(&self, context: &Context) -> Result<Vec<Part>, PageError> {
        let mut parts = Vec::new();
        for answer in &self.program.answers {
            if !answer.needs.iter().all(|need| self.rows.contains_key(need)) {
                continue; // Another placement was asked for.
            }
            let missing = answer.needs.iter().filter_map(|need| context.v.get(need)).find(|cell| !cell.found());
            let text = match missing {
                Some(cell) => format!("cannot be shown here: {} {}\n", cell.label(), cell.reason()),
                None => self.render(&answer.form, context)?,
            };
            parts.push(Part { heading: answer.heading.clone(), text });
        }
        Ok(parts)
    }

    /// Reasons that apply to this run: a template that comes out empty has nothing to say.
    fn differences(&self, context: &Context) -> Result<Vec<String>, PageError> {
        let mut texts = Vec::new();
        for template in &self.program.differences {
            let text = self.render(template, context)?;
            if !text.trim().is_empty() {
                texts.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        Ok(texts)
    }

    /// Variants of which there is no row at all, each with its reason.
    fn absent(&self) -> Vec<String> {
        let rows = self.rows.iter();
        rows.filter_map(|(name, rows)| Some(format!("{name} is not measured: {}", rows.as_ref().err()?))).collect()
    }

    fn command(&self) -> String {
        let values = self.program.arguments.iter().filter_map(|argument| self.arguments.get(&argument.name));
        values.fold(self.program.name.clone(), |text, value| format!("{text} {value}"))
    }

    fn remarks(&self, context: &Context) -> Result<Vec<String>, PageError> {
        let mut remarks = self.differences(context)?;
        if self.ignored {
            remarks.push("The arguments were ignored, as the original ignores them.".into());
        }
        remarks.extend(self.absent());
        Ok(remarks)
    }

    fn known(&self) -> impl Iterator<Item = String> {
        self.program.known.iter().map(|known| format!("{}: {}", known.on, known.printed))
    }
}

fn list(heading: &str, items: impl Iterator<Item = String>, style: Style) -> String {
    let text: String = items.map(|item| format!("  - {item}\n")).collect();
    if text.is_empty() { text } else { format!("\n{}\n{text}", style.bold(heading)) }
}

/// For a terminal.
///
/// # Errors
/// A template of the program is at fault.
pub fn classic_text(performance: &Performance<'_>, style: Style) -> Result<String, PageError> {
    let context = performance.context();
    let program = performance.program;
    let mut text = format!("{}: {} ({})\n", style.bold(&performance.command()), program.title, program.source);
    for part in performance.parts(&context)? {
        text.push_str(&format!("\n{}\n{}\n", style.bold(&format!("[{}]", part.heading)), part.text.trim_end()));
    }
    text.push_str(&format!("\n{}\n", style.bold("Our figures for the same work")));
    text.push_str(&table::ladder_text(performance.run, style));
    text.push_str(&list("Why the two differ", performance.remarks(&context)?.into_iter(), style));
    text.push_str(&list("What the original itself has printed", performance.known(), style));
    Ok(style.sealed(&text))
}

/// A section of a Markdown page.
///
/// # Errors
/// A template of the program is at fault.
pub fn classic_markdown(performance: &Performance<'_>) -> Result<String, PageError> {
    let context = performance.context();
    let program = performance.program;
    let mut text = format!("## `{}`\n\n{} ({}).\n", performance.command(), program.title, program.source);
    for part in performance.parts(&context)? {
        let body = part.text.trim_end();
        // A form that is a Markdown table stays one.
        let body = if body.starts_with('|') { body.to_owned() } else { format!("```\n{body}\n```") };
        text.push_str(&format!("\n**{}**\n\n{body}\n", part.heading));
    }
    text.push_str("\n**Our figures for the same work**\n\n");
    text.push_str(&table::ladder_markdown(performance.run));
    let bullets = |items: Vec<String>| items.iter().map(|item| format!("- {item}\n")).collect::<String>();
    text.push_str(&format!("\n**Why the two differ**\n\n{}", bullets(performance.remarks(&context)?)));
    let known: Vec<String> = performance.known().collect();
    if !known.is_empty() {
        text.push_str(&format!("\n**What the original itself has printed**\n\n{}", bullets(known)));
    }
    Ok(Style::PLAIN.sealed(&text))
}

/// One program, or all of them.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "switchcost classic")]
enum Document {
    One(Box<Performed>),
    All(Vec<Performed>),
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Performed {
    /// Version of this form. New fields do not change it.
    format: u32,
    program: String,
    title: String,
    source: String,
    /// By the names of `classic --list`; those not given have their defaults.
    arguments: Arguments,
    /// The original's form of answer.
    answers: Vec<Part>,
    /// Why the original and ours differ.
    differences: Vec<String>,
    /// What the original itself has printed, and where.
    known: Vec<String>,
    /// Variant of the program → the labels of its rows in `run`.
    rows: BTreeMap<String, Vec<String>>,
    /// As `run --format json`.
    run: json::Document,
}

/// For scripts.
///
/// # Errors
/// A template of the program is at fault.
///
/// # Panics
/// Never: the types have only text keys and finite numbers.
pub fn classic_json(performances: &[Performance<'_>]) -> Result<String, PageError> {
    let mut documents = Vec::new();
    for performance in performances {
        let context = performance.context();
        let cells = performance.cells();
        let labels = |cells: &Vec<TemplateRow>| cells.iter().map(|cell| cell.label().to_owned()).collect();
        documents.push(Performed {
            format: 1,
            program: performance.program.name.clone(),
            title: performance.program.title.clone(),
            source: performance.program.source.clone(),
            arguments: performance.arguments.clone(),
            answers: performance.parts(&context)?,
            differences: performance.remarks(&context)?,
            known: performance.known().collect(),
            rows: cells.iter().map(|(name, cells)| (name.clone(), labels(cells))).collect(),
            run: json::document(performance.run),
        });
    }
    let document = match documents.pop() {
        Some(one) if documents.is_empty() => Document::One(Box::new(one)),
        last => Document::All(documents.into_iter().chain(last).collect()),
    };
    Ok(crate::text::json(&document))
}

/// JSON Schema of [`classic_json`]'s answer.
#[must_use]
pub fn classic_schema() -> String {
    crate::text::json(&schemars::schema_for!(Document))
}

/// `classic --list` for people.
#[must_use]
pub fn programs_text(programs: &[Program], style: Style) -> String {
    let mut text = String::new();
    for program in programs {
        text.push_str(&format!("{}  {} ({})\n", style.bold(&program.name), program.title, program.source));
        let mut table = style.table();
        table.add_row(["   ", program.explains.as_str()]);
        for argument in &program.arguments {
            let line = format!("{}: {} to {}, default {}", argument.name, argument.min, argument.max, argument.default);
            table.add_row(["   ", &line]);
        }
        text.push_str(&drawn(&mut table));
        text.push('\n');
    }
    text.push_str("switchcost classic PROGRAM [ARGUMENTS] runs one of them, switchcost classic all makes one Markdown page of all.\n");
    text
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    source: &'a str,
    explains: &'a str,
    arguments: Vec<ListedArgument<'a>>,
}

#[derive(Serialize)]
struct ListedArgument<'a> {
    name: &'a str,
    min: u64,
    max: u64,
    default: u64,
}

/// `classic --list` for scripts.
#[must_use]
pub fn programs_json(programs: &[Program]) -> String {
    let listed: Vec<_> = programs
        .iter()
        .map(|program| Listed {
            name: &program.name,
            title: &program.title,
            source: &program.source,
            explains: &program.explains,
            arguments: program
                .arguments
                .iter()
                .map(|a| ListedArgument { name: &a.name, min: a.min, max: a.max, default: a.default })
                .collect(),
        })
        .collect();
    crate::text::json(&serde_json::json!({ "format": 1, "programs": listed }))
}
