//! The program; everything is in the library, so that `xtask` can derive documents from it.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchcost::main()
}
