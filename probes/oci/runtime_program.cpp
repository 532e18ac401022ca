#include "runtime_program.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "kit/containers/inside.h"
#include "kit/containers/runtime.h"
#include "kit/os/limits.h"

namespace probe {

namespace {

Failure task_refusal() { return task_limit_failure(("task of " + runtime_name).c_str(), 0, 1, EAGAIN); }

}  // namespace

std::string find_runtime() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin:/usr/local/sbin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string file = folder + "/" + runtime_name;
        if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
    }
    return "";
}

std::optional<Unavailable> runtime_missing() {
    if (!find_runtime().empty()) return std::nullopt;
    return Unavailable{"missing_library", runtime_name + " was not found in PATH", "the package " + runtime_name};
}

// runc wraps it: time="..." level=error msg="...". A runtime that crashed says first why and then, in many lines,
// where.
std::string last_words(const std::string& said) {
    constexpr int longest_message = 4;
    std::istringstream text(said);
    std::string first, last, wrapped;
    int lines = 0;
    for (std::string line; std::getline(text, line);) {
        if (line.empty()) continue;
        if (lines++ == 0) first = line;
        if (line.find("msg=\"") != std::string::npos) wrapped = line;
        last = line;
    }
    if (!wrapped.empty()) {
        last = wrapped;
    } else if (lines > longest_message) {
        last = first;
    }
    for (char& character : last) {
        if (character < ' ' || character > '~') character = '?';
    }
    const std::size_t message = last.find("msg=\"");
    if (message != std::string::npos) last = last.substr(message + 5, last.rfind('"') - message - 5);
    return last.empty() ? "it said nothing" : last.substr(0, 500);
}

std::optional<Failure> low_limit(std::uint32_t container, Few few) {
    rlimit limit{};
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur < few.tasks) return task_refusal();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < few.descriptors)
        return descriptor_limit_failure(container, container + 1, EMFILE);
    return std::nullopt;
}

Failure runtime_refusal(std::uint32_t container, const std::string& words, Few few, const char* cure) {
    if (words.find("esource temporarily unavailable") != std::string::npos) return task_refusal();
    if (words.find("oo many open files") != std::string::npos)
        return descriptor_limit_failure(container, container + 1, EMFILE);
    const std::string forbidden = namespaces_forbidden();
    if (forbidden.empty()) {
        if (const auto limit = low_limit(container, few)) return *limit;
    }
    return unsupported("unsupported_here", runtime_name + " could not make container " + std::to_string(container + 1) +
                                               ": " + words + "; " + (forbidden.empty() ? cure : forbidden));
}

}  // namespace probe
