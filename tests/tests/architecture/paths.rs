//! Which file needs which: every path in the sources of our crates, followed through imports and
//! re-exports to the file that defines the item.
//!
//! Read as tokens, without macros' expansion: a name that no item of a module bears is taken for
//! one that a macro of that module makes. What is called as a method only is not seen; its type is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where a path ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// At a module.
    Module(String),
    /// At an item that this module defines.
    Item(String),
    /// Outside our crates.
    Elsewhere,
}

/// What a `use` brings in: the name that it has here (`*` of all names) and its path.
#[derive(Debug, Clone)]
struct Import {
    name: String,
    path: Vec<String>,
    /// It only passes the name on.
    public: bool,
}

/// A source file.
#[derive(Debug, Default)]
struct Module {
    items: BTreeSet<String>,
    /// Modules in files of their own, and where an attribute says that the file is.
    children: Vec<(String, Option<String>)>,
    imports: Vec<Import>,
    /// Paths in its code, of one segment or more.
    paths: BTreeSet<Vec<String>>,
}

/// All modules of some crates, by their full names (`switchcost_model::run`).
#[derive(Debug, Default)]
pub struct Sources {
    modules: BTreeMap<String, Module>,
}

const ITEMS: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"];
const KEYWORDS: &[&str] = &["fn", "unsafe", "extern", "async", "mut"];

/// Identifiers, `::`, texts with their quotes, and single other characters; no comments, characters
/// or lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let rest = &text[at..];
        let from = at;
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if bytes[at] == b'"' {
            at += 1;
            while bytes.get(at).is_some_and(|b| *b != b'"') {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
            found.push(text.get(from..at).unwrap_or("\""));
        } else if rest.starts_with("r\"") || rest.starts_with("r#") || rest.starts_with("br\"") {
            let hashes = rest.bytes().skip_while(|b| b"br".contains(b)).take_while(|b| *b == b'#').count();
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = rest.find('"').unwrap_or(rest.len() - 1) + 1;
            at += rest[begin..].find(&end).map_or(rest.len(), |length| begin + length + end.len());
        } else if bytes[at] == b'\'' {
            let lifetime = is_word(at + 1) && bytes.get(at + 2) != Some(&b'\'');
            at += 1;
            if lifetime {
                while is_word(at) {
                    at += 1;
                }
            } else {
                // A quote may stand behind a backslash.
                at +=
                    if bytes.get(at) == Some(&b'\\') { 2 } else { text[at..].chars().next().map_or(1, char::len_utf8) };
                at += text.get(at..).and_then(|rest| rest.find('\'')).map_or(1, |end| end + 1);
            }
        } else if is_word(at) {
            while is_word(at) {
                at += 1;
            }
            found.push(&text[from..at]);
        } else if rest.starts_with("::") {
            at += 2;
            found.push("::");
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            if !rest.starts_with(char::is_whitespace) {
                found.push(&text[from..at]);
            }
        }
    }
    found
}

/// Position after the group that opens at `at`.
fn closed(tokens: &[&str], at: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// Position after the item that begins at `at`, attributes included.
fn after_item(tokens: &[&str], mut at: usize) -> usize {
    while tokens.get(at) == Some(&"#") {
        at = closed(tokens, at + 1);
    }
    let is_use = tokens[at..].iter().take(6).any(|token| *token == "use");
    while let Some(token) = tokens.get(at) {
        at = match *token {
            ";" => return at + 1,
            "{" if !is_use => return closed(tokens, at),
            "{" | "(" | "[" => closed(tokens, at),
            _ => at + 1,
        };
    }
    at
}

/// Without the items that only tests have; of attributes that say where a module is only that text.
fn shipped<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let (mut at, mut left) = (0, Vec::new());
    while at < tokens.len() {
        if tokens[at] == "#" {
            let end = closed(tokens, at + 1 + usize::from(tokens.get(at + 1) == Some(&"!")));
            let test = tokens[at..end].starts_with(&["#", "[", "cfg"]) && tokens[at..end].contains(&"test");
            match tokens[at..end] {
                ["#", "[", "path", "=", file, "]"] => left.push(file),
                ["#", "[", "cfg", ..] | ["#", "[", "cfg_attr", ..] => {}
                ref other => left.extend(other),
            }
            at = if test && !tokens[at..end].contains(&"not") { after_item(tokens, end) } else { end };
        } else {
            left.push(tokens[at]);
            at += 1;
        }
    }
    left
}

