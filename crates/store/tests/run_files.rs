//! Run files from strangers: whatever is wrong with them, the answer is an error and never a panic
//! or a wrong run.

use crate::support::{export, full_run, header, import, invocation};
use proptest::prelude::*;
use std::io::{self, BufReader, Read};
use switchcost_model::Run;
use switchcost_store::{MAX_LINE_BYTES, import_jsonl};

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8(bytes.to_vec()).unwrap().lines().map(str::to_owned).collect()
}

/// A file of these lines with the right `end` line behind them.
fn seal(lines: &[String]) -> Vec<u8> {
    use sha2_of_the_test::hex;
    let mut file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let end = format!("{{\"t\":\"end\",\"lines\":{},\"sha256\":\"{}\"}}\n", lines.len(), hex(file.as_bytes()));
    file.push_str(&end);
    file.into_bytes()
}

/// The checksum computed by another path than the code under test: the crate's dependency,
/// straight.
mod sha2_of_the_test {
    use sha2::{Digest, Sha256};

    pub fn hex(bytes: &[u8]) -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The lines of a good file without the last.
fn body() -> Vec<String> {
    let mut body = lines(&export(&full_run()));
    body.pop();
    body
}

/// Imports the good file with one line changed and a right checksum.
fn check_line(number: usize, from: &str, to: &str, expected: &str) {
    let mut body = body();
    let line = &mut body[number - 1];
    assert!(line.contains(from), "line {number} has no `{from}`: {line}");
    *line = line.replacen(from, to, 1);
    let error = import(&seal(&body)).expect_err(expected).to_string();
    assert!(error.contains(expected), "{expected}: {error}");
}

fn check(bytes: &[u8], expected: &str) {
    assert_eq!(import(bytes).unwrap_err().to_string(), expected);
}

#[test]
fn the_test_seals_as_the_exporter_does() {
    assert_eq!(seal(&body()), export(&full_run()));
}

/// What a later version adds to these objects is named and left out; the rest is read, and what is
/// not in its form is refused as ever.
#[test]
fn a_file_of_a_later_version_is_read() {
    let later = |change: &dyn Fn(String) -> String| {
        let lines = body()
            .into_iter()
            .map(|line| change(line.replace("\"tool_version\":\"0.1.0\"", "\"tool_version\":\"0.1.10\"")));
        import_jsonl(&mut &*seal(&lines.collect::<Vec<_>>()))
    };
    let places = [
        ("{\"t\":\"run\",", "new"),
        ("\"request\":{", "request.new"),
        ("\"machine\":{", "machine.new"),
        ("{\"t\":\"variant\",", "new"),
        ("{\"t\":\"invocation\",", "new"),
        ("\"hello\":{", "hello.new"),
        ("\"plan\":{", "plan.new"),
        ("\"evidence\":{", "evidence.new"),
        ("\"kernel\":{", "evidence.kernel.new"),
        ("\"samples\":[{", "samples.new"),
    ];
    let expected = Run { tool_version: "0.1.10".to_owned(), ..full_run() };
    for (place, path) in places {
        let read = later(&|line| line.replace(place, &format!("{place}\"new\":[1],"))).unwrap();
        assert_eq!((read.run, Vec::from_iter(read.left_out)), (expected.clone(), vec![path.to_owned()]), "{place}");
    }
    let read = later(&|line| line).unwrap();
    assert!(read.left_out.is_empty() && read.run == expected);
    for (from, to) in [("\"seed\":", "\"sead\":"), ("\"variant\":0", "\"variant\":9"), ("\"verified\"", "\"fine\"")] {
        later(&|line| line.replace(from, to)).unwrap_err();
    }
}

/// A golden file: what was exported once is read, and written, for ever.
#[test]
fn run_files_of_format_1_stay_as_they_are() {
    let file = include_str!("golden/run.jsonl");
    assert_eq!(import(file.as_bytes()).unwrap(), full_run());
    assert_eq!(String::from_utf8(export(&full_run())).unwrap(), file);
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let file = export(&full_run());
    for length in 0..file.len() {
        let error = import(&file[..length]).expect_err("a part passed for the whole").to_string();
        if length > 20 {
            assert!(error.starts_with("is incomplete"), "{length}: {error}");
        }
    }
    let third_invocation = file.len() - 200;
    let error = import(&file[..third_invocation]).unwrap_err().to_string();
    assert!(error.contains("breaks off at line 7, after 2 whole invocations"), "{error}");
}

#[test]
fn a_file_with_any_byte_changed_is_refused() {
    let file = export(&full_run());
    for position in 0..file.len() {
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[position] ^= 1 << bit;
            assert!(import(&changed).is_err(), "bit {bit} of byte {position}");
        }
    }
}

