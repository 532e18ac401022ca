#include "kit/session.h"

#include <algorithm>
#include <exception>

#include "kit/arch.h"
#include "kit/clock.h"
#include "kit/evidence.h"
#include "kit/failure.h"
#include "kit/footprint.h"
#include "kit/limits.h"
#include "kit/mechanism.h"
#include "kit/os.h"
#include "kit/report.h"
#include "kit/schedule.h"
#include "kit/speculation.h"
#include "kit/stacks.h"

namespace probe {
namespace {

constexpr std::size_t samples_per_line = 4096;
constexpr std::size_t buckets_per_line = 1024;

Line hello() {
    Line clock = Line::nested();
    clock.text("name", clock_name).number("ticks_per_second", clock_ticks_per_second);
    clock.number("read_cost_ticks", static_cast<std::int64_t>(clock_read_cost()));
    Line counter = Line::nested();
    counter.text("name", arch::counter_name);
    Line line("hello");
    line.number("protocol", 1).text("probe", PROBE_ID).text("version", PROBE_VERSION);
    line.text("runtime", os::runtime());
    line.text("compiler", PROBE_COMPILER).text("flags", PROBE_FLAGS).number("pid", os::current_task().process);
    line.raw("clock", clock.finish()).raw("counter", counter.finish());
    return line;
}

Line end_line(const Failure& failure) {
    Line line("end");
    line.text("status", failure.status).number("samples", 0).text("code", failure.code).text("detail", failure.detail);
    if (failure.error != 0) {
        line.number("errno", failure.error);
    } else {
        line.null("errno");
    }
    return line;
}

int finish_with(Reporter& reporter, const Failure& failure) {
    reporter.add(end_line(failure));
    reporter.flush();
    return std::string_view(failure.status) == "unsupported" ? 0 : 1;
}

Line plan_line(const Plan& plan, std::uint64_t batch_units) {
    Line parameters = Line::nested();
    for (const auto& [name, value] : plan.parameters) parameters.text(name, value);
    Line line("plan");
    line.text("mechanism", plan.mechanism).text("experiment", plan.experiment).number("contexts", plan.contexts);
    line.text("timing", plan.timing == Timing::each ? "each" : "batch").raw("cpus", number_list(plan.cpus));
    line.number("batch_units", static_cast<std::int64_t>(batch_units)).number("batches", static_cast<std::int64_t>(plan.batches));
    line.number("warmup_batches", static_cast<std::int64_t>(plan.warmup_batches)).raw("parameters", parameters.finish());
    return line;
}

// The measured region and what surrounds it closely.
struct Measurement {
    Workload* workload = nullptr;
    std::uint64_t batch_units = 0;
    std::uint64_t warmup_batches = 0;
    std::vector<std::uint64_t> ticks;  // warm-up first; sized and touched beforehand
    std::uint64_t span_clock = 0;
    std::uint64_t span_counter = 0;

    static void run_batches(void* self) { static_cast<Measurement*>(self)->run_batches(); }

    void run_batches() {
        std::uint64_t counter = arch::counter_before();
        std::uint64_t begin = clock_now();
        const std::uint64_t batches = ticks.size();
        for (std::uint64_t batch = 0; batch < batches; ++batch) {
            if (batch == warmup_batches) {
                // Warm-up intervals are not reported in timing=each; the span covers the measurement alone.
                if (Histogram* histogram = workload->histogram()) histogram->clear();
                counter = arch::counter_before();
                begin = clock_now();
            }
            const std::uint64_t before = clock_now();
            workload->run(batch_units);
            ticks[batch] = clock_now() - before;
        }
        span_clock = clock_now() - begin;
        span_counter = arch::counter_after() - counter;
    }

