//! What a program that ended without an answer said last, for the sentence about its end.

/// The line of its log that says why: of a runtime's report on a crash its message, not a frame, a
/// source line or a hint; else the last line. None: it said nothing.
#[must_use]
pub fn last_words(log: &str) -> Option<String> {
    let lines: Vec<&str> = log.lines().map(|line| line.trim_end()).filter(|line| !line.trim().is_empty()).collect();
    let found = [rust, python, lua, ruby, go, frames].iter().find_map(|message| message(&lines));
    let bare = |line: &str| line.trim_start_matches(['#', ' ', '\t']).to_owned();
    v8(&lines)
        .map(|(what, found)| format!("{}: {}", bare(what), bare(found)))
        .or_else(|| found.or_else(|| plain(&lines)).map(bare))
}

/// The line is a message of the protocol that went astray.
pub fn is_message(line: &str) -> bool {
    line.trim_start().starts_with("{\"t\":") || line.trim_start().starts_with("{\"t\" :")
}

/// A line with fewer is a banner.
const FEWEST_LETTERS: usize = 3;

/// `# Fatal error in FILE, line 0`, of which the line below says what was found.
fn v8<'a>(lines: &[&'a str]) -> Option<(&'a str, &'a str)> {
    let at = lines.iter().position(|line| line.starts_with("# Fatal error in"))?;
    lines.get(at + 1).filter(|line| line.len() > FEWEST_LETTERS).map(|found| (lines[at], *found))
}

/// `thread 'main' panicked at FILE:` and the message below it, or, before Rust 1.73, in it.
fn rust<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let at = lines.iter().rposition(|line| line.contains(" panicked at "))?;
    let hint = |line: &&str| line.starts_with("note: ") || line.starts_with("stack backtrace:");
    Some(lines.get(at + 1).filter(|line| !hint(line)).unwrap_or(&lines[at]))
}

/// What stands at the margin below the last frame of the last traceback.
fn python<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let start = lines.iter().rposition(|line| line.starts_with("Traceback (most recent call last):"))?;
    lines[start + 1..].iter().find(|line| !line.starts_with(' ')).copied()
}

/// What stands above the traceback.
fn lua<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let at = lines.iter().rposition(|line| line.trim() == "stack traceback:")?;
    lines[..at].last().copied()
}

/// `probe.rb:9:in 'f': message (Class)`, then perhaps lines of the source, then `from` frames.
fn ruby<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let message = |line: &&&str| line.contains(".rb:") && line.contains(":in ") && !line.trim().starts_with("from ");
    lines.iter().rfind(message).copied()
}

/// `panic: …`, `fatal error: …`, above the goroutines.
fn go<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let goroutine = lines.iter().position(|line| line.starts_with("goroutine "))?;
    lines[..goroutine].iter().find(|line| line.starts_with("panic: ") || line.starts_with("fatal error: ")).copied()
}

/// Java, Node.js: what stands above the last group of frames, which of a chain of exceptions is the
/// cause.
fn frames<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let frame = |line: &str| line.trim_start().starts_with("at ") || line.trim_start().starts_with("... ");
    lines.windows(2).rfind(|pair| !frame(pair[0]) && frame(pair[1])).map(|pair| pair[0])
}

/// Of a report on a crash (frames with addresses, lines that begin with #) the first lines that say
/// something; else the last one.
fn plain<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let last = lines.last()?;
    let telling = |line: &&&str| line.chars().filter(|c| c.is_alphabetic()).count() >= FEWEST_LETTERS;
    let report = last.contains("0x") || lines.iter().any(|line| line.trim_start().starts_with('#'));
    let found = if report { lines.iter().find(telling) } else { lines.iter().rfind(telling) };
    found.or(Some(last)).copied()
}

#[cfg(test)]
mod tests {
    use super::last_words;

    #[track_caller]
    fn check(log: &str, expected: &str) {
        assert_eq!(last_words(log).as_deref(), Some(expected), "{log:?}");
    }

