// Windows, and wine, which is distinguished: its figures are its own and not Windows'.
//
// Windows tells a program nothing of its context switches and little of its page faults. Under wine there is a Linux
// kernel below that does; the launcher (wine/probe) names this process's Unix id in SWITCHCOST_UNIX_PID, and its files
// in /proc are read as any other file is. They are kept open, because opening one is a conversation with the
// wineserver, which would itself be switches. ("self" would not do: the wineserver opens files, so that it is the
// wineserver.)
#include "kit/os/os.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "kit/os/limits.h"
#include "kit/os/memory.h"
#include "kit/plan/failure.h"
#include "kit/ring/shared.h"
#include "kit/stacks/stacks.h"

namespace probe {
namespace {

template <class Function>
Function from_ntdll(const char* name) {
    const HMODULE library = GetModuleHandleA("ntdll.dll");
    return library == nullptr ? nullptr
                              : reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, name)));
}

// Null on Windows.
const char* wine_version() {
    static const auto get = from_ntdll<const char* (*)()>("wine_get_version");
    return get == nullptr ? nullptr : get();
}

std::string system_below_wine() {
    const char* name = nullptr;
    const char* release = nullptr;
    if (const auto get = from_ntdll<void (*)(const char**, const char**)>("wine_get_host_version"))
        get(&name, &release);
    return name == nullptr ? "an unknown system" : std::string(name) + " " + release;
}

std::string windows_version() {
    RTL_OSVERSIONINFOW version{};
    version.dwOSVersionInfoSize = sizeof version;
    if (const auto get = from_ntdll<LONG(WINAPI*)(RTL_OSVERSIONINFOW*)>("RtlGetVersion")) get(&version);
    return std::to_string(version.dwMajorVersion) + "." + std::to_string(version.dwMinorVersion) + "." +
           std::to_string(version.dwBuildNumber);
}

// A file of the Unix system below wine, kept open.
class UnixFile {
public:
    explicit UnixFile(const std::string& path) {
        if (path.empty()) return;
        handle_ = CreateFileA(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0,
                              nullptr);
    }

    // The whole text as it is now; false: there is none. Allocates nothing: called next to the batches.
    template <std::size_t size>
    bool read(char (&text)[size]) const {
        if (handle_ == INVALID_HANDLE_VALUE) return false;
        OVERLAPPED from_the_beginning{};
        DWORD got = 0;
        if (ReadFile(handle_, text, size - 1, &got, &from_the_beginning) == 0) return false;
        text[got] = '\0';
        return got != 0;
    }

private:
    HANDLE handle_ = INVALID_HANDLE_VALUE;  // open as long as the process
};

// This process's folder in /proc; empty: not known. A start script of wine's that does not become wine would have given
// the id of a shell, whose counters stand still: the name must be ours.
std::string find_unix_folder() {
    const char* id = std::getenv("SWITCHCOST_UNIX_PID");
    if (wine_version() == nullptr || id == nullptr || *id == '\0' || std::strspn(id, "0123456789") != std::strlen(id))
        return "";
    const std::string folder = "\\\\?\\unix\\proc\\" + std::string(id) + "\\";
    const UnixFile status(folder + "status");
    constexpr char ours[] = "Name:\tprobe.exe\n";
    char text[4096];
    return status.read(text) && std::strncmp(text, ours, sizeof ours - 1) == 0 ? folder : "";
}

std::string unix_path(const char* name) {
    static const std::string folder = find_unix_folder();
    return folder.empty() ? "" : folder + name;
}

// Of this process's first thread, which is its only one.
const UnixFile& status_file() {
    static const UnixFile file(unix_path("status"));
    return file;
}

const UnixFile& stat_file() {
    static const UnixFile file(unix_path("stat"));
    return file;
}

bool field(const char* text, const char* name, std::uint64_t& value) {
    const char* found = std::strstr(text, name);
    if (found == nullptr) return false;
    value = std::strtoull(found + std::strlen(name), nullptr, 10);
    return true;
}

Failure placement_failure(int cpu) {
    return unsupported(
        "too_few_cpus",
        "a task could not be placed on CPU " + std::to_string(cpu) +
            ": it does not exist, is not among this process's, or is beyond the first 64; choose another");
}

// VM_COUNTERS of ntdll, which the SDK's headers leave out.
struct VmCounters {
    SIZE_T peak_virtual, virtual_size;
    ULONG faults;
    SIZE_T peak_working_set, working_set, quota[4], pagefile, peak_pagefile;
};

std::optional<VmCounters> vm_counters() {
    constexpr int process_vm_counters = 3;
    const auto query = from_ntdll<LONG(WINAPI*)(HANDLE, int, void*, ULONG, ULONG*)>("NtQueryInformationProcess");
    VmCounters counters{};
    if (query == nullptr || query(GetCurrentProcess(), process_vm_counters, &counters, sizeof counters, nullptr) != 0)
        return std::nullopt;
    return counters;
}

// Under wine by the kernel's figures, as on Linux: wine's own counters are the approximate ones.
std::optional<Memory> memory_below_wine() {
    static const UnixFile rollup(unix_path("smaps_rollup"));
    char text[4096];
    char status[4096];
    std::uint64_t resident = 0;
    std::uint64_t mapped = 0;
    std::uint64_t tables = 0;
    if (!rollup.read(text) || !status_file().read(status)) return std::nullopt;
    if (!field(text, "\nRss:", resident) || !field(status, "\nVmSize:", mapped) || !field(status, "\nVmPTE:", tables))
        return std::nullopt;
    return Memory{static_cast<std::int64_t>(resident) * 1024, static_cast<std::int64_t>(mapped) * 1024,
                  static_cast<std::int64_t>(tables) * 1024};
}

}  // namespace