proptest! {
    #[test]
    fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(import(&bytes).is_err());
    }

    #[test]
    fn a_stretch_of_the_file_replaced_is_refused(from in 0..3000_usize, length in 1..50_usize, by in "\\PC{0,20}") {
        let mut file = export(&full_run());
        let from = from.min(file.len() - 1);
        let to = (from + length).min(file.len());
        prop_assume!(&file[from..to] != by.as_bytes());
        file.splice(from..to, by.bytes());
        prop_assert!(import(&file).is_err());
    }
}

#[test]
fn foreign_files() {
    let foreign = "is not a run file: its first line is not the header of a run; give one by `export`";
    check(b"", "is not a run file: it is empty; give one by `export`");
    check(b"name,value\n1,2\n", foreign);
    check(b"{\"t\":\"hello\",\"protocol\":1}\n", foreign);
    check(b"{\"t\":\"variant\"", foreign);
    check(b"[]", foreign);
    let encoded = |what: &str| what.to_owned();
    check(b"\x1f\x8b\x08\x00", &encoded("it is compressed; unpack it with gunzip first"));
    let wide = "it is UTF-16 (PowerShell's `>`, in place of -o FILE); convert it: iconv -f UTF-16 -t UTF-8";
    check(b"\xff\xfe{\0\"\0t\0", &encoded(wide));
    check(b"{\0\"\0t\0", &encoded(wide));
    check(b"\xfe\xff\0{\0\"", &encoded(wide));
    let marked = "it begins with a byte-order mark; write it as UTF-8 without one: tail -c +4 FILE";
    check(b"\xef\xbb\xbf{\"t\":\"run\"", &encoded(marked));
    check(
        b"SQLite format 3\0\x10\x00",
        "is not a run file: it is an SQLite file, perhaps a store; give one by `export`",
    );
    check(
        b"{\"t\":\"run\",\"format\":2,\"new\":[]}\n",
        "is a run file of format 2 but this switchcost knows up to 1; use the newer switchcost for it",
    );
}

#[test]
fn only_integers_within_range() {
    let wrong = "invalid type: floating point";
    check_line(5, "1100000", "1100000.5", wrong);
    check_line(5, "1100000", "11e5", wrong);
    check_line(5, "1100000", "-0", wrong);
    check_line(5, "1100000", "NaN", "expected value");
    check_line(5, "1100000", "Infinity", "expected value");
    check_line(5, "1100000", "9223372036854775808", "invalid value: integer `9223372036854775808`, expected i64");
    check_line(5, "1100000", "\"1\"", "invalid type: string");
    check_line(5, "\"units\":512", "\"units\":0", "invocation 0: units of samples is 0");
    check_line(5, "_per_second\":1000000000", "_per_second\":0", "invocation 0: clock.ticks_per_second is 0");
    check_line(5, "\"units\":512", "\"units\":-512", "invalid value: integer `-512`, expected u64");
    check_line(6, "[10,2]", "[10,-2]", "invalid value: integer `-2`, expected u64");
    check_line(6, "[10,2]", "[10,2,3]", "trailing characters");
    check_line(5, "\"wall_ns\":", "\"wall_ns\":1e400,\"x\":", "number out of range");
}

#[test]
fn the_schema_is_strict() {
    check_line(1, "\"seed\"", "\"sead\"", "missing field `seed`");
    check_line(1, "\"stable\":{", "\"stable\":{\"cpu\":\"a\",", "not written the way export writes it");
    check_line(2, "\"probe\"", " \"probe\"", "from byte 52 on it is not written the way export writes it");
    check_line(5, "\"gc_cycles\":null,", "", "not written the way export writes it");
    let clock = "{\"name\":\"CLOCK_MONOTONIC\",\"ticks_per_second\":1000000000,\"read_cost_ticks\":20}";
    check_line(5, clock, "[\"CLOCK_MONOTONIC\",1000000000,20]", "not written the way export writes it");
    check_line(1, "\"seed\"", "\"seed\":1,\"seed\"", "duplicate field `seed`");
    check_line(2, "\"mechanism\":\"thread/pipe\"", "\"mechanism\":\"pipe\"", "not of the form family/name");
    check_line(2, "\"placement\":\"one_cpu\"", "\"placement\":\"moon\"", "unknown placement `moon`");
    check_line(2, "\"index\":0", "\"index\":1", "variant 1 stands where 0 is due");
    check_line(5, "\"verdict\":\"verified\"", "\"verdict\":\"fine\"", "unknown verdict `fine`");
    check_line(5, "\"variant\":0", "\"variant\":3", "refers to variant 3 but there are 3 variants");
    check_line(5, "\"variant\":0", "\"variant\":18446744073709551615", "variant");
    check_line(5, "\"pid\":1000", "\"pid\":null", "of `hello` and `pid` one is missing");
    check_line(5, "\"process_code\":0", "\"process_code\":null", "`exited` without a code is not a way for a process");
    check_line(5, "\"exited\"", "\"ezited\"", "`ezited` with code 0 is not a way for a process to end");
    check_line(5, "\"log\":", "\"extra\":1,\"log\":", "not written the way export writes it");
    check_line(1, "\"case\":\"slow\",", "", "missing field `case`");
    check_line(5, "\"ns\":3000000,\"of_ns\":31000000", "\"detail\":\"3 ms\"", "missing field `ns`");
    check_line(5, "\"kind\":\"steal\",", "\"kind\":\"noise\",", "unknown variant `noise`");
    check_line(5, "\"t\":\"invocation\"", "\"t\":\"intermission\"", "`intermission` is not a known kind of line");
    check_line(1, "\"ended_by\":\"precision\"", "\"ended_by\":\"unfinished\"", "the time of the end is given");
    for id in ["", "latest", "../../x", "a b", "\\u001b[31m", &"1".repeat(65)] {
        check_line(1, "20260102T030405-a1b2", id, "is not an id of a run");
    }
}

