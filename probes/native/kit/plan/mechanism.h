// What a mechanism is to the kit: an entry of the list, and workloads made from it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kit/os/os.h"
#include "kit/plan/plan.h"
#include "kit/ring/histogram.h"
#include "kit/ring/hops.h"

namespace probe {

// How a workload's loops are compiled. `batch` has nothing in them but the mechanism, `each` reads the cycle counter
// round every unit, `each_bare` does so without fences. The touching ones of rings do the same, and every context
// touches its working set.
enum class Mode { batch, each, each_bare, touching_batch, touching_each };

constexpr bool reads_counter(Mode mode) { return mode == Mode::each || mode == Mode::each_bare; }
constexpr bool touches(Mode mode) { return mode >= Mode::touching_batch; }
constexpr Mode touching(Mode mode) {
    return static_cast<Mode>(static_cast<int>(mode) + static_cast<int>(Mode::touching_batch));
}
constexpr Mode without_touches(Mode mode) {
    return touches(mode) ? static_cast<Mode>(static_cast<int>(mode) - static_cast<int>(Mode::touching_batch)) : mode;
}

struct Counting;

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

// A parameter of a mechanism. What several mechanisms have is one file in kit/parameters/, with all that the kit does
// for it.
struct Parameter {
    const char* name;
    std::vector<const char*> values;  // allowed texts; empty: a whole number
    // Puts the calling task into the state that the plan asks for, before anything is made; throws Failure where that
    // cannot be had here.
    void (*apply)(const Plan&) = nullptr;
    // The same just before the batches, in the driver, for what the kit sets anew there.
    void (*enter)(const Plan&) = nullptr;
    // Counts that show that it was obeyed.
    void (*count)(const Counting&, Counts&) = nullptr;
};

enum class Shape {
    control,  // no contexts; a unit is one iteration
    stacks,   // contexts share the probe's one thread
    tasks,    // contexts are threads or processes
    foreign,  // contexts are tasks of another kernel, on whose hops no CPU can be told from here
    pair,     // a control of two tasks, whatever the plan's contexts
};

struct Unavailable {
    const char* code;
    std::string reason;   // one sentence
    std::string install;  // what to do, or empty
};

// What one context says about itself when asked. The counters live in the context's own registers or stack during the
// batches; they come here only when the driver sends a command round the ring. One cache line each: contexts on other
// CPUs write too.
struct alignas(64) Station {
    std::uint64_t turns;
    std::uint64_t mismatches;  // tokens that did not carry the sequence number this context waited for
    std::uint64_t touches;     // of its working set since it was made
    const void* place;         // where it runs: an address in its stack, or in its frame if it has no stack of its own
    std::uint32_t irregular;   // arrivals that were not turns: commands and mismatches
    std::uint32_t minor_faults;
    std::uint32_t major_faults;
    std::uint32_t space;  // its address space: the same number for all contexts that share one
    std::uint32_t mxcsr;
    std::int32_t cpu;  // -1: not a task of its own
    std::int32_t process;
    std::int32_t thread;  // 0: not a task of its own, or not asked yet
};
static_assert(sizeof(Station) == 64);

// Bytes, by the kernel's figures.
struct Memory {
    std::int64_t resident = 0;
    std::int64_t mapped = 0;
    std::int64_t kernel = 0;
};

struct MemoryGain : Memory {
    bool kernel_is_machine_wide = false;
};

// A mechanism set up for one plan. The constructor does everything slow and may throw Failure; the destructor leaves no
// task, descriptor or mapping behind, also after an error.
class Workload {
public:
    Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    virtual ~Workload() = default;

    // The measured region: no allocation, clock, logging or system call beyond the mechanism's own. `units` is whole
    // laps.
    virtual void run(std::uint64_t units) = 0;

    // Units of a batch that is to last so long, where they take a time that is fixed beforehand; otherwise the kit
    // tries.
    virtual std::optional<std::uint64_t> units_in(std::uint64_t /*batch_ns*/) const { return std::nullopt; }

