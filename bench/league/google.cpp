// For google/benchmark.
#include "work.h"

#include <benchmark/benchmark.h>

static void work(benchmark::State& state) {
    std::uint64_t seed = 1;
    for (auto _ : state) benchmark::DoNotOptimize(seed = league_work(seed));
}
BENCHMARK(work);
BENCHMARK_MAIN();
