#include "kit/plan/evidence.h"

#include <algorithm>

#include "kit/os/arch.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

void read_stations(Workload& workload, Counters& counters) {
    workload.publish();
    bool driver_seen = false;
    for (const Station& station : workload.stations()) {
        counters.turns.push_back(station.turns);
        counters.mismatches += station.mismatches;
        counters.touches += station.touches;
        counters.mxcsr.insert(station.mxcsr);
        if (station.cpu < 0) continue;
        counters.cpus.insert(station.cpu);
        if (station.thread == 0) continue;  // runs in a task that is others' as well
        driver_seen = true;
        counters.faults.minor += station.minor_faults;
        counters.faults.major += station.major_faults;
        counters.spaces.insert(station.space);
    }
    if (workload.stations().empty()) counters.mismatches = workload.mismatches();
    counters.faults_known = (driver_seen ? os::faults_of_thread() : os::faults_of_process()).has_value();
    if (!driver_seen) {
        counters.faults = os::faults_of_process().value_or(os::PageFaults{});
        counters.cpus.insert(os::current_cpu());
        counters.spaces.insert(0);  // the driver alone
    }
    counters.token = workload.token();
}

const char* why_no_hops(const Entry& entry) {
    switch (entry.shape) {
        case Shape::control: return "a control has no hops";
        case Shape::foreign: return "on which CPU a switch arrives is not known to the kernel that the contexts run on";
        default: return "only the hops of a ring are followed";
    }
}

void add_hops(Line& line, Line& why, const Entry& entry, const std::optional<Hops>& hops) {
    if (!hops) {
        line.null("migrations").null("hops");
        why.text("hops", why_no_hops(entry));
        return;
    }
    Line object = Line::nested();
    object.number("count", hops->count).number("in_order", hops->count);  // check_tokens() has seen to it
    object.number("same_cpu", hops->same_cpu).number("same_thread", hops->same_thread).truth("timed", true);
    line.number("migrations", hops->migrations).raw("hops", object.finish());
    if (hops->why != nullptr) why.text("hops", hops->why);
}

void add_kernel(Line& line, Line& why, const Counters& before, const Counters& after) {
    if (!before.kernel || !after.kernel) {
        line.null("kernel");
        why.text("kernel", os::kernel_switches_unknown());
        return;
    }
    Line object = Line::nested();
    object.number("voluntary", after.kernel->voluntary - before.kernel->voluntary);
    object.number("involuntary", after.kernel->involuntary - before.kernel->involuntary);
    object.number("tasks", after.kernel->tasks).text("source", os::kernel_switches_source());
    line.raw("kernel", object.finish());
}

void add_faults(Line& line, Line& why, const Counters& before, const Counters& after) {
    if (!before.faults_known || !after.faults_known) {
        line.null("page_faults");
        why.text("page_faults", "this system does not tell the page faults of these tasks");
        return;
    }
    Line object = Line::nested();
    object.number("minor", after.faults.minor - before.faults.minor);
    object.number("major", after.faults.major - before.faults.major);
    line.raw("page_faults", object.finish());
}

}  // namespace

std::vector<TaskId> Workload::tasks() const {
    std::vector<TaskId> result;
    for (const Station& station : stations()) {
        if (station.thread != 0) result.push_back({station.process, station.thread});
    }
    if (result.empty()) result.push_back(os::current_task());
    return result;
}

Counters read_counters_before(Workload& workload, const std::vector<TaskId>& tasks) {
    Counters counters;
    read_stations(workload, counters);
    counters.kernel = os::kernel_switches(tasks);
    counters.cpu_time_ns = os::cpu_time_ns(tasks);
    return counters;
}

Counters read_counters_after(Workload& workload, const std::vector<TaskId>& tasks) {
    Counters counters;
    const std::uint64_t token = workload.token();
    counters.cpu_time_ns = os::cpu_time_ns(tasks);
    counters.kernel = os::kernel_switches(tasks);
    read_stations(workload, counters);
    counters.token = token;
    return counters;
}

void check_tokens(const Counters& before, const Counters& after) {
    const std::uint64_t wrong = after.mismatches - before.mismatches;
    if (wrong == 0) return;
    throw failed(
        "self_check_failed",
        std::to_string(wrong) + " switches did not carry the expected sequence number; this is a fault of the probe");
}

void Turns::add(std::uint64_t of_one_context) {
    total += of_one_context;
    lowest = std::min(lowest, of_one_context);
    highest = std::max(highest, of_one_context);
}

std::string Turns::object(std::size_t contexts) const {
    Line line = Line::nested();
    line.number("total", total).number("min", lowest).number("max", highest).number("contexts", contexts);
    return line.finish();
}

Line plan_line(const Plan& plan, std::uint64_t batch_units) {
    Line parameters = Line::nested();
    for (const auto& [name, value] : plan.parameters) parameters.text(name, value);
    Line line("plan");
    line.text("mechanism", plan.mechanism).text("experiment", plan.experiment).number("contexts", plan.contexts);
    line.text("timing", plan.timing == Timing::each ? "each" : "batch").raw("cpus", number_list(plan.cpus));
    line.number("batch_units", batch_units).number("batches", plan.batches);
    return line.number("warmup_batches", plan.warmup_batches).raw("parameters", parameters.finish());
}

Line evidence_line(const Entry& entry, std::uint64_t units, std::uint64_t token_mask, const Counters& before,
                   const Counters& after, const std::optional<Hops>& hops, const Counts& counts) {
    Line line("evidence");
    Line why = Line::nested();
    line.number("units", units);
    Turns turns;
    for (std::size_t i = 0; i < after.turns.size(); ++i) turns.add(after.turns[i] - before.turns[i]);
    if (after.turns.empty() || entry.shape == Shape::pair) {
        line.null("turns");
        why.text("turns", "a control has no contexts");
    } else {
        line.raw("turns", turns.object(after.turns.size()));
    }
    if (units > token_mask) {
        line.null("token");
        why.text("token", "more units than the bits that the medium carries can count");
    } else {
        line.number("token", (after.token - before.token) & token_mask);
    }
    add_kernel(line, why, before, after);
    line.number("address_spaces", after.spaces.size());
    std::set<int> cpus = before.cpus;
    cpus.insert(after.cpus.begin(), after.cpus.end());
    if (hops) cpus.insert(hops->cpus.begin(), hops->cpus.end());
    line.raw("cpus", number_list(cpus));
    add_hops(line, why, entry, hops);
    add_faults(line, why, before, after);
    Line object = Line::nested();
    for (const auto& [name, value] : counts) object.number(name, value);
    if (before.cpu_time_ns && after.cpu_time_ns) object.number("cpu_time_ns", *after.cpu_time_ns - *before.cpu_time_ns);
    if (entry.shape == Shape::pair) object.number("hops", turns.total);
    return line.raw("counts", object.finish()).raw("why", why.finish());
}

}  // namespace probe
