// Hops counted from the changes of CPU that contexts noted, against a count hop by hop, over random rings.
#include "kit/ring/hops.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace probe {

void* map_zeroed(std::size_t bytes, bool) { return std::calloc(1, bytes); }
void unmap(void* address, std::size_t) { std::free(address); }

namespace {

struct Ring {
    explicit Ring(std::uint32_t contexts) : cpus(contexts), trails(contexts) {}

    void hop(std::mt19937& random) {
        const std::uint32_t context = ++sequence % cpus.size();
        if (const int cpu = static_cast<int>(random() % 12); cpu < 3 && cpu != cpus[context]) {
            cpus[context] = cpu;
            trails.note(context, sequence, cpu);
            ++migrations;
        }
        same_cpu += cpus[context] == cpus[(context + cpus.size() - 1) % cpus.size()];
    }

    std::uint64_t sequence = 0, same_cpu = 0, migrations = 0;
    std::vector<int> cpus;
    CpuTrails trails;
};

bool agree(std::mt19937& random) {
    Ring ring(2 + random() % 6);
    for (unsigned before = random() % 30; before != 0; --before) ring.hop(random);
    ring.trails.begin(ring.sequence);
    ring.same_cpu = ring.migrations = 0;
    const std::uint64_t hops = random() % 200;
    for (std::uint64_t i = 0; i < hops; ++i) ring.hop(random);
    const Hops counted = ring.trails.examine(ring.sequence);
    return counted.why == nullptr && counted.count == hops && counted.same_cpu == ring.same_cpu &&
           counted.migrations == ring.migrations;
}

// A context that changes its CPU at every turn fills its list; what is covered ends right before the change that was
// lost.
bool ends_where_the_room_ends() {
    constexpr std::uint32_t contexts = 1 << 17;  // 16 changes for each
    CpuTrails trails(contexts);
    trails.begin(0);
    for (std::uint64_t turn = 0; turn < 20; ++turn) trails.note(1, 1 + turn * contexts, 1 + static_cast<int>(turn % 2));
    const Hops counted = trails.examine(20 * std::uint64_t{contexts});
    return counted.why != nullptr && counted.count == 16 * std::uint64_t{contexts} && counted.migrations == 16;
}

}  // namespace
}  // namespace probe

int main() {
    std::mt19937 random(1);
    for (int round = 0; round < 20000; ++round) {
        if (probe::agree(random)) continue;
        std::printf("FAILED: round %d\n", round);
        return 1;
    }
    if (probe::ends_where_the_room_ends()) return 0;
    std::puts("FAILED: a full list");
    return 1;
}
