#include "kit/plan/session.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <span>

#include "kit/experiments/list.h"
#include "kit/os/arch.h"
#include "kit/os/clock.h"
#include "kit/os/cpu.h"
#include "kit/os/limits.h"
#include "kit/os/os.h"
#include "kit/parameters/heap_offset.h"
#include "kit/plan/evidence.h"
#include "kit/plan/failure.h"
#include "kit/plan/mechanism.h"
#include "kit/plan/report.h"
#include "kit/plan/ruler.h"
#include "kit/ring/ring.h"
#include "kit/stacks/stacks.h"

namespace probe {
namespace {

constexpr std::uint64_t most_units = 1'000'000'000'000;  // the largest k of PROTOCOL.md, section 1
constexpr std::size_t samples_per_line = 1024;           // with their rulers below 64 KiB
constexpr std::size_t buckets_per_line = 1024;

Line hello(const Build& build) {
    Line clock = Line::nested();
    clock.text("name", clock_name).number("ticks_per_second", clock_ticks_per_second);
    clock.number("read_cost_ticks", clock_read_cost());
    Line counter = Line::nested();
    counter.text("name", arch::counter_name);
    Line line("hello");
    line.number("protocol", 1).text("probe", build.id).text("version", build.version);
    line.text("runtime", os::runtime());
    line.text("compiler", build.compiler).text("flags", build.flags).number("pid", os::current_task().process);
    line.raw("clock", clock.finish()).raw("counter", counter.finish());
    if (chain_cycles > 0) line.number("chain_cycles", chain_cycles);
    return line;
}

Line end_line(const Failure& failure) {
    Line line("end");
    line.text("status", failure.status).number("samples", 0).text("code", failure.code).text("detail", failure.detail);
    return failure.error != 0 ? line.number("errno", failure.error) : line.null("errno");
}

int finish_with(Reporter& reporter, const Failure& failure) {
    reporter.add(end_line(failure));
    reporter.flush();
    return std::string_view(failure.status) == "unsupported" ? 0 : 1;
}

// One stretch of time by both clocks.
struct Span {
    std::uint64_t counter = arch::counter_before();
    std::uint64_t clock = clock_now();

    void end() {
        clock = clock_now() - clock;
        counter = arch::counter_after() - counter;
    }
};

// The measured region and what surrounds it closely.
struct Measurement {
    Workload* workload = nullptr;
    const Untimed* untimed = nullptr;
    std::size_t stack_offset = 0;  // of the driver
    std::uint64_t batch_units = 0;
    std::uint64_t warmup_batches = 0;
    std::vector<std::uint64_t> ticks;   // warm-up first; sized and touched beforehand
    std::vector<Ruler> rulers;          // of each batch: the slower of that before and that after
    std::vector<int> cpus;              // of the driver: before the first batch, and at the end of each
    std::unique_ptr<Histogram> warmup;  // timing=each: the intervals of the warm-up
    Span warmup_span;
    Span span;

    static void run_batches(void* self) {
        Measurement& own = *static_cast<Measurement*>(self);
        own.untimed != nullptr ? own.run_untimed() : own.run_batches();
    }

    void prepare(std::uint64_t batches) {
        ticks.assign(batches, 0);
        rulers.assign(batches, {});
        cpus.assign(batches + 1, 0);
        if (workload->histogram() == nullptr) return;
        warmup = std::make_unique<Histogram>();
        warmup->clear();
    }

    // What has been recorded so far is the warm-up's, and what comes now the measurement's.
    void end_warmup() {
        warmup_span = span;
        warmup_span.end();
        if (Histogram* histogram = workload->histogram()) {
            *warmup = *histogram;
            histogram->clear();
        }
        span = Span();
    }

    void run_batches() {
        cpus[0] = cpu_of_this_task();
        if (Histogram* histogram = workload->histogram()) histogram->clear();
        span = Span();
        const std::uint64_t batches = ticks.size();
        Ruler ruler = read_ruler();
        for (std::uint64_t batch = 0; batch < batches; ++batch) {
            if (batch == warmup_batches && batch != 0) end_warmup();
            const std::uint64_t before = clock_now();
            workload->run(batch_units);
            ticks[batch] = clock_now() - before;
            const Ruler after = read_ruler();
            rulers[batch] = slower(ruler, after);
            ruler = after;
            cpus[batch + 1] = cpu_of_this_task();
        }
        span.end();
    }

