#include "kit/plan/mechanism.h"

#include <algorithm>

namespace probe {

const Entry* find_entry(std::string_view id) {
    for (const Entry* entry : all_entries()) {
        if (entry->id == id) return entry;
    }
    return nullptr;
}

bool Entry::has_experiment(std::string_view name) const {
    return std::any_of(experiments.begin(), experiments.end(), [&](const char* own) { return name == own; });
}

const Parameter* Entry::find_parameter(std::string_view name) const {
    for (const Parameter& parameter : parameters) {
        if (name == parameter.name) return &parameter;
    }
    return nullptr;
}

void Entry::apply_parameters(const Plan& plan) const {
    for (const Parameter& parameter : parameters) {
        if (parameter.apply != nullptr) parameter.apply(plan);
    }
}

void Entry::enter_parameters(const Plan& plan) const {
    for (const Parameter& parameter : parameters) {
        if (parameter.enter != nullptr) parameter.enter(plan);
    }
}

void Entry::add_counts(const Counting& counting, Counts& counts) const {
    for (const Parameter& parameter : parameters) {
        if (parameter.count != nullptr) parameter.count(counting, counts);
    }
}

}  // namespace probe