    // Makes every context write its station. Not part of any batch.
    virtual void publish() {}
    virtual std::span<const Station> stations() const { return {}; }
    // Participating tasks. Default: those that the stations name, else the calling thread.
    virtual std::vector<TaskId> tasks() const;

    virtual std::uint64_t token() const = 0;                                // sequence number it carries now
    virtual std::uint64_t mismatches() const = 0;                           // seen by the driver
    virtual std::uint64_t token_mask() const { return ~std::uint64_t{0}; }  // bits that the medium can carry

    virtual Histogram* histogram() { return nullptr; }  // Mode::each
    // Contexts that are tasks: where the hops since begin_hops() led. Both are called next to the batches.
    virtual void begin_hops() {}
    virtual std::optional<Hops> hops() const { return std::nullopt; }
    // Where the driver is elsewhere and reads a clock there: puts its ticks of the last batches, as many, in the place
    // of those read here.
    virtual void retime(std::span<std::uint64_t> /*ticks*/) {}
    // Hops of a lap that lead elsewhere than to the context right above in memory, for rings that have a `layout`.
    virtual std::uint64_t far_steps() const { return 0; }
    virtual void counting(bool /*on*/) {
    }  // called next to the batches: what a mechanism counts for add_counts begins and ends here
    virtual void add_counts(Counts&) const {}

    // Experiment footprint: what the contexts, made since the constructor began to make them, hold now.
    virtual std::optional<MemoryGain> memory_gain() const { return std::nullopt; }

    // Orderly end with the checks that need live contexts (canaries). Throws Failure.
    virtual void close() {}
};

struct Entry {
    const char* id;
    Shape shape;
    std::vector<const char*> experiments;
    std::vector<Parameter> parameters;
    std::unique_ptr<Workload> (*make)(const Plan&, Mode);
    // nullopt: can run here. Null pointer: always can.
    std::optional<Unavailable> (*check)() = nullptr;

    void apply_parameters(const Plan& plan) const;
    void enter_parameters(const Plan& plan) const;
    void add_counts(const Counting& counting, Counts& counts) const;
};

// What a parameter may count from: the batches are over, and the contexts live.
struct Counting {
    const Plan& plan;
    const Workload& workload;
    std::span<const TaskId> tasks;  // as they were before the batches
    std::uint64_t units;
    std::uint64_t touches;     // of all contexts, in the batches
    std::size_t mxcsr_values;  // different ones that the contexts ended with
};

// Null: there is none.
const Entry* find_entry(std::span<const Entry* const> entries, std::string_view id);

// Instantiates a workload template for the mode that the plan needs. `static`: with gcc 12 an instance for an alias
// template of an anonymous namespace has external linkage, and two mechanisms whose aliases share a name would silently
// become one.
template <template <Mode> class W>
static std::unique_ptr<Workload> make_for_mode(const Plan& plan, Mode mode) {
    switch (mode) {
        case Mode::each_bare:  // comes from make_for_any_mode only: for the rest it would be code for nothing
        case Mode::each: return std::make_unique<W<Mode::each>>(plan);
        default: return std::make_unique<W<Mode::batch>>(plan);
    }
}

// The same for rings, whose contexts may have working sets.
template <template <Mode> class W>
static std::unique_ptr<Workload> make_ring_for_mode(const Plan& plan, Mode mode) {
    switch (mode) {
        case Mode::touching_batch: return std::make_unique<W<Mode::touching_batch>>(plan);
        case Mode::touching_each: return std::make_unique<W<Mode::touching_each>>(plan);
        default: return make_for_mode<W>(plan, mode);
    }
}

// The same for mechanisms with the parameter `reads`.
template <template <Mode> class W>
static std::unique_ptr<Workload> make_for_any_mode(const Plan& plan, Mode mode) {
    const bool bare = mode == Mode::each && plan.text("reads") == "bare";
    return bare ? std::make_unique<W<Mode::each_bare>>(plan) : make_for_mode<W>(plan, mode);
}

}  // namespace probe
