// Removing control groups of containers: those of this probe, and those that dead probes left behind.
#pragma once

#include <string>
#include <vector>

namespace probe {

std::string own_group_prefix();  // switchcost-PID-STARTTIME

// A group whose last process has just ended may be busy for a moment.
enum class Patience { none, one_second };

// rmdir. False: errno says why.
bool remove_empty_group(const char* path, Patience patience = Patience::one_second);

// Every group below `parent` whose name begins with `prefix`, innermost first. Groups with processes stay.
void remove_groups(const std::string& parent, const std::string& prefix);

// Opens the reading end of every fifo below a folder. A runtime that was killed between making a container and starting it leaves its
// init waiting for that, for ever; then the init goes on, finds nobody and ends.
std::vector<int> open_fifos(const std::string& folder);

// Is it the name of something that a probe made, switchcost-PID-STARTTIME-*, which is not alive any more?
bool of_dead_probe(const std::string& name);

// Groups switchcost-PID-STARTTIME-* whose process is not alive any more.
void sweep_dead_probes(const std::string& parent);

}  // namespace probe