#[test]
fn lines_stand_in_order() {
    let mut extra = body();
    let variant = extra[3].replace("\"index\":2", "\"index\":3");
    extra.push(variant);
    check(&seal(&extra), "line 8 cannot be understood: a variant stands behind an invocation; export the run again");
    let mut twice = body();
    twice.insert(1, twice[0].clone());
    let error =
        "line 2 cannot be understood: a file holds one run, and this is the header of another; export the run again";
    check(&seal(&twice), error);
    let mut blank = body();
    blank.insert(2, String::new());
    assert!(import(&seal(&blank)).is_err());
}

#[test]
fn the_end_line_closes_the_file() {
    let file = export(&full_run());
    let twice = [&file[..], &file[..]].concat();
    check(&twice, "line 9 cannot be understood: something follows the `end` line; export the run again");
    let trailing = [&file[..], b"\n"].concat();
    check(&trailing, "line 9 cannot be understood: something follows the `end` line; export the run again");
    let windows = String::from_utf8(file.clone()).unwrap().replace('\n', "\r\n");
    assert_eq!(export(&import(windows.as_bytes()).unwrap()), file);
    let mut missing = lines(&file);
    missing.remove(4);
    let missing: String = missing.iter().map(|line| format!("{line}\n")).collect();
    let error = "was changed after it was exported: its last line counts 7 lines, but 6 are there; copy it again without \
                 converting line ends or characters";
    check(missing.as_bytes(), error);
}

#[test]
fn extensions_are_skipped_and_nothing_else() {
    let mut extended = body();
    extended.insert(1, "{\"t\":\"x_note\",\"by\":\"somebody\",\"value\":1.5}".to_owned());
    extended.push("{\"t\":\"x_\"}".to_owned());
    assert_eq!(import(&seal(&extended)).unwrap(), full_run());
}

#[test]
fn depth_does_not_exhaust_the_stack() {
    let deep = "[".repeat(1_000_000);
    check_line(4, "{\"t\"", &format!("{{\"deep\":{deep},\"t\""), "cannot be understood");
    check_line(4, "\"index\":2", &format!("\"index\":{deep}"), "cannot be understood");
    let closed = format!("{{\"t\":\"x_deep\",\"v\":{deep}{}}}", "]".repeat(1_000_000));
    let mut extended = body();
    extended.push(closed);
    assert_eq!(import(&seal(&extended)).unwrap(), full_run());
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let endless = io::repeat(b'[').take(MAX_LINE_BYTES * 4);
    let error = import_jsonl(&mut BufReader::new(endless)).unwrap_err().to_string();
    assert_eq!(error, "line 1 goes beyond the limit of 67108864 bytes for a line; such a file is not made by export");
    let mut run = full_run();
    run.invocations[0].log = "x".repeat(MAX_LINE_BYTES as usize);
    let error = switchcost_store::export_jsonl(&run, &mut io::sink()).unwrap_err().to_string();
    assert!(error.starts_with("line 5 goes beyond"), "{error}");
}

#[test]
fn a_reason_from_the_file_is_bounded_and_plain() {
    let mut long = body();
    long[1] = long[1].replace("one_cpu", &format!("\\u001b[31m{}", "x".repeat(100_000)));
    let error = import(&seal(&long)).unwrap_err().to_string();
    assert!(error.len() < 400 && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn a_run_that_could_not_be_imported_is_not_exported() {
    let mut run = header("20260102T030405-a1b2");
    run.invocations = vec![invocation(3, 0)];
    let error = switchcost_store::export_jsonl(&run, &mut io::sink()).unwrap_err().to_string();
    let expected = "holds a run that does not hang together: an invocation refers to variant 3 but there are 3 variants; \
                    export the run again";
    assert_eq!(error, expected);
}

#[test]
fn errors_of_the_system_are_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is out"))
        }
    }
    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = import_jsonl(&mut BufReader::new(Broken)).unwrap_err().to_string();
    assert_eq!(error, "cannot be read: the cable is out; check the file and its disk");
    let error = switchcost_store::export_jsonl(&full_run(), &mut Broken).unwrap_err().to_string();
    assert!(error.starts_with("cannot be written: no storage space"), "{error}");
}
