// The seccomp filter of a container.
#pragma once

namespace probe {

// Allows everything but a few calls that no container should make; like the default filters of container runtimes a
// list of numbers that is passed at every system call, only shorter. Stays for the life of the process.
bool install_seccomp_filter();

}  // namespace probe
