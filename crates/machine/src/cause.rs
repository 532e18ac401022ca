//! Why something is not known.

/// What the system says of an error, without its number.
#[must_use]
pub fn cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

/// A machine of which only the processor's architecture and the system's name are known, since no
/// more is asked for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn unknown_machine(why: &str) -> switchcost_model::Machine {
    use switchcost_model::unknown;
    let mut machine = switchcost_model::Machine::default();
    for fact in switchcost_model::HARDWARE_FACTS.iter().chain(switchcost_model::SOFTWARE_FACTS) {
        machine.stable.insert(fact.trim_end_matches('.').to_owned(), unknown(why));
    }
    machine.stable.insert("kernel.architecture".to_owned(), std::env::consts::ARCH.to_owned());
    machine.stable.insert("kernel.release".to_owned(), std::env::consts::OS.to_owned());
    machine.personal.insert("host_name".to_owned(), unknown(why));
    machine
}
