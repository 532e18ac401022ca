#include "kit/plan/evidence.h"

#include <algorithm>

#include "kit/os/arch.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

void collect(Workload& workload, Look& look) {
    workload.publish();
    bool driver_seen = false;
    for (const Station& station : workload.stations()) {
        look.turns.push_back(station.turns);
        look.mismatches += station.mismatches;
        look.touches += station.touches;
        look.mxcsr.insert(station.mxcsr);
        if (station.cpu < 0) continue;
        driver_seen = true;
        look.minor_faults += station.minor_faults;
        look.major_faults += station.major_faults;
        look.cpus.insert(station.cpu);
        look.spaces.insert(station.space);
    }
    if (workload.stations().empty()) look.mismatches = workload.mismatches();
    look.faults_told = (driver_seen ? os::faults_of_thread() : os::faults_of_process()).has_value();
    if (!driver_seen) {
        const os::PageFaults faults = os::faults_of_process().value_or(os::PageFaults{});
        look.minor_faults = faults.minor;
        look.major_faults = faults.major;
        look.cpus.insert(os::current_cpu());
        look.spaces.insert(0);  // the driver alone
    }
    look.token = workload.token();
}

std::uint64_t total_turns(const Look& before, const Look& after) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < after.turns.size(); ++i) total += after.turns[i] - before.turns[i];
    return total;
}

std::string turns_object(const Look& before, const Look& after) {
    std::uint64_t lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < after.turns.size(); ++i) {
        const std::uint64_t turns = after.turns[i] - before.turns[i];
        lowest = std::min(lowest, turns);
        highest = std::max(highest, turns);
    }
    Line object = Line::nested();
    object.number("total", static_cast<std::int64_t>(total_turns(before, after)))
        .number("min", static_cast<std::int64_t>(lowest));
    object.number("max", static_cast<std::int64_t>(highest))
        .number("contexts", static_cast<std::int64_t>(after.turns.size()));
    return object.finish();
}

std::string kernel_object(const os::KernelSwitches& before, const os::KernelSwitches& after) {
    Line object = Line::nested();
    object.number("voluntary", static_cast<std::int64_t>(after.voluntary - before.voluntary));
    object.number("involuntary", static_cast<std::int64_t>(after.involuntary - before.involuntary));
    object.number("tasks", after.tasks).text("source", os::kernel_switches_source());
    return object.finish();
}

const char* why_no_hops(const Entry& entry) {
    switch (entry.shape) {
        case Shape::control: return "a control has no hops";
        case Shape::foreign: return "on which CPU a hop arrives is not known to the kernel that the contexts run on";
        default: return "only the hops of experiment switch are followed";
    }
}

void add_hops(Line& line, Line& why, const Entry& entry, const std::optional<Hops>& hops) {
    if (!hops) {
        line.null("migrations").null("hops");
        why.text("hops", why_no_hops(entry));
        return;
    }
    line.number("migrations", static_cast<std::int64_t>(hops->migrations));
    Line object = Line::nested();
    object.number("count", static_cast<std::int64_t>(hops->count));
    object.number("in_order", static_cast<std::int64_t>(hops->count));  // check_tokens() has seen to it
    object.number("same_cpu", static_cast<std::int64_t>(hops->same_cpu));
    object.number("same_thread", static_cast<std::int64_t>(hops->same_thread)).truth("timed", true);
    line.raw("hops", object.finish());
    if (hops->cut_short)
        why.text(
            "hops",
            "the contexts changed their CPU more often than there is room to note: the hops up to there are covered");
}

}  // namespace

std::vector<TaskId> Workload::tasks() const { return {os::current_task()}; }

Look look_before(Workload& workload, const std::vector<TaskId>& tasks) {
    Look look;
    collect(workload, look);
    look.kernel = os::kernel_switches(tasks);
    look.cpu_time_ns = os::cpu_time_ns(tasks);
    return look;
}

Look look_after(Workload& workload, const std::vector<TaskId>& tasks) {
    Look look;
    look.token = workload.token();
    const std::uint64_t token = look.token;
    look.cpu_time_ns = os::cpu_time_ns(tasks);
    look.kernel = os::kernel_switches(tasks);
    collect(workload, look);
    look.token = token;
    return look;
}

void check_tokens(const Look& before, const Look& after) {
    const std::uint64_t wrong = after.mismatches - before.mismatches;
    if (wrong == 0) return;
    throw failed(
        "self_check_failed",
        std::to_string(wrong) + " switches did not carry the expected sequence number; this is a fault of the probe");
}

Line evidence_line(const Entry& entry, std::uint64_t units, std::uint64_t token_mask, const Look& before,
                   const Look& after, const std::optional<Hops>& hops, const Counts& counts) {
    Line line("evidence");
    Line why = Line::nested();
    line.number("units", static_cast<std::int64_t>(units));
    if (after.turns.empty() || entry.shape == Shape::pair) {
        line.null("turns");
        why.text("turns", "a control has no contexts");
    } else {
        line.raw("turns", turns_object(before, after));
    }
    if (units > token_mask) {
        line.null("token");
        why.text("token", "more units than the bits that the medium carries can count");
    } else {
        line.number("token", static_cast<std::int64_t>((after.token - before.token) & token_mask));
    }
    if (before.kernel && after.kernel) {
        line.raw("kernel", kernel_object(*before.kernel, *after.kernel));
    } else {
        line.null("kernel");
        why.text("kernel", os::kernel_switches_unknown());
    }
    line.number("address_spaces", static_cast<std::int64_t>(after.spaces.size()));
    std::set<int> cpus = before.cpus;
    cpus.insert(after.cpus.begin(), after.cpus.end());
    if (hops) cpus.insert(hops->cpus.begin(), hops->cpus.end());
    line.raw("cpus", number_list({cpus.begin(), cpus.end()}));
    add_hops(line, why, entry, hops);
    if (before.faults_told && after.faults_told) {
        Line faults = Line::nested();
        faults.number("minor", static_cast<std::int64_t>(after.minor_faults - before.minor_faults));
        faults.number("major", static_cast<std::int64_t>(after.major_faults - before.major_faults));
        line.raw("page_faults", faults.finish());
    } else {
        line.null("page_faults");
        why.text("page_faults", "this system does not tell the page faults of these tasks");
    }
    Line object = Line::nested();
    for (const auto& [name, value] : counts) object.number(name, value);
    if (before.cpu_time_ns && after.cpu_time_ns)
        object.number("cpu_time_ns", static_cast<std::int64_t>(*after.cpu_time_ns - *before.cpu_time_ns));
    if (entry.shape == Shape::pair) object.number("hops", static_cast<std::int64_t>(total_turns(before, after)));
    line.raw("counts", object.finish());
    line.raw("why", why.finish());
    return line;
}

}  // namespace probe
