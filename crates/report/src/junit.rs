//! JUnit's XML, as the Jenkins schema has it, which GitLab and others read: a suite of cases, each passed, failed, in error or skipped.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// How a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should be.
    Passed,
    /// It is not.
    Failed,
    /// It cannot be told.
    Error,
    /// Not tried.
    Skipped,
}

impl End {
    fn element(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Failed => Some("failure"),
            Self::Error => Some("error"),
            Self::Skipped => Some("skipped"),
        }
    }
}

/// One case.
pub(crate) struct Case {
    /// What it belongs to.
    pub class: String,
    /// Its name, unique within the class.
    pub name: String,
    /// How it ends.
    pub end: End,
    /// One sentence: the reason, or the figure of a case that passed.
    pub says: String,
}

/// One suite with its cases.
///
/// # Errors
/// A clause that says why it cannot be written.
pub(crate) fn suite(name: &str, timestamp: Option<&str>, cases: &[Case]) -> Result<String, String> {
    written(name, timestamp, cases).map_err(|error| error.to_string())
}

fn written(name: &str, timestamp: Option<&str>, cases: &[Case]) -> io::Result<String> {
    let count = |end: End| cases.iter().filter(|case| case.end == end).count().to_string();
    let (all, failed, errors) = (cases.len().to_string(), count(End::Failed), count(End::Error));
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let totals = [("name", name), ("tests", all.as_str()), ("failures", failed.as_str()), ("errors", errors.as_str())];
    writer.create_element("testsuites").with_attributes(totals).write_inner_content(|writer| {
        let skipped = count(End::Skipped);
        let suite =
            writer.create_element("testsuite").with_attributes(totals).with_attribute(("skipped", skipped.as_str()));
        let suite = suite.with_attributes(timestamp.map(|at| ("timestamp", at)));
        suite.write_inner_content(|writer| cases.iter().try_for_each(|case| write(writer, case)))?;
        Ok(())
    })?;
    String::from_utf8(writer.into_inner()).map(|text| text + "\n").map_err(io::Error::other)
}

fn write(writer: &mut Writer<Vec<u8>>, case: &Case) -> io::Result<()> {
    let attributes = [("classname", case.class.as_str()), ("name", case.name.as_str())];
    writer.create_element("testcase").with_attributes(attributes).write_inner_content(|writer| {
        match case.end.element() {
            Some(element) => {
                writer.create_element(element).with_attribute(("message", case.says.as_str())).write_empty()?
            }
            None => writer.create_element("system-out").write_text_content(BytesText::new(&case.says))?,
        };
        Ok(())
    })?;
    Ok(())
}
