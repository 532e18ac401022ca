#include "kit/plan/plan.h"

#include <charconv>
#include <limits>
#include <string_view>

#include "kit/os/os.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"

namespace probe {
namespace {

// The limits of PROTOCOL.md, section 1.
constexpr std::uint64_t most_batches = 1'000'000;
constexpr std::uint64_t most_contexts = 16'777'216;
constexpr std::uint64_t most_ns = 1'000'000'000'000;
constexpr std::uint64_t highest_cpu = 1'048'575;
constexpr std::uint64_t highest_fd = 1'048'576;

std::uint64_t parse_number(const std::string& key, const std::string& value, std::uint64_t lowest,
                           std::uint64_t highest) {
    std::uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || rest != end || number < lowest || number > highest) {
        throw refused("bad_value", key + "=" + value + " is not a whole number from " + std::to_string(lowest) +
                                       " to " + std::to_string(highest) + "; correct it");
    }
    return number;
}

std::vector<int> parse_cpus(const std::string& value) {
    std::vector<int> cpus;
    std::size_t begin = 0;
    while (begin < value.size()) {
        std::size_t end = value.find(',', begin);
        if (end == std::string::npos) end = value.size();
        cpus.push_back(static_cast<int>(parse_number("cpus", value.substr(begin, end - begin), 0, highest_cpu)));
        begin = end + 1;
    }
    if (!value.empty() && value.back() == ',')
        throw refused("bad_value", "cpus=" + value + " ends with a comma; remove it");
    return cpus;
}

std::string check_parameter(const Parameter& parameter, const std::string& value) {
    if (parameter.values.empty()) {
        return std::to_string(parse_number(parameter.name, value, parameter.lowest, parameter.highest));
    }
    std::string known;
    for (const char* allowed : parameter.values) {
        if (value == allowed) return value;
        known += std::string(known.empty() ? "" : ", ") + allowed;
    }
    throw refused("bad_value", std::string(parameter.name) + "=" + value + " is not one of: " + known);
}

bool take_number(Plan& plan, const std::string& key, const std::string& value) {
    constexpr struct {
        std::string_view key;
        std::uint64_t Plan::* field;
        std::uint64_t lowest, highest;
    } numbers[] = {{"batch_units", &Plan::batch_units, 0, most_units},
                   {"batch_ns", &Plan::batch_ns, 1, most_ns},
                   {"batches", &Plan::batches, 1, most_batches},
                   {"warmup_batches", &Plan::warmup_batches, 0, most_batches},
                   {"seed", &Plan::seed, 0, std::numeric_limits<std::int64_t>::max()}};
    for (const auto& number : numbers) {
        if (key != number.key) continue;
        plan.*number.field = parse_number(key, value, number.lowest, number.highest);
        return true;
    }
    return false;
}

// Handles the keys of PROTOCOL.md, section 1. False: not one of them.
bool take_common_key(Plan& plan, const std::string& key, const std::string& value) {
    if (key == "protocol") {
        parse_number(key, value, 1, 1);
    } else if (key == "mechanism") {
        plan.mechanism = value;
    } else if (key == "experiment") {
        plan.experiment = value;
    } else if (key == "contexts") {
        plan.contexts = static_cast<std::uint32_t>(parse_number(key, value, 1, most_contexts));
    } else if (key == "timing") {
        if (value != "batch" && value != "each")
            throw refused("bad_value", "timing=" + value + " is neither batch nor each");
        plan.timing = value == "each" ? Timing::each : Timing::batch;
    } else if (key == "cpus") {
        plan.cpus = parse_cpus(value);
    } else if (key == "verify_units") {
        parse_number(key, value, 0, most_contexts);  // the timed hops are followed themselves
    } else {
        return take_number(plan, key, value);
    }
    return true;
}

void check_footprint(const Plan& plan) {
    if (plan.timing == Timing::each)
        throw refused("bad_value", "experiment=footprint times nothing; leave timing=each out");
    if (plan.batch_units != 0 && plan.batch_units != plan.contexts) {
        throw refused("bad_value", "experiment=footprint makes as many units as contexts; leave batch_units out");
    }
}

void check_against_entry(const Plan& plan, const Entry& entry) {
    if (!entry.has_experiment(plan.experiment)) {
        throw refused("bad_value",
                      "experiment=" + plan.experiment + " is not one that " + plan.mechanism + " has; see describe");
    }
    const bool control = entry.shape == Shape::control || entry.shape == Shape::pair;
    if (plan.experiment == "message" && plan.contexts != 2) {
        throw refused("bad_value", "experiment=message has exactly two contexts; leave contexts out");
    }
    if (plan.cpus.size() > 1) {
        if (entry.shape == Shape::stacks || entry.shape == Shape::control) {
            throw refused("bad_value",
                          plan.mechanism + " runs in one thread and cannot be placed on several CPUs; give one");
        }
        if (plan.experiment == "create" || plan.experiment == "footprint") {
            throw refused("bad_value",
                          "experiment=" + plan.experiment + " leaves every context on its creator's CPU; give one");
        }
    }
    if (!control && plan.experiment == "switch" && plan.contexts < 2) {
        throw refused("bad_value", "contexts=1: a switch needs two contexts or more");
    }
    for (const Parameter& parameter : entry.parameters) {
        if (!parameter.switch_only || plan.experiment == "switch" || plan.text(parameter.name) == parameter.standard)
            continue;
        throw refused("bad_value",
                      std::string(parameter.name) + "=" + plan.text(parameter.name) +
                          " belongs to experiment=switch; leave it out with experiment=" + plan.experiment);
    }
    if (plan.experiment == "footprint") check_footprint(plan);
}

}  // namespace