/// The imports of the tree at `at`, below `base`, and the position after it.
fn tree(tokens: &[&str], mut at: usize, base: &[String], public: bool, found: &mut Vec<Import>) -> usize {
    let mut path = base.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = tree(tokens, at, &path, public, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            Some(&"::") => at += 1,
            Some(&"as") => {
                found.push(Import { name: tokens[at + 1].to_owned(), path, public });
                return at + 2;
            }
            Some(&word) if ![";", ",", "}"].contains(&word) => {
                path.push(word.to_owned());
                at += 1;
            }
            _ => {
                if path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let name = path.last().cloned().unwrap_or_default();
                if name == "*" {
                    path.pop();
                }
                found.push(Import { name, path, public });
                return at;
            }
        }
    }
}

impl Module {
    fn read(text: &str) -> Self {
        let tokens = shipped(&tokens(text));
        let mut module = Self::default();
        let (mut at, mut depth) = (0, 0_usize);
        let word =
            |at: usize| tokens.get(at).filter(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        while at < tokens.len() {
            let token = tokens[at];
            match token {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                "use" => {
                    let public = at > 0 && [")", "pub"].contains(&tokens[at - 1]);
                    at = tree(&tokens, at + 1, &[], public, &mut module.imports);
                    continue;
                }
                "macro_rules" => {
                    module.items.extend(word(at + 2).map(ToString::to_string));
                }
                _ if ITEMS.contains(&token) && depth == 0 => {
                    if let Some(name) = word(at + 1).filter(|name| !KEYWORDS.contains(name)) {
                        if token == "mod" && tokens.get(at + 2) == Some(&";") {
                            let before = tokens[..at]
                                .iter()
                                .rev()
                                .find(|token| !["pub", "(", ")", "crate", "super"].contains(token));
                            let file = before
                                .filter(|token| token.starts_with('"'))
                                .map(|text| text.trim_matches('"').to_owned());
                            module.children.push(((*name).to_owned(), file));
                        } else {
                            module.items.insert((*name).to_owned());
                        }
                        at += 1;
                    }
                }
                _ => {}
            }
            let member = at > 0 && tokens[at - 1] == "." && (at < 2 || tokens[at - 2] != ".");
            let within = at > 0 && tokens[at - 1] == "::" && at > 1 && word(at - 2).is_some();
            if word(at).is_some() && !member && !within {
                let mut path = vec![tokens[at].to_owned()];
                let mut end = at + 1;
                while tokens.get(end) == Some(&"::") && word(end + 1).is_some() {
                    path.push(tokens[end + 1].to_owned());
                    end += 2;
                }
                module.paths.insert(path);
            }
            at += 1;
        }
        module
    }
}

fn parent(name: &str) -> String {
    name.rsplit_once("::").map_or_else(|| name.to_owned(), |(parent, _)| parent.to_owned())
}

impl Sources {
    /// Adds a crate by the name that code has for it and its root; `read`: the text of a file, if
    /// it exists.
    pub fn add(&mut self, name: &str, root: &Path, read: &impl Fn(&Path) -> Option<String>) {
        let text = read(root).unwrap_or_else(|| panic!("{} cannot be read", root.display()));
        let module = Module::read(&text);
        let beside = root.parent().unwrap_or(root);
        let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|own| root.ends_with(own));
        let folder = if is_root { beside.to_owned() } else { root.with_extension("") };
        for (child, elsewhere) in &module.children {
            let own = [folder.join(format!("{child}.rs")), folder.join(child).join("mod.rs")];
            let file = elsewhere
                .as_ref()
                .map(|file| beside.join(file))
                .or_else(|| own.into_iter().find(|file| read(file).is_some()));
            let file = file.unwrap_or_else(|| panic!("{name} has no file for its module {child}"));
            // Of several, each for another system, the first has the name.
            let mut full = format!("{name}::{child}");
            while self.modules.contains_key(&full) {
                full.push('\'');
            }
            self.add(&full, &file, read);
        }
        self.modules.insert(name.to_owned(), module);
    }

    /// Follows a path that stands in a module.
    fn resolve(&self, at: &str, path: &[String], depth: usize) -> Place {
        let Some((first, rest)) = path.split_first().filter(|_| depth < 20) else { return Place::Elsewhere };
        let module = &self.modules[at];
        let own = at.split("::").next().unwrap_or(at);
        match first.as_str() {
            "crate" => self.walk(own, rest, depth),
            "self" => self.walk(at, rest, depth),
            "super" => self.walk(&parent(at), rest, depth),
            name if !rest.is_empty() && self.modules.contains_key(&format!("{at}::{name}")) => {
                self.walk(&format!("{at}::{name}"), rest, depth)
            }
            name if module.imports.iter().any(|import| import.name == name) => self.walk(at, path, depth),
            name if module.items.contains(name) => Place::Item(at.to_owned()),
            name if self.modules.contains_key(&format!("{at}::{name}")) => Place::Module(format!("{at}::{name}")),
            name if self.modules.contains_key(name) => self.walk(name, rest, depth),
            _ => module
                .imports
                .iter()
                .filter(|import| import.name == "*")
                .map(|import| self.resolve(at, &[&import.path[..], path].concat(), depth + 1))
                .find(|place| *place != Place::Elsewhere)
                .unwrap_or(Place::Elsewhere),
        }
    }

