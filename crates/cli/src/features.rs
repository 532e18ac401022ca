//! The features: all that the program has beside its core. Nothing else names one.

use switchcost_session::Feature;

/// Each feature, behind the Cargo feature of its name.
pub const FEATURES: &[Feature] = &[
    #[cfg(feature = "audit")]
    switchcost_audit::FEATURE,
    #[cfg(feature = "classic")]
    switchcost_classic::FEATURE,
    #[cfg(feature = "crosscheck")]
    switchcost_crosscheck::FEATURE,
    #[cfg(feature = "fleet")]
    switchcost_fleet::FEATURE,
    #[cfg(feature = "kernels")]
    switchcost_kernels::FEATURE,
];
