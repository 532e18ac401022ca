#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "kit/experiments/list.h"
#include "kit/os/os.h"
#include "kit/plan/evidence.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

// One cycle. The driver is one more context of the ring, made before the memory is read for the first time.
MemoryGain run_cycle(const Plan& with_driver, const Entry& entry, Turns& turns, Counts& counts) {
    os::trim_heap();  // contexts made by the heap must not come from what an earlier cycle left there
    const std::unique_ptr<Workload> workload = entry.make(with_driver, Mode::batch);
    workload->run(with_driver.contexts);
    const std::optional<MemoryGain> gain = workload->memory_gain();
    if (!gain) throw failed("self_check_failed", "this mechanism cannot tell its memory; this is a fault of the probe");
    workload->publish();
    for (const Station& station : workload->stations().subspan(1)) turns.add(station.turns);
    counts.clear();
    workload->add_counts(counts);
    workload->close();
    return *gain;
}

// A cycle of few contexts, so that the pages of code and of the heap's own tables are there before the first that
// counts.
void rehearse(const Plan& plan, const Entry& entry) {
    Plan few = plan;
    few.contexts = std::min<std::uint32_t>(plan.contexts, 16) + 1;
    few.batch_units = 0;
    Turns ignored;
    Counts ignored_too;
    run_cycle(few, entry, ignored, ignored_too);
}

class Results {
public:
    Results(const Plan& plan, Reporter& reporter) : plan_(plan), reporter_(reporter) {}

    void send(const char* phase, std::span<const MemoryGain> gains) {
        if (gains.empty()) return;
        send_quantity(phase, gains, "resident_bytes", &Memory::resident);
        send_quantity(phase, gains, "virtual_bytes", &Memory::mapped);
        if (os::kernel_memory_meaning() != nullptr) send_quantity(phase, gains, "kernel_bytes", &Memory::kernel);
    }
    std::uint64_t sent() const { return sent_; }

private:
    void send_quantity(const char* phase, std::span<const MemoryGain> gains, const char* quantity,
                       std::int64_t Memory::* figure) {
        Line line("samples");
        line.number("seq", sequence_++).text("phase", phase).number("units", plan_.contexts).text("quantity", quantity);
        line.raw("ticks", list_of(gains, [=](const MemoryGain& gain) { return std::to_string(gain.*figure); }));
        reporter_.add(line);
        sent_ += gains.size();
    }

    const Plan& plan_;
    Reporter& reporter_;
    int sequence_ = 0;
    std::uint64_t sent_ = 0;
};

Line evidence(const Plan& plan, const Turns& turns, const Counts& counts, std::uint64_t units) {
    Line why = Line::nested();
    why.text("token", "no token is passed in this experiment");
    Line line("evidence");
    line.number("units", units).raw("turns", turns.object(plan.contexts)).null("token").null("kernel");
    Line object = Line::nested();
    for (const auto& [name, value] : counts) object.number(name, value);
    return line.raw("counts", object.finish()).raw("why", why.finish());
}

}  // namespace

void measure_footprint(Reporter& reporter, const Plan& plan, const Entry& entry) {
    constexpr std::uint64_t most_cycles = 4096;  // samples in one message
    if (plan.batches > most_cycles || plan.warmup_batches > most_cycles) {
        throw refused(
            "bad_value",
            "experiment=footprint takes at most 4096 batches of each phase; reduce batches or warmup_batches");
    }
    reporter.add(plan_line(plan, plan.contexts));
    reporter.flush();
    Plan with_driver = plan;
    ++with_driver.contexts;
    with_driver.batch_units = 0;
    Turns turns;
    Counts counts;  // of the last cycle
    const std::uint64_t cycles = plan.warmup_batches + plan.batches;
    std::vector<MemoryGain> gains;
    gains.reserve(cycles);
    rehearse(plan, entry);
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle)
        gains.push_back(run_cycle(with_driver, entry, turns, counts));
    const std::span<const MemoryGain> all = gains;
    Results results(plan, reporter);
    results.send("warmup", all.first(plan.warmup_batches));
    results.send("measure", all.subspan(plan.warmup_batches));
    const std::uint64_t units = cycles * plan.contexts;
    if (turns.total != units) {
        throw failed("self_check_failed", "only " + std::to_string(turns.total) + " of " + std::to_string(units) +
                                              " contexts ran before they were suspended");
    }
    if (const char* meaning = os::kernel_memory_meaning()) {
        reporter.add(Line("note").text("text", gains.back().kernel_is_machine_wide
                                                   ? "kernel_bytes is the change of KernelStack, PageTables and "
                                                     "SUnreclaim in /proc/meminfo: machine-wide, so that other work "
                                                     "shows in it"
                                                   : meaning));
    }
    reporter.add(evidence(plan, turns, counts, units));
    reporter.add(end_ok(results.sent()));
    reporter.flush();
}

}  // namespace probe