    // One batch of `units`, for the calibration.
    std::uint64_t time_once(std::uint64_t units) {
        Measurement once;
        once.workload = workload;
        once.batch_units = units;
        once.ticks.assign(1, 0);
        call_at_fixed_stack_offset(&Measurement::run_batches, &once);
        return once.ticks[0];
    }
};

// Doubles from one lap until a batch lasts long enough three times in a row: the first turn of a context is slow (page faults, a task
// that has not slept yet), and one slow batch must not fix a k that is far too small.
std::uint64_t calibrate(Measurement& measurement, std::uint64_t lap, std::uint64_t batch_ns) {
    constexpr std::uint64_t most_units = std::uint64_t{1} << 38;
    std::uint64_t units = lap;
    for (int long_enough = 0; long_enough < 3;) {
        if (measurement.time_once(units) >= batch_ns) {
            ++long_enough;
        } else if (units >= most_units) {
            return units;
        } else {
            long_enough = 0;
            units *= 2;
        }
    }
    return units;
}

void add_samples(Reporter& reporter, const Measurement& measurement, const char* phase, std::size_t from, std::size_t to, int& sequence) {
    while (from < to) {
        const std::size_t until = std::min(to, from + samples_per_line);
        std::string list = "[";
        for (std::size_t i = from; i < until; ++i) {
            if (i != from) list += ',';
            list += std::to_string(measurement.ticks[i]);
        }
        Line line("samples");
        line.number("seq", sequence++).text("phase", phase).number("units", static_cast<std::int64_t>(measurement.batch_units));
        line.raw("ticks", list + "]");
        reporter.add(line);
        from = until;
    }
}

void add_histogram_part(Reporter& reporter, const Measurement& measurement, const Histogram& histogram, const std::string& buckets, int& sequence) {
    Line line("histogram");
    line.number("seq", sequence++).text("phase", "measure").number("units", static_cast<std::int64_t>(histogram.count));
    line.number("bits", Histogram::bits).raw("buckets", "[" + buckets + "]");
    line.number("sum", static_cast<std::int64_t>(histogram.sum)).number("min", static_cast<std::int64_t>(histogram.min));
    line.number("max", static_cast<std::int64_t>(histogram.max));
    line.number("pair_sum", static_cast<std::int64_t>(histogram.pair_sum));
    line.number("pair_count", static_cast<std::int64_t>(histogram.pair_count));
    line.number("span_counter", static_cast<std::int64_t>(measurement.span_counter));
    line.number("span_clock", static_cast<std::int64_t>(measurement.span_clock));
    reporter.add(line);
}

void add_histogram(Reporter& reporter, const Measurement& measurement, const Histogram& histogram) {
    int sequence = 0;
    std::size_t in_part = 0;
    std::string part;
    for (std::size_t bucket = 0; bucket < Histogram::bucket_count; ++bucket) {
        if (histogram.buckets[bucket] == 0) continue;
        if (in_part == buckets_per_line) {
            add_histogram_part(reporter, measurement, histogram, part, sequence);
            part.clear();
            in_part = 0;
        }
        if (in_part != 0) part += ',';
        part += "[" + std::to_string(Histogram::lower_edge(bucket)) + "," + std::to_string(histogram.buckets[bucket]) + "]";
        ++in_part;
    }
    add_histogram_part(reporter, measurement, histogram, part, sequence);
}

// What is verified touches like what was measured. A control has one kind of loop.
Mode mode_for(const Plan& plan, const Entry& entry, Mode mode) {
    return plan.working_set() != 0 && entry.shape != Shape::control ? touching(mode) : mode;
}

Verification verify(const Plan& plan, const Entry& entry) {
    Verification verification;
    const std::uint64_t units = verification_units(plan, entry, verification.why_not);
    if (units == 0) return verification;
    Plan short_plan = plan;
    short_plan.verify_units = units;
    const std::unique_ptr<Workload> workload = entry.make(short_plan, mode_for(plan, entry, Mode::verify));
    workload->run(units);
    return examine_hops(workload->hops(), plan.ring);
}

void add_results(Reporter& reporter, const Plan& plan, const Measurement& measurement) {
    if (plan.timing == Timing::each) {
        const Histogram& histogram = *measurement.workload->histogram();
        add_histogram(reporter, measurement, histogram);
        return;
    }
    int sequence = 0;
    add_samples(reporter, measurement, "warmup", 0, plan.warmup_batches, sequence);
    add_samples(reporter, measurement, "measure", plan.warmup_batches, measurement.ticks.size(), sequence);
}

void measure(Reporter& reporter, const Plan& plan, const Entry& entry) {
    // The same floating-point state in every context, whatever the loader and the C++ runtime left behind.
    arch::load_default_x87_control_word();
    arch::load_mxcsr(arch::mxcsr_clean);
    if (plan.experiment == "footprint") {
        reporter.add(plan_line(plan, plan.contexts));
        reporter.flush();
        return measure_footprint(reporter, plan, entry);
    }
    std::unique_ptr<Workload> workload = entry.make(plan, mode_for(plan, entry, plan.timing == Timing::each ? Mode::each : Mode::batch));

    Measurement measurement;
    measurement.workload = workload.get();
    const auto parameter = plan.parameters.find("fpu_state");
    const bool differ = parameter != plan.parameters.end() && parameter->second == "differ";
    arch::load_mxcsr(differ ? arch::mxcsr_inexact : arch::mxcsr_clean);
    measurement.batch_units = plan.batch_units;
    if (measurement.batch_units == 0) {
        measurement.batch_units = calibrate(measurement, plan.experiment == "switch" ? plan.ring : 1, plan.batch_ns);
    }
    measurement.warmup_batches = plan.warmup_batches;
    measurement.ticks.assign(plan.warmup_batches + plan.batches, 0);
    reporter.add(plan_line(plan, measurement.batch_units));
    reporter.flush();

    const std::vector<TaskId> tasks = workload->tasks();
    const Look before = look_before(*workload, tasks);
    arch::load_mxcsr(differ ? arch::mxcsr_inexact : arch::mxcsr_clean);
    workload->counting(true);
    call_at_fixed_stack_offset(&Measurement::run_batches, &measurement);
    workload->counting(false);
    const Look after = look_after(*workload, workload->tasks());  // a task that was born in between counts from its birth

    const std::uint64_t units = measurement.batch_units * measurement.ticks.size();
    check_tokens(before, after);
    workload->retime(measurement.ticks);
    Counts counts;
    workload->add_counts(counts);
    if (plan.working_set() != 0 && !after.turns.empty()) counts.emplace_back("touches", after.touches - before.touches);
    if (plan.experiment == "switch" && entry.find_parameter("layout") != nullptr) {
        counts.emplace_back("far_hops", workload->far_steps() * (units / plan.ring));
    }
    if (entry.find_parameter("sched") != nullptr) counts.emplace_back("tasks_scheduled", tasks_scheduled(tasks, plan));
    if (entry.find_parameter("speculation") != nullptr) counts.emplace_back("tasks_guarded", tasks_guarded(tasks, plan));
    const std::uint64_t mask = workload->token_mask();
    add_results(reporter, plan, measurement);
    reporter.flush();  // while the contexts live: until this arrives the host takes what it sees of them for the whole ring
    const std::uint64_t sent = plan.timing == Timing::each ? workload->histogram()->count : measurement.ticks.size();
    workload->close();
    workload.reset();  // before the verification ring is made: the two together would need twice the tasks

    reporter.add(evidence_line(entry, units, mask, before, after, verify(plan, entry), counts));
    Line end("end");
    end.text("status", "ok").number("samples", static_cast<std::int64_t>(sent));
    reporter.add(end);
    reporter.flush();
}

Line mechanism_line(const Entry& entry) {
    std::vector<const char*> parameters;
    for (const Parameter& parameter : entry.parameters) parameters.push_back(parameter.name);
    Line line("mechanism");
    line.text("id", entry.id).raw("experiments", text_list(entry.experiments)).raw("timings", text_list({"batch", "each"}));
    line.raw("parameters", text_list(parameters));
    const std::optional<Unavailable> unavailable = entry.check != nullptr ? entry.check() : std::nullopt;
    line.truth("available", !unavailable);
    if (unavailable) {
        line.text("code", unavailable->code).text("reason", unavailable->reason);
        if (!unavailable->install.empty()) line.text("install", unavailable->install);
    }
    return line;
}

// Splits the arguments and says hello; what fails before the report descriptor is known is reported on standard output.
template <class Body>
int with_reporter(int count, char** arguments, Body body) {
    int fd = 1;
    std::optional<Failure> failure;
    Arguments parsed;
    try {
        parsed = split_arguments(count, arguments);
        fd = take_report_fd(parsed);
    } catch (const Failure& early) {
        failure = early;
    }
    Reporter reporter(fd);
    os::begin(fd);
    reporter.add(hello());
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

}  // namespace

int describe(int count, char** arguments) {
    return with_reporter(count, arguments, [](Reporter& reporter, const Arguments& parsed) {
        if (!parsed.empty()) throw refused("unknown_key", "key " + parsed.begin()->first + " is unknown to describe");
        for (const Entry* entry : all_entries()) reporter.add(mechanism_line(*entry));
        Line end("end");
        end.text("status", "ok").number("samples", 0);
        reporter.add(end);
        reporter.flush();
    });
}

int run(int count, char** arguments) {
    return with_reporter(count, arguments, [](Reporter& reporter, const Arguments& parsed) {
        const Entry* entry = nullptr;
        const Plan plan = resolve_plan(parsed, entry);
        if (entry->check != nullptr) {
            if (const auto unavailable = entry->check()) {
                const std::string cure = unavailable->install.empty() ? "" : "; " + unavailable->install;
                throw unsupported(unavailable->code, unavailable->reason + cure);
            }
        }
        if (const auto caveat = os::caveat()) {
            Line note("note");
            note.text("text", *caveat);
            reporter.add(note);
        }
        raise_soft_limits();
        pin_self(plan.cpu_of(0));
        if (entry->find_parameter("sched") != nullptr) schedule_self(plan);
        if (entry->find_parameter("speculation") != nullptr) guard_self(plan);
        measure(reporter, plan, *entry);
    });
}

}  // namespace probe