void pin_self(int cpu) {
    if (cpu < 0) return;
    if (cpu >= 64 || SetThreadAffinityMask(GetCurrentThread(), DWORD_PTR{1} << cpu) == 0) throw placement_failure(cpu);
    if (os::current_cpu() != cpu) throw placement_failure(cpu);
}

namespace os {

void begin(int report_fd) {
    _setmode(report_fd, _O_BINARY);  // no carriage returns
    status_file();
    stat_file();
}

std::string runtime() {
    if (const char* wine = wine_version()) return std::string("msvcrt, wine ") + wine + " on " + system_below_wine();
    return "msvcrt, Windows " + windows_version();
}

std::optional<std::string> caveat() {
    if (const char* wine = wine_version()) {
        return std::string("wine ") + wine + "'s implementation on " + system_below_wine() + ", not Windows' own";
    }
    return std::nullopt;
}

int current_thread() { return static_cast<int>(GetCurrentThreadId()); }
// Under wine the id by which the host below knows this process.
TaskId current_task() {
    static const int process =
        unix_path("").empty() ? static_cast<int>(GetCurrentProcessId()) : std::atoi(std::getenv("SWITCHCOST_UNIX_PID"));
    return {process, current_thread()};
}
int current_cpu() { return static_cast<int>(GetCurrentProcessorNumber()); }

// Fields 10 and 12 of stat, counted after the bracket that ends the name.
std::optional<PageFaults> faults_of_thread() {
    char text[1024];
    if (!stat_file().read(text)) return std::nullopt;
    const char* at = std::strrchr(text, ')');
    PageFaults faults;
    for (int number = 2; at != nullptr && number <= 12; ++number) {
        if (number == 10) faults.minor = std::strtoull(at, nullptr, 10);
        if (number == 12) faults.major = std::strtoull(at, nullptr, 10);
        at = std::strchr(at, ' ');
        if (at != nullptr) ++at;
    }
    return faults;
}
std::optional<PageFaults> faults_of_process() { return faults_of_thread(); }  // this probe has one thread

std::optional<KernelSwitches> kernel_switches(std::span<const TaskId> tasks) {
    KernelSwitches switches;
    char text[4096];
    switches.tasks = static_cast<std::uint32_t>(tasks.size());
    if (switches.tasks != 1 || !status_file().read(text)) return std::nullopt;
    if (!field(text, "\nvoluntary_ctxt_switches:", switches.voluntary)) return std::nullopt;
    if (!field(text, "\nnonvoluntary_ctxt_switches:", switches.involuntary)) return std::nullopt;
    return switches;
}

const char* kernel_switches_source() { return "/proc/PID/status of the Unix system below wine"; }
const char* kernel_switches_unknown() {
    return wine_version() != nullptr ? "the launcher did not name this process's Unix id, or its /proc cannot be read"
                                     : "Windows does not tell a program how often it was switched";
}

std::optional<std::uint64_t> cpu_time_ns(std::span<const TaskId>) { return std::nullopt; }

bool open_for_writing(int fd) { return _get_osfhandle(fd) != -1; }
long write_some(int fd, const char* data, std::size_t size) { return _write(fd, data, static_cast<unsigned>(size)); }

void* map_stack(std::size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
void unmap_stack(void* address, std::size_t) { VirtualFree(address, 0, MEM_RELEASE); }

void trim_heap() { HeapCompact(GetProcessHeap(), 0); }

const char* kernel_memory_meaning() {
    if (unix_path("status").empty()) return nullptr;
    return "kernel_bytes is the change of this process's page tables (VmPTE of the Unix system below wine)";
}

}  // namespace os

Memory own_memory() {
    if (const auto memory = memory_below_wine()) return *memory;
    const auto counters = vm_counters();
    if (!counters)
        throw unsupported("unsupported_here",
                          "NtQueryInformationProcess does not tell this process's memory; nothing can be done");
    return {static_cast<std::int64_t>(counters->working_set), static_cast<std::int64_t>(counters->virtual_size), 0};
}

std::optional<Unavailable> shadow_stack_in_the_way() { return std::nullopt; }

void raise_soft_limits() {}  // there are none

Failure memory_limit_failure(std::size_t bytes, int error) {
    const std::string text =
        "the system refused " + std::to_string(bytes) + " bytes of memory (error " + std::to_string(error) + "): ";
    if (wine_version() == nullptr)
        return unsupported("limit_reached",
                           text + "the limit on committed memory is reached; use fewer contexts or smaller stacks");
    return unsupported(
        "limit_reached",
        text +
            "below wine the limit in the way is mostly vm.max_map_count, two mappings per context; raise it with "
            "sysctl -w vm.max_map_count, or use fewer contexts");
}

void require_memory(std::uint64_t bytes, const char* cure) {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    if (GlobalMemoryStatusEx(&status) == 0 || bytes <= status.ullAvailPhys / 5 * 4) return;
    throw unsupported("limit_reached",
                      "about " + std::to_string(bytes) +
                          " bytes of memory would be touched: the limit in the way is free memory in bytes = " +
                          std::to_string(status.ullAvailPhys) + "; " + cure,
                      ENOMEM);
}

void* map_zeroed(std::size_t bytes, bool) {
    void* address = os::map_stack(bytes);
    if (address == nullptr) throw memory_limit_failure(bytes, ENOMEM);
    return address;
}

void unmap(void* address, std::size_t bytes) { os::unmap_stack(address, bytes); }

}  // namespace probe
