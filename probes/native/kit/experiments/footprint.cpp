#include "kit/experiments/footprint.h"

#include <algorithm>
#include <limits>
#include <string>

#include "kit/os/os.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

struct Entered {
    std::uint64_t total = 0;
    std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t highest = 0;
};

// One cycle. The driver is one more context of the ring, made before the memory is read for the first time.
MemoryGain run_cycle(const Plan& with_driver, const Entry& entry, Entered& entered) {
    os::trim_heap();  // contexts made by the heap must not come from what an earlier cycle left there
    const std::unique_ptr<Workload> workload = entry.make(with_driver, Mode::batch);
    workload->run(with_driver.contexts);
    const std::optional<MemoryGain> gain = workload->memory_gain();
    if (!gain) throw failed("self_check_failed", "this mechanism cannot tell its memory; this is a fault of the probe");
    workload->publish();
    for (const Station& station : workload->stations().subspan(1)) {
        entered.total += station.turns;
        entered.lowest = std::min(entered.lowest, station.turns);
        entered.highest = std::max(entered.highest, station.turns);
    }
    workload->close();
    return *gain;
}

// A cycle of few contexts, so that the pages of code and of the heap's own tables are there before the first that
// counts.
void rehearse(const Plan& plan, const Entry& entry) {
    Plan few = plan;
    few.contexts = std::min<std::uint32_t>(plan.contexts, 16) + 1;
    Entered ignored;
    run_cycle(few, entry, ignored);
}

class Results {
public:
    Results(const Plan& plan, Reporter& reporter) : plan_(plan), reporter_(reporter) {}

    void add(const MemoryGain& gain) { gains_.push_back(gain); }

    void send(const char* phase, std::uint64_t from, std::uint64_t to) {
        if (from == to) return;
        send_quantity(phase, from, to, "resident_bytes", &Memory::resident);
        send_quantity(phase, from, to, "virtual_bytes", &Memory::mapped);
        if (os::kernel_memory_meaning() != nullptr) send_quantity(phase, from, to, "kernel_bytes", &Memory::kernel);
    }
    std::uint64_t sent() const { return sent_; }

private:
    void send_quantity(const char* phase, std::uint64_t from, std::uint64_t to, const char* quantity,
                       std::int64_t Memory::* figure) {
        std::string list = "[";
        for (std::uint64_t i = from; i < to; ++i) list += (i == from ? "" : ",") + std::to_string(gains_[i].*figure);
        Line line("samples");
        line.number("seq", sequence_++).text("phase", phase).number("units", plan_.contexts);
        line.text("quantity", quantity).raw("ticks", list + "]");
        reporter_.add(line);
        sent_ += to - from;
    }

    const Plan& plan_;
    Reporter& reporter_;
    std::vector<MemoryGain> gains_;
    int sequence_ = 0;
    std::uint64_t sent_ = 0;
};

Line evidence(const Plan& plan, const Entered& entered, std::uint64_t units) {
    Line turns = Line::nested();
    turns.number("total", static_cast<std::int64_t>(entered.total))
        .number("min", static_cast<std::int64_t>(entered.lowest));
    turns.number("max", static_cast<std::int64_t>(entered.highest)).number("contexts", plan.contexts);
    Line why = Line::nested();
    why.text("token", "no token is passed in this experiment");
    Line line("evidence");
    line.number("units", static_cast<std::int64_t>(units))
        .raw("turns", turns.finish())
        .null("token")
        .null("kernel")
        .raw("why", why.finish());
    return line;
}

}  // namespace

void measure_footprint(Reporter& reporter, const Plan& plan, const Entry& entry) {
    constexpr std::uint64_t most_cycles = 4096;  // samples in one message
    if (plan.batches > most_cycles || plan.warmup_batches > most_cycles) {
        throw refused(
            "bad_value",
            "experiment=footprint takes at most 4096 batches of each phase; reduce batches or warmup_batches");
    }
    Plan with_driver = plan;
    ++with_driver.contexts;
    Results results(plan, reporter);
    Entered entered;
    const std::uint64_t cycles = plan.warmup_batches + plan.batches;
    rehearse(plan, entry);
    bool machine_wide = false;
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
        const MemoryGain gain = run_cycle(with_driver, entry, entered);
        machine_wide = gain.kernel_is_machine_wide;
        results.add(gain);
    }
    results.send("warmup", 0, plan.warmup_batches);
    results.send("measure", plan.warmup_batches, cycles);
    if (entered.total != cycles * plan.contexts) {
        throw failed("self_check_failed", "only " + std::to_string(entered.total) + " of " +
                                              std::to_string(cycles * plan.contexts) +
                                              " contexts ran before they were suspended");
    }
    if (const char* meaning = os::kernel_memory_meaning()) {
        Line note("note");
        note.text("text", machine_wide ? "kernel_bytes is the change of KernelStack, PageTables and SUnreclaim in "
                                         "/proc/meminfo: machine-wide, so "
                                         "that other work shows in it"
                                       : meaning);
        reporter.add(note);
    }
    reporter.add(evidence(plan, entered, cycles * plan.contexts));
    Line end("end");
    end.text("status", "ok").number("samples", static_cast<std::int64_t>(results.sent()));
    reporter.add(end);
    reporter.flush();
}

}  // namespace probe
