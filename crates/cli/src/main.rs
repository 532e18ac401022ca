//! The program; everything is in the library, so that `xtask` can derive documents from it.

use std::process::ExitCode;

/// Nothing could be measured: 3, as the help says.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: switchcost_machine::OrEnd = switchcost_machine::OrEnd {
    sentence: "switchcost: memory ran out, which a limit of this session or of its control group may be why; allow more (ulimit -v); what was measured before is stored\n",
    status: 3,
};

fn main() -> ExitCode {
    switchcost::main()
}
