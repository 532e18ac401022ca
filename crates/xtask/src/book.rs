//! The book: the pages of this repository as they stand, and a page for each mechanism, made of its
//! TOML. It is built from a folder with the same paths as here, so that every link of a page leads
//! to the same place in both.

use crate::places::top;
use anyhow::{Context, bail};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of the book that are told in this order; what none of them names is in the last.
const PARTS: [(&str, &[&str]); 6] = [
    ("Begin", &["docs/README.md", "docs/tutorial.md", "docs/how-to/"]),
    ("Findings", &["docs/findings/", "docs/write-ups/", "docs/answers.md", "docs/audit.md"]),
    ("Method", &["METHODOLOGY.md", "docs/notebook/"]),
    ("Use", &["docs/cli.md", "docs/security.md", "CHANGELOG.md"]),
    ("Mechanisms", &["mechanisms/families.md", "mechanisms/"]),
    ("Build and extend", &["ARCHITECTURE.md", "CONTRIBUTING.md", "PROTOCOL.md", ""]),
];

/// Folders that hold no page of ours.
const OTHERS: [&str; 5] = ["target", "node_modules", "fuzz", "tests", "new-probe"];

/// Writes the sources of the book: pages into FOLDER/src, and what mkdocs is told,
/// FOLDER/mkdocs.yml.
pub fn book(folder: &Path) -> anyhow::Result<()> {
    let source = folder.join("src");
    if source.exists() {
        fs::remove_dir_all(&source).with_context(|| format!("cannot empty {}", source.display()))?;
    }
    let mut pages: BTreeMap<String, String> = mechanisms()?;
    let mut files = Vec::new();
    walk(top(), &mut files)?;
    for file in files {
        let path = file.strip_prefix(top())?.to_string_lossy().into_owned();
        if path.ends_with(".in") || path.ends_with(".template.md") {
            continue;
        }
        if path.ends_with(".md") {
            pages.insert(path, fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?);
        } else if path.starts_with("docs/") {
            put(&source.join(&path), &fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?)?;
        }
    }
    for (path, text) in &pages {
        put(&source.join(path), text.as_bytes())?;
    }
    // JSON is YAML as well.
    put(&folder.join("mkdocs.yml"), serde_json::to_string_pretty(&settings(&pages))?.as_bytes())
}

fn put(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    fs::create_dir_all(path.parent().with_context(failed)?).with_context(failed)?;
    fs::write(path, content).with_context(failed)
}

/// Every file below a folder of ours.
pub fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || OTHERS.contains(&name.as_str()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Title, order and checks. Nothing is fetched when the book is read: no font, no script of other
/// places.
fn settings(pages: &BTreeMap<String, String>) -> Value {
    let mut left: Vec<&String> = pages.keys().filter(|path| *path != "README.md").collect();
    let mut parts = vec![json!("README.md")];
    for (title, prefixes) in PARTS {
        let mut chapter = Vec::new();
        for prefix in prefixes {
            let (mine, others) = left.into_iter().partition::<Vec<_>, _>(|path| path.starts_with(prefix));
            chapter.extend(mine);
            left = others;
        }
        parts.push(json!({ title: chapter }));
    }
    json!({
        "site_name": "switchcost",
        "docs_dir": "src",
        "site_dir": "html",
        "use_directory_urls": false,
        "theme": { "name": "readthedocs", "highlightjs": false, "navigation_depth": 2 },
        "extra_css": ["docs/book.css"],
        "plugins": ["search"],
        "nav": parts,
        "validation": {
            "nav": { "omitted_files": "warn", "not_found": "warn", "absolute_links": "warn" },
            "links": { "not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn" }
        }
    })
}

/// A page for each mechanism and their index, by path.
fn mechanisms() -> anyhow::Result<BTreeMap<String, String>> {
    let template = |name: &str| {
        let path = top().join("docs").join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    let lines = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(lines);
    environment.add_template_owned("mechanism", template("mechanism.md.in")?)?;
    environment.add_template_owned("families", template("mechanisms.md.in")?)?;
    let folder = top().join("mechanisms");
    let common = read(&folder.join("parameters.toml"))?;
    let families = read(&folder.join("families.toml"))?;
    let mut all: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for family in families["family"].as_array().into_iter().flatten() {
        let id = family["id"].as_str().unwrap_or_default();
        let mut files = Vec::new();
        walk(&folder.join(id), &mut files)?;
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            all.entry(id.to_owned()).or_default().insert(name, read(&file)?);
        }
    }
    let mut pages = BTreeMap::new();
    for (family, members) in &all {
        for (name, page) in members {
            let text = environment
                .get_template("mechanism")?
                .render(Serde(json!({ "id": format!("{family}/{name}"), "page": page, "common": common, "all": all })))
                .with_context(|| format!("the page of {family}/{name} cannot be made"))?;
            pages.insert(format!("mechanisms/{family}/{name}.md"), text);
        }
    }
    let index =
        environment.get_template("families")?.render(Serde(json!({ "families": families["family"], "all": all })))?;
    pages.insert("mechanisms/families.md".into(), index);
    if pages.len() < 2 {
        bail!("{} holds no mechanism", folder.display());
    }
    Ok(pages)
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not TOML", path.display()))
}
