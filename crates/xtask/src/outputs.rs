//! What commands print, in pages. In a block "```console" each line `$ COMMAND` is run in this
//! repository, and what stands behind it is what it prints. Such commands read kept runs. What one
//! stores, the later ones of the same page find.

use crate::places::top;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// How such a block begins.
const BEGIN: &str = "```console";

/// The page with what its commands print now. A command may go on in lines that begin with `> `, as
/// a shell asks for them.
pub fn renewed(page: &str) -> anyhow::Result<String> {
    let home = top().join("target/tmp/pages");
    let _ = fs::remove_dir_all(&home);
    let mut status = 0;
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (block, after) = part.split_once("\n```").context("a block of commands does not end")?;
        text += BEGIN;
        let typed: Vec<&str> = block.lines().filter(|line| line.starts_with("$ ") || line.starts_with("> ")).collect();
        for command in typed.chunk_by(|_, next| next.starts_with("> ")) {
            let words: Vec<&str> = command.iter().map(|line| &line[2..]).collect();
            text = format!("{text}\n{}\n{}", command.join("\n"), printed(&words.join("\n"), &home, &mut status)?);
        }
        text = text + "\n```" + after;
    }
    Ok(text)
}

/// `status` is what the command before it ended with, for `$?`.
fn printed(command: &str, home: &Path, status: &mut i32) -> anyhow::Result<String> {
    let program = env::current_exe()?;
    let folder = program.parent().unwrap_or(&program).display();
    let line = format!("export PATH={folder}:$PATH; (exit {status})\n{command}");
    let mut shell = Command::new("sh");
    shell.env_clear().env("LC_ALL", "C.UTF-8").env("XDG_DATA_HOME", home).current_dir(top());
    let ended = shell.args(["-c", &line]).output().context("there is no shell")?;
    let error = String::from_utf8_lossy(&ended.stderr);
    ensure!(!ended.stdout.is_empty(), "`{command}` prints nothing: {error}");
    *status = ended.status.code().unwrap_or(1);
    Ok(String::from_utf8(ended.stdout)?.trim_end().to_owned())
}
