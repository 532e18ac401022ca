//! What everybody must know of a part of the host.

/// A part.
#[derive(Debug, PartialEq, Eq)]
pub struct HostPart {
    /// As pages name it.
    pub name: &'static str,
    /// Names of the parameters that it carries out itself, so that probes are not told.
    pub parameters: &'static [&'static str],
    /// Names of the samples that it adds to those of the probe.
    pub samples: &'static [&'static str],
}
