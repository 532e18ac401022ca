#include "kit/plan/plan.h"

#include <algorithm>
#include <charconv>

#include "kit/experiments/list.h"
#include "kit/os/os.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"

namespace probe {
namespace {

std::uint64_t parse_number(const std::string& key, const std::string& value) {
    std::uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || rest != end)
        throw refused("bad_value", key + "=" + value + " is not a whole number; correct it");
    return number;
}

// Arguments are taken out one by one; what is left at the end is unknown.
std::string take(Arguments& arguments, const std::string& key) {
    const auto found = arguments.extract(key);
    if (found.empty())
        throw refused("bad_value", key + " is missing; a plan has every key, and every parameter that describe lists");
    return found.mapped();
}

std::uint64_t take_number(Arguments& arguments, const std::string& key) {
    return parse_number(key, take(arguments, key));
}

std::string take_word(Arguments& arguments, const std::string& key, const std::vector<const char*>& words) {
    std::string value = take(arguments, key);
    std::string known;
    for (const char* word : words) {
        if (value == word) return value;
        known += std::string(known.empty() ? "" : ", ") + word;
    }
    throw refused("bad_value", key + "=" + value + " is not one of: " + known);
}

std::vector<int> take_cpus(Arguments& arguments) {
    const std::string value = take(arguments, "cpus");
    std::vector<int> cpus;
    std::size_t begin = 0;
    while (begin < value.size()) {
        std::size_t end = value.find(',', begin);
        if (end == std::string::npos) end = value.size();
        cpus.push_back(static_cast<int>(parse_number("cpus", value.substr(begin, end - begin))));
        begin = end + 1;
    }
    if (!value.empty() && value.back() == ',')
        throw refused("bad_value", "cpus=" + value + " ends with a comma; remove it");
    return cpus;
}

void check_against_entry(const Plan& plan, const Entry& entry) {
    if (plan.cpus.size() > 1) {
        if (entry.shape == Shape::stacks || entry.shape == Shape::control) {
            throw refused("bad_value",
                          plan.mechanism + " runs in one thread and cannot be placed on several CPUs; give one");
        }
        if (plan.asked->live != Live::throughout) {
            throw refused("bad_value",
                          "experiment=" + plan.experiment + " leaves every context on its creator's CPU; give one");
        }
    }
}

}  // namespace

Arguments split_arguments(std::span<char*> arguments, std::optional<Failure>& fault) {
    Arguments result;
    const auto note = [&fault](const Failure& failure) {
        if (!fault) fault = failure;
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
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
    const int fd = static_cast<int>(parse_number("report_fd", found->second));
    arguments.erase(found);
    if (!os::open_for_writing(fd)) {
        throw refused("bad_value", "report_fd=" + std::to_string(fd) + " is not open for writing");
    }
    return fd;
}

Plan resolve_plan(Arguments arguments, std::span<const Entry* const> entries, const Entry*& entry) {
    Plan plan;
    plan.mechanism = take(arguments, "mechanism");
    entry = find_entry(entries, plan.mechanism);
    if (entry == nullptr)
        throw refused("unknown_mechanism", "no mechanism " + plan.mechanism + " in this probe; describe lists them");
    take_word(arguments, "protocol", {"1"});
    plan.experiment = take_word(arguments, "experiment", entry->experiments);
    plan.asked = &find_experiment(plan.experiment);
    plan.contexts = static_cast<std::uint32_t>(take_number(arguments, "contexts"));
    plan.timing = take_word(arguments, "timing", {"batch", "each"}) == "each" ? Timing::each : Timing::batch;
    plan.cpus = take_cpus(arguments);
    plan.batch_units = take_number(arguments, "batch_units");
    plan.batch_ns = take_number(arguments, "batch_ns");
    plan.batches = take_number(arguments, "batches");
    plan.warmup_batches = take_number(arguments, "warmup_batches");
    take_number(arguments, "verify_units");  // the timed hops are followed themselves
    plan.seed = take_number(arguments, "seed");
    for (const Parameter& parameter : entry->parameters) {
        plan.parameters[parameter.name] = parameter.values.empty()
                                              ? std::to_string(take_number(arguments, parameter.name))
                                              : take_word(arguments, parameter.name, parameter.values);
    }
    if (!arguments.empty())
        throw refused("unknown_key", "key " + arguments.begin()->first + " is unknown to " + plan.mechanism);
    check_against_entry(plan, *entry);

    // k is rounded up to whole laps of the ring, so that every batch ends where it began.
    plan.ring = entry->shape == Shape::pair ? 2 : entry->shape == Shape::control ? 1 : plan.contexts;
    if (plan.asked->ring) {
        const Untimed* untimed = plan.asked->untimed;
        const std::uint64_t lap = plan.ring * (untimed != nullptr ? untimed->parts : 1);
        const std::uint64_t asked = std::max<std::uint64_t>(plan.batch_units, untimed != nullptr ? 1 : 0);
        plan.batch_units = (asked + lap - 1) / lap * lap;
    }
    return plan;
}

}  // namespace probe