    void run_untimed() {
        cpus[0] = cpu_of_this_task();
        for (std::size_t batch = 0; batch < ticks.size(); ++batch) {
            ticks[batch] = untimed->run(*workload, batch_units);
            cpus[batch + 1] = cpu_of_this_task();
        }
    }

    // Where the contexts share the driver's thread, its CPU is theirs. A switch that led elsewhere than it began is one
    // in which the thread was moved; of those between two readings only the last is seen.
    Hops hops_of_one_thread() const {
        Hops hops;
        hops.count = hops.same_thread = batch_units * ticks.size();
        for (std::size_t i = 1; i < cpus.size(); ++i) hops.migrations += cpus[i] != cpus[i - 1];
        hops.same_cpu = hops.count - hops.migrations;
        hops.cpus.insert(cpus.begin(), cpus.end());
        return hops;
    }

    // One batch of `units`, for the calibration.
    std::uint64_t time_once(std::uint64_t units) {
        Measurement once;
        once.workload = workload;
        once.stack_offset = stack_offset;
        once.batch_units = units;
        once.prepare(1);
        call_at_stack_offset(stack_offset, &Measurement::run_batches, &once);
        return once.ticks[0];
    }
};

// Eight laps of this length, three times over, would take a quarter of a second; with two working sets of 256 MiB a lap
// takes ten times as long.
constexpr std::uint64_t long_lap_ns = 10'000'000;

// Doubles from one lap until a batch lasts long enough three times in a row: the first turn of a context is slow (page
// faults, a task that has not slept yet), and one slow batch must not fix a k that is far too small.
std::uint64_t calibrate(Measurement& measurement, std::uint64_t lap, std::uint64_t batch_ns) {
    std::uint64_t units = lap;
    for (int long_enough = 0; long_enough < 3;) {
        if (measurement.time_once(units) >= batch_ns) {
            ++long_enough;
        } else if (units > most_units / 2) {
            return units;
        } else {
            long_enough = 0;
            units *= 2;
        }
    }
    return units;
}

// One list for each ruler, an item for each batch.
std::string ruler_lists(std::span<const Ruler> rulers) {
    Line lists = Line::nested();
    for (std::size_t which = 0; which < rulers_here; ++which) {
        lists.raw(ruler_names[which],
                  list_of(rulers, [which](const Ruler& ruler) { return std::to_string(ruler[which]); }));
    }
    return lists.finish();
}

void add_samples(Reporter& reporter, const char* phase, const Measurement& measurement, std::size_t first,
                 std::size_t last, int& sequence) {
    std::span<const std::uint64_t> ticks = std::span(measurement.ticks).subspan(first, last - first);
    std::span<const Ruler> rulers = std::span(measurement.rulers).subspan(first, last - first);
    while (!ticks.empty()) {
        const std::size_t count = std::min(ticks.size(), samples_per_line);
        Line line("samples");
        line.number("seq", sequence++).text("phase", phase).number("units", measurement.batch_units);
        if (measurement.untimed != nullptr) line.text("quantity", measurement.untimed->quantity);
        line.raw("ticks", number_list(ticks.first(count)));
        if (measurement.untimed == nullptr) line.raw("rulers", ruler_lists(rulers.first(count)));
        reporter.add(line);
        ticks = ticks.subspan(count);
        rulers = rulers.subspan(count);
    }
}

// The intervals of one phase.
struct Recorded {
    const char* phase;
    const Histogram& histogram;
    const Span& span;
};

void add_histogram(Reporter& reporter, const Recorded& recorded, int& sequence) {
    const Histogram& histogram = recorded.histogram;
    std::vector<std::size_t> buckets;
    for (std::size_t bucket = 0; bucket < Histogram::bucket_count; ++bucket) {
        if (histogram.buckets[bucket] != 0) buckets.push_back(bucket);
    }
    std::span<const std::size_t> rest = buckets;
    do {
        const auto part = rest.first(std::min(rest.size(), buckets_per_line));
        rest = rest.subspan(part.size());
        Line line("histogram");
        line.number("seq", sequence++).text("phase", recorded.phase).number("units", histogram.count);
        line.number("bits", Histogram::bits).raw("buckets", list_of(part, [&](std::size_t bucket) {
                                                     return number_list(std::array{Histogram::lower_edge(bucket),
                                                                                   histogram.buckets[bucket]});
                                                 }));
        line.number("sum", histogram.sum).number("min", histogram.min).number("max", histogram.max);
        line.number("pair_sum", histogram.pair_sum).number("pair_count", histogram.pair_count);
        line.number("span_counter", recorded.span.counter).number("span_clock", recorded.span.clock);
        reporter.add(line);
    } while (!rest.empty());
}

// An interval below zero was read from the counters of two CPUs that do not agree; then no other interval across them
// is right either.
void check_intervals(const Histogram& warmup, const Histogram& measured) {
    const std::uint64_t negative = warmup.negative + measured.negative;
    if (negative == 0) return;
    throw failed("self_check_failed",
                 std::to_string(negative) + " of " + std::to_string(negative + warmup.count + measured.count) +
                     " intervals are below zero: the counters of the CPUs differ; use timing=batch, or one CPU");
}

// A control has one kind of loop.
Mode mode_for(const Plan& plan, const Entry& entry) {
    const Mode mode = plan.timing == Timing::each ? Mode::each : Mode::batch;
    return plan.working_set() != 0 && entry.shape != Shape::control ? touching(mode) : mode;
}

std::optional<Hops> hops_of(const Plan& plan, const Entry& entry, const Measurement& measurement) {
    if (!plan.asked->ring) return std::nullopt;
    return entry.shape == Shape::stacks ? measurement.hops_of_one_thread() : measurement.workload->hops();
}

// Gives the number of ticks or intervals sent.
std::uint64_t add_results(Reporter& reporter, const Plan& plan, const Measurement& measurement) {
    int sequence = 0;
    if (measurement.warmup) {
        const Histogram& histogram = *measurement.workload->histogram();
        check_intervals(*measurement.warmup, histogram);
        if (measurement.warmup->count != 0)
            add_histogram(reporter, {"warmup", *measurement.warmup, measurement.warmup_span}, sequence);
        add_histogram(reporter, {"measure", histogram, measurement.span}, sequence);
        return measurement.warmup->count + histogram.count;
    }
    const std::size_t batches = measurement.ticks.size();
    add_samples(reporter, "warmup", measurement, 0, plan.warmup_batches, sequence);
    add_samples(reporter, "measure", measurement, plan.warmup_batches, batches, sequence);
    return batches;
}

Line mechanism_line(const Entry& entry) {
    std::vector<const char*> parameters;
    for (const Parameter& parameter : entry.parameters) parameters.push_back(parameter.name);
    Line line("mechanism");
    line.text("id", entry.id).raw("experiments", text_list(entry.experiments));
    line.raw("timings", text_list({"batch", "each"})).raw("parameters", text_list(parameters));
    const std::optional<Unavailable> unavailable = entry.check != nullptr ? entry.check() : std::nullopt;
    line.truth("available", !unavailable);
    if (unavailable) {
        line.text("code", unavailable->code).text("reason", unavailable->reason);
        if (!unavailable->install.empty()) line.text("install", unavailable->install);
    }
    return line;
}

// Splits the arguments and says hello; only what is wrong with the report descriptor itself is reported on standard
// output.
template <class Body>
int with_reporter(const Build& build, std::span<char*> arguments, Body body) {
    int fd = 1;
    std::optional<Failure> failure;
    Arguments parsed;
    try {
        parsed = split_arguments(arguments, failure);
        fd = take_report_fd(parsed);
    } catch (const Failure& early) {
        failure = early;
    }
    Reporter reporter(fd);
    os::begin(fd);
    reporter.add(hello(build));
    reporter.flush();
    try {
        if (failure) throw *failure;
        body(reporter, parsed);
        return 0;
    } catch (const Failure& thrown) {
        return finish_with(reporter, thrown);
    } catch (const std::exception& thrown) {
        return finish_with(reporter, failed("set_up_failed", std::string("set-up failed: ") + thrown.what()));
    }
}

void describe(Reporter& reporter, std::span<const Entry* const> entries, const Arguments& parsed) {
    if (!parsed.empty()) throw refused("unknown_key", "key " + parsed.begin()->first + " is unknown to describe");
    for (const Entry* entry : entries) reporter.add(mechanism_line(*entry));
    reporter.add(end_ok(0));
    reporter.flush();
}

void run(Reporter& reporter, std::span<const Entry* const> entries, const Arguments& parsed) {
    const Entry* entry = nullptr;
    const Plan plan = resolve_plan(parsed, entries, entry);
    if (entry->check != nullptr) {
        if (const auto unavailable = entry->check()) {
            const std::string cure = unavailable->install.empty() ? "" : "; " + unavailable->install;
            throw unsupported(unavailable->code, unavailable->reason + cure);
        }
    }
    if (const auto caveat = os::caveat()) {
        reporter.add(Line("note").text("text", *caveat));
    }
    raise_soft_limits();
    pin_self(plan.cpu_of(0));
    entry->apply_parameters(plan);
    // The same floating-point state in every context, whatever the loader and the C++ runtime left behind.
    arch::load_default_x87_control_word();
    arch::load_mxcsr(arch::mxcsr_clean);
    plan.asked->carry_out(reporter, plan, *entry);
}

}  // namespace

void measure_batches(Reporter& reporter, const Plan& plan, const Entry& entry) {
    const Blocks kept = heap_blocks(plan);
    std::unique_ptr<Workload> workload = entry.make(plan, mode_for(plan, entry));

    Measurement measurement;
    measurement.workload = workload.get();
    measurement.untimed = plan.asked->untimed;
    measurement.stack_offset = StackOffsets(plan).driver;
    arch::load_mxcsr(arch::mxcsr_clean);
    entry.enter_parameters(plan);
    measurement.batch_units = plan.batch_units;
    if (measurement.batch_units == 0) measurement.batch_units = workload->units_in(plan.batch_ns).value_or(0);
    if (measurement.batch_units == 0) {
        const std::uint64_t lap = plan.asked->ring ? plan.ring : 1;
        // From a number of laps on that rings which are checked sparsely can check, unless one lap is long by itself.
        const bool short_lap = lap == 2 && measurement.time_once(lap) < long_lap_ns;
        measurement.batch_units = calibrate(measurement, short_lap ? lap * turns_a_check : lap, plan.batch_ns);
    }
    measurement.warmup_batches = plan.warmup_batches;
    measurement.prepare(plan.warmup_batches + plan.batches);
    if (measurement.untimed != nullptr) measurement.untimed->check(*workload);
    reporter.add(plan_line(plan, measurement.batch_units));
    reporter.flush();

    const std::vector<TaskId> tasks = workload->tasks();
    const Counters before = read_counters_before(*workload, tasks);
    arch::load_mxcsr(arch::mxcsr_clean);
    entry.enter_parameters(plan);
    workload->begin_hops();
    workload->counting(true);
    call_at_stack_offset(measurement.stack_offset, &Measurement::run_batches, &measurement);
    workload->counting(false);
    const std::optional<Hops> hops = hops_of(plan, entry, measurement);
    // A task that was born in between counts from its birth.
    const Counters after = read_counters_after(*workload, workload->tasks());

    const std::uint64_t units = measurement.batch_units * measurement.ticks.size();
    check_tokens(before, after);
    workload->retime(measurement.ticks);
    Counts counts;
    workload->add_counts(counts);
    entry.add_counts({plan, *workload, tasks, units, after.touches - before.touches, after.mxcsr.size()}, counts);
    const std::uint64_t mask = workload->token_mask();
    const std::uint64_t sent = add_results(reporter, plan, measurement);
    // While the contexts live: until this arrives the host takes what it sees of them for the whole ring.
    reporter.flush();
    workload->close();
    workload.reset();

    reporter.add(evidence_line(entry, units, mask, before, after, hops, counts));
    reporter.add(end_ok(sent));
    reporter.flush();
}

int carry_out(const Build& build, std::span<const Entry* const> entries, std::span<char*> arguments) {
    const std::string_view verb = arguments.empty() ? "" : arguments[0];
    if (verb == "describe" || verb == "run") {
        return with_reporter(build, arguments.subspan(1), [&](Reporter& reporter, const Arguments& parsed) {
            (verb == "describe" ? describe : run)(reporter, entries, parsed);
        });
    }
    std::puts(
        "A probe of switchcost; the host starts it. By hand:\n"
        "  probe describe [report_fd=N]\n"
        "  probe run mechanism=FAMILY/NAME key=value ...\n"
        "Keys: PROTOCOL.md, section 1; parameters: describe, or mechanisms/FAMILY/NAME.toml.");
    return 2;
}

}  // namespace probe
