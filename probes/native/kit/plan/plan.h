// The plan of one invocation: parsed from key=value arguments, then resolved against one mechanism's entry. Plain data,
// never changed after resolve_plan().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kit/plan/failure.h"

namespace probe {

struct Entry;
struct Plan;
class Reporter;
class Workload;

// How long contexts live: for one unit, or for one batch, of which they are the units.
enum class Live { throughout, unit, batch };

// How batches are done of which no time is told.
struct Untimed {
    const char* quantity;                                  // what a batch gives in its place
    std::uint64_t parts;                                   // of a batch, each of whole laps
    void (*check)(const Workload&);                        // throws Failure where that cannot be read
    std::uint64_t (*run)(Workload&, std::uint64_t units);  // one batch
};

// What the kit asks of an experiment. kit/experiments/list.cpp names them.
struct Experiment {
    const char* name;
    bool ring;  // its contexts pass a token round
    Live live;
    void (*carry_out)(Reporter&, const Plan&, const Entry&);
    const Untimed* untimed = nullptr;
};

enum class Timing { batch, each };

struct Plan {
    std::string mechanism;
    std::string experiment;
    const Experiment* asked = nullptr;  // the experiment of that name
    std::uint32_t contexts = 0;
    // Contexts that pass the token round: `contexts`, but two for a pair and one for a control.
    std::uint32_t ring = 0;
    Timing timing = Timing::batch;
    std::vector<int> cpus;
    std::uint64_t batch_units = 0;
    std::uint64_t batch_ns = 0;
    std::uint64_t batches = 0;
    std::uint64_t warmup_batches = 0;
    std::uint64_t seed = 0;
    std::map<std::string, std::string> parameters;  // every parameter of the mechanism

    // Parameters were checked by resolve_plan(), so that a missing one is a mistake of the mechanism's author.
    const std::string& text(const char* parameter) const { return parameters.at(parameter); }
    std::uint64_t number(const char* parameter) const { return std::stoull(parameters.at(parameter)); }
    // Bytes that each context touches between two switches; 0: none, and for mechanisms without the parameter.
    std::uint64_t working_set() const { return parameters.contains("working_set") ? number("working_set") : 0; }
    int cpu_of(std::uint32_t context) const { return cpus.empty() ? -1 : cpus[context % cpus.size()]; }
};

// Arguments split at the first '='. One that has no '=', or a key that comes twice, is put into `fault` (the first of
// them) and left out, so that the complaint reaches the report_fd that the others name.
using Arguments = std::map<std::string, std::string>;
Arguments split_arguments(std::span<char*> arguments, std::optional<Failure>& fault);

// Takes report_fd out of the arguments; 1 when absent. Throws when it is not an open descriptor.
int take_report_fd(Arguments& arguments);

// Throws `refused` for a missing or unknown key, or what the mechanism cannot carry out.
Plan resolve_plan(Arguments arguments, std::span<const Entry* const> entries, const Entry*& entry);

}  // namespace probe