    /// Goes on from a module.
    fn walk(&self, at: &str, path: &[String], depth: usize) -> Place {
        let Some((first, rest)) = path.split_first() else { return Place::Module(at.to_owned()) };
        let module = &self.modules[at];
        let child = format!("{at}::{first}");
        if first == "super" {
            return self.walk(&parent(at), rest, depth);
        }
        if self.modules.contains_key(&child) && !(rest.is_empty() && module.imports.iter().any(|i| i.name == *first)) {
            return self.walk(&child, rest, depth);
        }
        if let Some(import) = module.imports.iter().find(|import| import.name == *first) {
            return match self.resolve(at, &import.path, depth + 1) {
                Place::Module(module) => self.walk(&module, rest, depth),
                found => found,
            };
        }
        if module.items.contains(first) {
            return Place::Item(at.to_owned());
        }
        for import in module.imports.iter().filter(|import| import.name == "*") {
            if let Place::Module(all) = self.resolve(at, &import.path, depth + 1)
                && let found @ Place::Item(_) = self.walk(&all, path, depth)
            {
                return found;
            }
        }
        // Made by a macro, or a variant or a function of a type that is one.
        Place::Item(at.to_owned())
    }

    /// The other modules, of any crate, whose items a module uses; what it only passes on it does
    /// not need.
    pub fn needs(&self, name: &str) -> BTreeSet<String> {
        let module = &self.modules[name];
        let imported =
            |path: &&Vec<String>| path.len() > 1 || module.imports.iter().any(|import| import.name == path[0]);
        let used = module.paths.iter().filter(imported).cloned();
        let private = module.imports.iter().filter(|import| !import.public).map(|import| import.path.clone());
        used.chain(private)
            .filter_map(|path| match self.resolve(name, &path, 0) {
                Place::Item(module) if module != name => Some(module),
                _ => None,
            })
            .collect()
    }

    /// The needs of every module.
    pub fn graph(&self) -> BTreeMap<&str, BTreeSet<String>> {
        self.modules.keys().map(|name| (name.as_str(), self.needs(name))).collect()
    }
}

/// Groups of modules that need one another in a circle.
pub fn circles(graph: &BTreeMap<&str, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reached = |start: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start.to_owned()]);
        while let Some(name) = next.pop() {
            next.extend(
                graph.get(name.as_str()).into_iter().flatten().filter(|name| seen.insert((*name).clone())).cloned(),
            );
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<String>> = graph.keys().map(|name| (*name, reached(name))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (name, seen) in all.iter().filter(|(name, seen)| seen.contains(**name)) {
        if !found.iter().any(|circle| circle.contains(*name)) {
            found.push(seen.iter().filter(|other| all[other.as_str()].contains(*name)).cloned().collect());
        }
    }
    found
}

/// A circle that only re-exports close, as code may write it: what this test is here to see.
#[test]
fn a_circle_through_re_exports_is_seen() {
    let files = [
        ("a/lib.rs", "mod one;\nmod two;\npub use one::{One, used};\npub use two::{Two as Both, helper};"),
        ("a/one.rs", "use crate::Both;\npub struct One(Both);\npub fn used() {}"),
        (
            "a/two.rs",
            "mod deep;\npub use deep::helper;\npub struct Two;\nfn f<'x>(c: char) { if c == '\"' { super::used() } }",
        ),
        // Neither a text, a comment, a field nor a test counts.
        (
            "a/two/deep.rs",
            "//! crate::One\npub fn helper() { g(\"crate::One\").used }\n#[cfg(test)]\nmod tests { use crate::One; }",
        ),
        ("b/main.rs", "fn main() { a::helper(); let _ = format!(\"{}\", a::Both); }"),
    ];
    let read = |path: &Path| files.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| (*text).to_owned());
    let mut all = Sources::default();
    all.add("a", Path::new("a/lib.rs"), &read);
    all.add("b", Path::new("b/main.rs"), &read);
    let graph = all.graph();
    let needs = |name: &str| graph[name].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!([needs("a"), needs("a::two::deep")].concat(), [""; 0]);
    assert_eq!([needs("a::one"), needs("a::two")], [["a::two"], ["a::one"]]);
    assert_eq!(needs("b"), ["a::two", "a::two::deep"]);
    assert_eq!(circles(&graph), [BTreeSet::from(["a::one".to_owned(), "a::two".to_owned()])]);
}
