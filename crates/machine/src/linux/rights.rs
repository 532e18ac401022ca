//! Rights of root that a child does not get.

use rustix::thread::{
    CapabilitySet, capabilities, capability_is_in_bounding_set, remove_capability_from_bounding_set, set_capabilities,
};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use switchcost_model::Capabilities;

/// Bits of a mode: who may pass through a folder.
const OWNER_PASSES: u32 = 0o100;
const OTHERS_PASS: u32 = 0o001;

/// `kept`, and what root needs to read a program below a folder that only its owner, another user,
/// may enter: with `sudo`, somebody's own build at home.
pub(super) fn to_reach(program: &Path, kept: Capabilities) -> Capabilities {
    let open = |folder: &Path| {
        std::fs::metadata(folder).is_ok_and(|seen| {
            let passes = if seen.uid() == 0 { OWNER_PASSES } else { OTHERS_PASS };
            seen.mode() & passes != 0
        })
    };
    if program.ancestors().skip(1).all(open) {
        return kept;
    }
    "dac_read_search".parse().map_or(kept, |search| kept.and(search))
}

/// Gives up, for whatever this process becomes by exec, all but `kept`. Root gets at exec what the
/// bounding set has (capabilities(7)), anybody else what is inheritable and ambient, which goes
/// with the inheritable set.
///
/// Who may not give up anything (root without `setpcap`) keeps it. Async-signal-safe: system calls
/// only.
pub(super) fn drop_all_but(kept: Capabilities) {
    for number in (0..u64::BITS).filter(|number| !kept.keeps(*number)) {
        let one = CapabilitySet::from_bits_retain(1 << number);
        // An error: the kernel knows no more.
        let Ok(there) = capability_is_in_bounding_set(one) else { break };
        if there && remove_capability_from_bounding_set(one).is_err() {
            break;
        }
    }
    if let Ok(mut own) = capabilities(None) {
        own.inheritable &= CapabilitySet::from_bits_retain(kept.bits());
        let _ = set_capabilities(None, own);
    }
}