    #[test]
    fn without_a_report_the_last_line_counts() {
        assert_eq!(last_words(""), None);
        assert_eq!(last_words(" \n\n"), None);
        check("needs Python 3.9 or newer\n", "needs Python 3.9 or newer");
        check("a banner\nring broke at -e line 1.\n", "ring broke at -e line 1.");
        check(
            "runtime: failed to create new OS thread (have 2 already; errno=11)\nruntime.goexit({})\n\t/asm_amd64.s:1771 +0x1 fp=0x794 sp=0x7e0 pc=0x48\n",
            "runtime: failed to create new OS thread (have 2 already; errno=11)",
        );
        check(
            "\n  #  Assertion failed: (0) == (uv_thread_create(x))\n\n 8: 0xbb835e _start [node]\n",
            "Assertion failed: (0) == (uv_thread_create(x))",
        );
        check(
            "\n\n#\n# Fatal error in , line 0\n# Check failed: 12 == (*__errno_location ()).\n#\n#\n#FailureMessage Object: 0x7ffd\n 1: 0x8bb [node]\n",
            "Fatal error in , line 0: Check failed: 12 == (*__errno_location ()).",
        );
        check(
            "VM warning: os::commit_memory(0x7f, 2555904, 1) failed; error='Permission denied' (errno=13)\n#\n# An error report file is saved as:\n# /x/hs_err_pid1.log\n",
            "VM warning: os::commit_memory(0x7f, 2555904, 1) failed; error='Permission denied' (errno=13)",
        );
        check("ring broke\n----\n", "ring broke");
    }

    /// Each as the runtime printed it, paths shortened.
    #[test]
    fn of_a_runtime_s_report_the_message_counts() {
        check(
            "Traceback (most recent call last):\n  File \"x.py\", line 1\n    f(\n     ^\nSyntaxError: '(' was never closed\n\n",
            "SyntaxError: '(' was never closed",
        );
        check(
            "Traceback (most recent call last):\n  File \"p.py\", line 2, in f\n    return 1/0\n           ~^~\nZeroDivisionError: division by zero\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"p.py\", line 8, in <module>\n    g()\nRuntimeError: ring broke\nin its second line\n",
            "RuntimeError: ring broke",
        );
        check(
            "n.js:1\nfunction f(){ return undefined.x; }\n                               ^\n\nTypeError: Cannot read properties of undefined (reading 'x')\n    at f (n.js:1:32)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n",
            "TypeError: Cannot read properties of undefined (reading 'x')",
        );
        check(
            "Exception in thread \"main\" java.lang.IllegalStateException: ring broke\n\tat J.main(J.java:1)\nCaused by: java.lang.ArrayIndexOutOfBoundsException: Index 2 out of bounds for length 1\n\tat J.f(J.java:1)\n\t... 1 more\n",
            "Caused by: java.lang.ArrayIndexOutOfBoundsException: Index 2 out of bounds for length 1",
        );
        check(
            "Exception in thread \"main\" java.io.IOException: x\n\tat a.B.c(B.java:24)\n",
            "Exception in thread \"main\" java.io.IOException: x",
        );
        check(
            "hi\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47a76c]\n\ngoroutine 1 [running]:\nmain.main()\n\tg.go:2 +0x2c\nexit status 2\n",
            "panic: runtime error: invalid memory address or nil pointer dereference",
        );
        check(
            "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\td.go:2 +0x25\n",
            "fatal error: all goroutines are asleep - deadlock!",
        );
        check(
            "\nthread 'main' (10890) panicked at r.rs:1:52:\nindex out of bounds: the len is 0 but the index is 1\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            "index out of bounds: the len is 0 but the index is 1",
        );
        check(
            "thread 'main' panicked at 'ring broke', r.rs:1:5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            "thread 'main' panicked at 'ring broke', r.rs:1:5",
        );
        check(
            "lua5.4: probe.lua:12: attempt to perform bitwise operation on a string value (local 'x')\nstack traceback:\n\tprobe.lua:12: in local 'f'\n\tprobe.lua:20: in main chunk\n\t[C]: in ?\n",
            "lua5.4: probe.lua:12: attempt to perform bitwise operation on a string value (local 'x')",
        );
        check(
            "probe.rb:2:in `f': undefined method `x' for nil:NilClass (NoMethodError)\n\n  nil.x\n     ^^\n\tfrom probe.rb:9:in `<main>'\n",
            "probe.rb:2:in `f': undefined method `x' for nil:NilClass (NoMethodError)",
        );
    }
}
