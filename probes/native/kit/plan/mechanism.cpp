#include "kit/plan/mechanism.h"

namespace probe {

const Entry* find_entry(std::span<const Entry* const> entries, std::string_view id) {
    for (const Entry* entry : entries) {
        if (entry->id == id) return entry;
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
