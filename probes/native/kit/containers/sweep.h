// Removing control groups of containers: those of this probe, and those that dead probes left behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kit/tasks/guardian.h"

namespace probe {

// A group whose last process has just ended may be busy for a moment.
enum class Patience { none, one_second };

// rmdir. False: errno says why.
bool remove_empty_group(const char* path, Patience patience = Patience::one_second);

// Below each place, a directory, the groups PREFIX-NUMBER with those in them. False: some have processes and stay.
bool remove_groups(const std::vector<std::string>& places, const std::string& prefix, Patience patience);

// Whether these are the letters that mkdtemp puts in the place of XXXXXX.
bool are_random_letters(std::string_view text);

// The groups of a probe. Its own, PARENT/switchcost-PID-RANDOM, holds no process but the lock; those of its containers
// are called switchcost-PID-RANDOM-NUMBER and stand beside it, and a runtime also makes them in all other hierarchies.
// The lock goes last, and only when all others have gone.
class ProbeGroups final : public GuardedResource {
public:
    // `places`: the parent as it is called in every hierarchy. Before the guardian starts.
    void set_parent(std::string parent, std::vector<std::string> places);
    const std::string& name() const { return name_; }

    ResourceId make() override;
    int open(const ResourceId& id) override;
    void remove() override;

private:
    std::string parent_;
    std::vector<std::string> places_;
    std::string name_;
    Descriptor lock_;
};

// Groups below `parent`, and in `places`, of probes whose lock nobody holds.
void sweep_dead_groups(const std::string& parent, const std::vector<std::string>& places);

}  // namespace probe