Arguments split_arguments(int count, char** arguments, std::optional<Failure>& fault) {
    Arguments result;
    const auto note = [&fault](const Failure& failure) {
        if (!fault) fault = failure;
    };
    for (int i = 0; i < count; ++i) {
        const std::string argument = arguments[i];
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos || equals == 0) {
            note(refused("unknown_key", "argument " + std::to_string(i + 1) + " is not of the form key=value"));
            continue;
        }
        if (!result.emplace(argument.substr(0, equals), argument.substr(equals + 1)).second) {
            note(refused("bad_value", "key " + argument.substr(0, equals) + " is given twice"));
        }
    }
    return result;
}

int take_report_fd(Arguments& arguments) {
    const auto found = arguments.find("report_fd");
    if (found == arguments.end()) return 1;
    const int fd = static_cast<int>(parse_number("report_fd", found->second, 0, highest_fd));
    arguments.erase(found);
    if (!os::open_for_writing(fd)) {
        throw refused("bad_value", "report_fd=" + std::to_string(fd) + " is not open for writing");
    }
    return fd;
}

Plan resolve_plan(const Arguments& arguments, const Entry*& entry) {
    const auto name = arguments.find("mechanism");
    if (name == arguments.end())
        throw refused("bad_value", "mechanism= is missing; give one of those that describe lists");
    entry = find_entry(name->second);
    if (entry == nullptr)
        throw refused("unknown_mechanism", "no mechanism " + name->second + " in this probe; describe lists them");

    Plan plan;
    for (const Parameter& parameter : entry->parameters) plan.parameters[parameter.name] = parameter.standard;
    for (const auto& [key, value] : arguments) {
        if (take_common_key(plan, key, value)) continue;
        const Parameter* parameter = entry->find_parameter(key);
        if (parameter == nullptr) throw refused("unknown_key", "key " + key + " is unknown to " + entry->id);
        plan.parameters[key] = check_parameter(*parameter, value);
    }
    check_against_entry(plan, *entry);

    // k is rounded up to whole laps of the ring, so that every batch ends where it began.
    plan.ring = entry->shape == Shape::pair ? 2 : entry->shape == Shape::control ? 1 : plan.contexts;
    if (plan.experiment == "switch") {
        const std::uint64_t ring = plan.ring;
        plan.batch_units = (plan.batch_units + ring - 1) / ring * ring;
    }
    if (plan.batch_units > (std::uint64_t{1} << 62) / (plan.batches + plan.warmup_batches)) {
        throw refused("bad_value", "batch_units times batches is beyond 2^62; reduce one of them");
    }
    return plan;
}

}  // namespace probe
