#include "kit/parameters/resident.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kit/os/limits.h"
#include "kit/os/procfs.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

constexpr std::uint64_t page = 4096;
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers lack
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;

std::uint64_t bytes_of(const Plan& plan) { return plan.number("resident") << 20; }

// Without effect yet: pages come when touched.
void choose_pages(char* base, std::uint64_t bytes, bool huge) {
    if (madvise(base, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0 || !huge) return;
    const int error = errno;
    throw unsupported(
        "unsupported_here",
        std::string("pages=huge: this kernel has no transparent huge pages (") + std::strerror(error) + ")", error);
}

}  // namespace

std::vector<Parameter> resident_parameters() { return {{"resident", {}}, {"pages", {"small", "huge"}}}; }

void require_resident(const Plan& plan) {
    require_memory(bytes_of(plan) * plan.contexts, "use a smaller resident");
    alignas(page) static char trial[page];
    choose_pages(trial, page, plan.text("pages") == "huge");
    madvise(trial, page, MADV_NORMAL);
}

Resident::Resident(const Plan& plan) : bytes_(bytes_of(plan)), huge_(plan.text("pages") == "huge") {
    void* memory = mmap(nullptr, bytes_ + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw memory_limit_failure(bytes_, errno);
    base_ = static_cast<char*>(memory);
    choose_pages(base_, bytes_ + huge_page, huge_);
    // In one call where the kernel has it (Linux 5.14); a byte of each page otherwise.
    if (madvise(base_, bytes_ + huge_page, populate_write) == 0) return;
    const std::uint64_t skew = huge_page - reinterpret_cast<std::uintptr_t>(base_) % huge_page;
    for (std::uint64_t offset = 0; offset < bytes_; offset += page) {
        volatile char& byte = base_[skew + offset];
        byte = 1;
    }
}

Resident::~Resident() {
    if (base_ != nullptr) munmap(base_, bytes_ + huge_page);
}

void Resident::add_counts(Counts& counts) const {
    if (!huge_) return;
    const auto kib = procfs::read_field("/proc/self/smaps_rollup", "\nAnonHugePages:");
    if (kib) counts.emplace_back("huge_mib", static_cast<std::int64_t>(*kib / 1024));
}

}  // namespace probe
