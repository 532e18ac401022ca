//! JUnit's XML, as the Jenkins schema has it, which GitLab and others read: a suite of cases, each passed, failed, in error or skipped.

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
pub(crate) fn suite(name: &str, timestamp: Option<&str>, cases: &[Case]) -> String {
    let count = |end: End| cases.iter().filter(|case| case.end == end).count();
    let totals = format!(
        "name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        escaped(name),
        cases.len(),
        count(End::Failed),
        count(End::Error)
    );
    let at = timestamp.map_or(String::new(), |at| format!(" timestamp=\"{}\"", escaped(at)));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {totals}>\n  <testsuite {totals} skipped=\"{}\"{at}>\n{}  </testsuite>\n</testsuites>\n",
        count(End::Skipped),
        cases.iter().map(case).collect::<String>()
    )
}

fn case(case: &Case) -> String {
    let says = escaped(&case.says);
    let content = match case.end.element() {
        Some(element) => format!("<{element} message=\"{says}\"/>"),
        None => format!("<system-out>{says}</system-out>"),
    };
    format!(
        "    <testcase classname=\"{}\" name=\"{}\">\n      {content}\n    </testcase>\n",
        escaped(&case.class),
        escaped(&case.name)
    )
}

/// Text as it may stand between elements and in an attribute. Other characters that XML does not have leave with the seal.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
}
