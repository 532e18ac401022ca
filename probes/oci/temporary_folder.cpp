#include "temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "folder_sweep.h"
#include "kit/containers/cgroups.h"
#include "kit/os/limits.h"
#include "kit/plan/failure.h"

namespace probe {
namespace {

namespace fs = std::filesystem;

constexpr mode_t for_everybody = 0755;  // below a folder for nobody else; whatever the umask is

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

bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = write(fd, content.data(), content.size());
        if (written == -1 && errno == EINTR) continue;
        if (written <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool copy(int from, int to) {
    std::array<char, 65536> block;
    for (;;) {
        const ssize_t got = read(from, block.data(), block.size());
        if (got == -1 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        if (!write_all(to, {block.data(), static_cast<std::size_t>(got)})) return false;
    }
}

// Closes; where a file system keeps its errors back until then, they count. errno says why, of the first that failed.
bool finish(int fd, bool well) {
    const int error = errno;
    const bool closed = close(fd) == 0;
    if (!well) errno = error;
    return well && closed;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : parent_(find_parent()) {
    std::vector<std::string> group_places;
    for (const CgroupMount& mount : cgroup_mounts()) group_places.push_back(mount.directory);
    sweep_dead_folders(parent_, group_places);
}

TemporaryFolder::~TemporaryFolder() {
    if (lock_ != -1) close(lock_);
    if (directory_ != -1) close(directory_);
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
int TemporaryFolder::make_lock() const {
    constexpr const char* beginning = "lock.new";
    const int lock = openat(directory_, beginning, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock == -1) return -1;
    if (flock(lock, LOCK_SH | LOCK_NB) == 0 && renameat(directory_, beginning, directory_, lock_name) == 0) return lock;
    const int error = errno;
    close(lock);
    errno = error;
    return -1;
}

Claim TemporaryFolder::make() {
    Claim claim;
    std::string path = parent_ + "/" + folder_prefix + "XXXXXX";
    struct stat status = {};
    if (mkdtemp(path.data()) == nullptr) {
        claim.error = errno;
        return claim;
    }
    name_ = path.substr(parent_.size() + 1);
    directory_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory_ == -1 || fstat(directory_, &status) != 0) {
        claim.error = errno;
        rmdir(path.c_str());
        return claim;
    }
    errno = EPERM;  // of another owner
    // Its parent may have handed it the bit of its group.
    if (status.st_uid == geteuid() && fchmod(directory_, 0700) == 0) lock_ = make_lock();
    if (lock_ == -1) {
        claim.error = errno;
        remove();
        return claim;
    }
    claim.device = status.st_dev;
    claim.inode = status.st_ino;
    std::snprintf(claim.name, sizeof claim.name, "%s", name_.c_str());
    return claim;
}

int TemporaryFolder::take(const Claim& claim) {
    directory_ = open((parent_ + "/" + claim.name).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory_ == -1) return errno;
    struct stat status = {};
    int error = ENOENT;
    if (fstat(directory_, &status) == 0 && status.st_dev == claim.device && status.st_ino == claim.inode) {
        lock_ = lock_folder(directory_, LOCK_SH);
        error = lock_ == -1 ? errno : 0;
    }
    if (error == 0) {
        name_ = claim.name;
    } else {
        close(std::exchange(directory_, -1));
    }
    return error;
}

void TemporaryFolder::remove() {
    if (directory_ == -1) return;
    // A runtime that a killed launcher started goes on making groups and files for a while.
    for (int attempt = 0; attempt < 20; ++attempt) {
        release_fifos(directory_);
        const bool groups_gone = remove_groups(group_places_, name_, Patience::one_second);
        if (remove_folder(directory_, parent_ + "/" + name_) && groups_gone) return;
        usleep(100'000);
    }
}

void TemporaryFolder::make_directory(const std::string& below) const {
    if (mkdirat(directory_, below.c_str(), 0700) != 0 || fchmodat(directory_, below.c_str(), for_everybody, 0) != 0)
        throw_refusal(path(below), errno);
}

void TemporaryFolder::make_file(const std::string& below, std::string_view content) const {
    const int file = openat(directory_, below.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file == -1 || !finish(file, write_all(file, content))) throw_refusal(path(below), errno);
}

void TemporaryFolder::make_root(const char* program) const {
    for (const char* directory : {"root", "root/proc", "root/dev"}) make_directory(directory);
    std::error_code ignored;
    const std::string source = fs::read_symlink("/proc/self/exe", ignored).parent_path() / program;
    const int from = open(source.c_str(), O_RDONLY | O_CLOEXEC);
    if (from == -1 && is_descriptor_limit(errno)) throw descriptor_limit_failure(0, 1, errno);
    if (from == -1)
        throw failed("set_up_failed", source + " cannot be read (" + std::strerror(errno) + "); build the probe again",
                     errno);
    const int to = openat(directory_, "root/inside", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool copied = to != -1 && finish(to, copy(from, to) && fchmod(to, for_everybody) == 0);
    const int error = errno;
    close(from);
    if (!copied) throw_refusal(path("root/inside"), error);
}

int TemporaryFolder::open_again(const std::string& below) const {
    return openat(directory_, below.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

std::string TemporaryFolder::text_of(const std::string& below) const {
    std::string text;
    const int file = openat(directory_, below.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file == -1) return text;
    std::array<char, 4096> block;
    for (ssize_t got = 0; (got = read(file, block.data(), block.size())) > 0;)
        text.append(block.data(), static_cast<std::size_t>(got));
    close(file);
    return text;
}

}  // namespace probe
