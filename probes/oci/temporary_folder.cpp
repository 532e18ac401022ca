#include "temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "folder_sweep.h"
#include "kit/containers/cgroups.h"
#include "kit/os/limits.h"
#include "kit/plan/failure.h"
#include "kit/ring/pipe_io.h"

namespace probe {
namespace {

namespace fs = std::filesystem;

constexpr const char* users_name = "users";  // a file: locked by whom the folder must wait for
constexpr mode_t for_everybody = 0755;       // below a folder for nobody else; whatever the umask is

// In a folder that anybody may write to and that has no sticky bit, anybody can put another in the place of ours.
std::string find_parent() {
    std::error_code error;
    const fs::path path = fs::canonical(fs::temp_directory_path(error), error);
    struct stat status = {};
    if (!error && stat(path.c_str(), &status) != 0) error = std::error_code(errno, std::generic_category());
    if (error) {
        throw unsupported("unsupported_here", "the folder for temporary files cannot be used (" + error.message() +
                                                  "); set TMPDIR to one that may be written to");
    }
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
        throw unsupported("unsupported_here", "in the folder for temporary files, " + path.string() +
                                                  ", everybody may replace what others make; give it the sticky bit "
                                                  "(chmod +t), or set TMPDIR to another");
    }
    return path;
}

bool copy(int from, int to) {
    std::array<char, 65536> block;
    for (;;) {
        const ssize_t got = read(from, block.data(), block.size());
        if (got == -1 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        if (!write_whole(to, block.data(), static_cast<std::size_t>(got))) return false;
    }
}

// Where a file system keeps its errors back until a file is closed, they count. errno says why, of the first that
// failed.
bool finish(Descriptor file, bool well) { return well && close(file.release()) == 0; }

}  // namespace

TemporaryFolder::TemporaryFolder() : parent_(find_parent()) {
    std::vector<std::string> group_places;
    for (const CgroupMount& mount : cgroup_mounts()) group_places.push_back(mount.directory);
    sweep_dead_folders(parent_, group_places);
}

void TemporaryFolder::begin(Guardian& guardian, std::vector<std::string> group_places) {
    group_places_ = std::move(group_places);
    if (const int error = guardian.start(*this); error != 0)
        throw_refusal(parent_ + "/" + folder_prefix + "XXXXXX", error);
}

void TemporaryFolder::throw_refusal(const std::string& path, int error) const {
    if (is_descriptor_limit(error)) throw descriptor_limit_failure(0, 1, error);
    throw failed("set_up_failed",
                 path + " could not be made (" + std::strerror(error) +
                     "); set TMPDIR to a folder with room that may be written to",
                 error);
}

// Under its name only once it is locked: a sweep finds no lock that nobody holds yet.
Descriptor TemporaryFolder::make_lock() const {
    constexpr const char* beginning = "lock.new";
    Descriptor lock(openat(directory_.get(), beginning, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (lock.is_open() && flock(lock.get(), LOCK_SH | LOCK_NB) == 0 &&
        renameat(directory_.get(), beginning, directory_.get(), lock_name) == 0)
        return lock;
    return {};
}

ResourceId TemporaryFolder::make() {
    std::string path = parent_ + "/" + folder_prefix + "XXXXXX";
    struct stat status = {};
    const bool made = mkdtemp(path.data()) != nullptr;
    if (made) {
        name_ = path.substr(parent_.size() + 1);
        directory_ = Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (directory_.is_open() && fstat(directory_.get(), &status) == 0) {
        errno = EPERM;  // of another owner
        // Its parent may have handed it the bit of its group.
        if (status.st_uid == geteuid() && fchmod(directory_.get(), 0700) == 0) lock_ = make_lock();
    }
    if (lock_.is_open()) return resource_id(directory_.get(), name_);
    ResourceId refused;
    refused.error = errno;
    remove();
    if (made && !directory_.is_open()) rmdir(path.c_str());
    return refused;
}

int TemporaryFolder::open(const ResourceId& id) {
    directory_ = Descriptor(::open((parent_ + "/" + id.name).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory_.is_open()) return errno;
    errno = ENOENT;
    if (id.is(directory_.get())) lock_ = lock_folder(directory_.get(), LOCK_SH);
    if (lock_.is_open()) {
        name_ = id.name;
        return 0;
    }
    directory_.reset();
    return errno;
}

// A runtime that a killed launcher started goes on making groups and files for a while, and the init it made may make
// the folder itself once more: so only when they are gone, and the groups in which they are.
void TemporaryFolder::remove() {
    if (!directory_.is_open()) return;
    constexpr int attempts = 30;
    for (int attempt = 1; attempt <= attempts; ++attempt) {
        if (attempt > 1) usleep(100'000);
        release_fifos(directory_.get());
        const Descriptor users(hold());
        if (users.is_open() && flock(users.get(), LOCK_EX | LOCK_NB) != 0 && attempt < attempts) continue;
        if (!remove_groups(group_places_, name_, Patience::one_second) && attempt < attempts) continue;
        if (remove_folder(directory_.get(), parent_ + "/" + name_)) return;
    }
}

int TemporaryFolder::hold() const {
    const int users = openat(directory_.get(), users_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (users != -1) flock(users, LOCK_SH | LOCK_NB);
    return users;
}

void TemporaryFolder::make_directory(const std::string& below) const {
    if (mkdirat(directory_.get(), below.c_str(), 0700) != 0 ||
        fchmodat(directory_.get(), below.c_str(), for_everybody, 0) != 0)
        throw_refusal(path(below), errno);
}

void TemporaryFolder::make_file(const std::string& below, std::string_view content) const {
    Descriptor file = create(below);
    const bool written = file.is_open() && write_whole(file.get(), content.data(), content.size());
    if (!finish(std::move(file), written)) throw_refusal(path(below), errno);
}

void TemporaryFolder::make_root(const char* program) const {
    for (const char* directory : {"root", "root/proc", "root/dev"}) make_directory(directory);
    std::error_code ignored;
    const std::string source = fs::read_symlink("/proc/self/exe", ignored).parent_path() / program;
    const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from.is_open() && is_descriptor_limit(errno)) throw descriptor_limit_failure(0, 1, errno);
    if (!from.is_open())
        throw failed("set_up_failed", source + " cannot be read (" + std::strerror(errno) + "); build the probe again",
                     errno);
    Descriptor to = create("root/inside");
    const bool copied = to.is_open() && copy(from.get(), to.get()) && fchmod(to.get(), for_everybody) == 0;
    if (!finish(std::move(to), copied)) throw_refusal(path("root/inside"), errno);
}

Descriptor TemporaryFolder::create(const std::string& below) const {
    return Descriptor(
        openat(directory_.get(), below.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

int TemporaryFolder::open_again(const std::string& below) const {
    return openat(directory_.get(), below.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

std::string TemporaryFolder::text_of(const std::string& below) const {
    std::string text;
    const Descriptor file(openat(directory_.get(), below.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::array<char, 4096> block;
    for (ssize_t got = 0; file.is_open() && (got = read(file.get(), block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(got));
    return text;
}

}  // namespace probe
