//! What a program that ended without an answer said last, for the sentence about its end.

/// The last line of its log. Of a crash, which ends with frames of a stack, the first: it says why. None: it said nothing.
#[must_use]
pub fn last_words(log: &str) -> Option<&str> {
    let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let last = lines.next_back().unwrap_or(first);
    let is_frame = last.starts_with("at ") || last.contains("0x");
    Some(if is_frame { first } else { last })
}

#[cfg(test)]
mod tests {
    use super::last_words;

    #[track_caller]
    fn check(log: &str, expected: Option<&str>) {
        assert_eq!(last_words(log), expected, "{log:?}");
    }

    #[test]
    fn a_frame_is_no_reason() {
        check("", None);
        check(" \n\n", None);
        check("needs Python 3.9 or newer\n", Some("needs Python 3.9 or newer"));
        check(
            "Traceback (most recent call last):\n  File \"x.py\", line 1\nSyntaxError: no\n\n",
            Some("SyntaxError: no"),
        );
        check(
            "runtime: failed to create new OS thread (have 2 already; errno=11)\nruntime.goexit({})\n\t/asm_amd64.s:1771 +0x1 fp=0x794 sp=0x7e0 pc=0x48\n",
            Some("runtime: failed to create new OS thread (have 2 already; errno=11)"),
        );
        check(
            "Exception in thread \"main\" java.io.IOException: x\n\tat a.B.c(B.java:24)\n",
            Some("Exception in thread \"main\" java.io.IOException: x"),
        );
        check(
            "\n  #  Assertion failed: (0) == (uv_thread_create(x))\n\n 8: 0xbb835e _start [node]\n",
            Some("#  Assertion failed: (0) == (uv_thread_create(x))"),
        );
    }
}
