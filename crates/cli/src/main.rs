//! The program; everything is in the library, so that `xtask` can derive documents from it.

use std::process::ExitCode;

/// Nothing could be measured: 3, as the help says.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: switchcost_machine::OrEnd = switchcost_machine::OrEnd {
    sentence: "switchcost: memory ran out: the machine, this session (ulimit -v and -d) or its control group has no more; allow more; what was measured before is stored\n",
    status: 3,
};

fn main() -> ExitCode {
    switchcost::main()
}
