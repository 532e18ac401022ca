#include "kit/containers/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "kit/os/limits.h"

namespace probe {
namespace {

const std::string group_name = "switchcost-";
constexpr std::size_t random_letters = 6;  // of mkdtemp
const std::string digits = "0123456789";
const std::string letters_and_digits = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::vector<std::string> directories_in(const std::string& path) {
    std::vector<std::string> result;
    DIR* directory = opendir(path.c_str());
    if (directory == nullptr) return result;
    while (const dirent* entry = readdir(directory)) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') result.emplace_back(entry->d_name);
    }
    closedir(directory);
    return result;
}

bool remove_tree(const std::string& path, Patience patience) {
    for (const std::string& name : directories_in(path)) remove_tree(path + "/" + name, patience);
    return remove_empty_group(path.c_str(), patience) || errno == ENOENT;
}

bool is_number(const std::string& text) { return !text.empty() && text.find_first_not_of(digits) == std::string::npos; }

// switchcost-PID-RANDOM
bool bears_lock(const std::string& name) {
    if (name.rfind(group_name, 0) != 0) return false;
    const std::size_t dash = name.find('-', group_name.size());
    if (dash == std::string::npos || !is_number(name.substr(group_name.size(), dash - group_name.size()))) return false;
    return name.size() == dash + 1 + random_letters &&
           name.find_first_not_of(letters_and_digits, dash + 1) == std::string::npos;
}

bool is_same(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The descriptor of a group that this user's probe made, locked; -1: errno says why. Whoever removed the group may have
// done so between its opening and its locking, hence the last look.
int open_locked(const std::string& path, int how) {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1) return -1;
    struct stat opened = {}, named = {};
    int error = 0;
    if (fstat(fd, &opened) != 0) {
        error = errno;
    } else if (opened.st_uid != geteuid() || (opened.st_mode & 07777) != 0700) {
        error = EPERM;
    } else if (flock(fd, how | LOCK_NB) != 0 || lstat(path.c_str(), &named) != 0) {
        error = errno;
    } else if (!is_same(opened, named)) {
        error = ENOENT;
    }
    if (error == 0) return fd;
    close(fd);
    errno = error;
    return -1;
}

}  // namespace

bool remove_empty_group(const char* path, Patience patience) {
    constexpr timespec pause = {0, 200'000};
    const int attempts = patience == Patience::one_second ? 5000 : 1;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (rmdir(path) == 0) return true;
        if (errno != EBUSY) return false;
        nanosleep(&pause, nullptr);
    }
    return false;
}

bool remove_groups(const std::vector<std::string>& places, const std::string& prefix, Patience patience) {
    const std::string begin = prefix + "-";
    bool all = true;
    for (const std::string& place : places) {
        for (const std::string& name : directories_in(place)) {
            if (name.rfind(begin, 0) != 0 || !is_number(name.substr(begin.size()))) continue;
            all = remove_tree(place + "/" + name, patience) && all;
        }
    }
    return all;
}

GroupEstate::~GroupEstate() {
    if (lock_ != -1) close(lock_);
}

void GroupEstate::lie_in(std::string parent, std::vector<std::string> places) {
    parent_ = std::move(parent);
    places_ = std::move(places);
    name_ = group_name + std::to_string(getpid());
}

// A sweep may take the group for a dead one's before it is locked; then there is another.
Claim GroupEstate::make() {
    constexpr int attempts = 100;
    Claim claim;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::string path = parent_ + "/" + name_ + "-XXXXXX";
        if (mkdtemp(path.data()) == nullptr) {
            claim.error = errno;
            return claim;
        }
        lock_ = open_locked(path, LOCK_SH);
        claim.error = lock_ == -1 ? errno : 0;
        struct stat status = {};
        if (lock_ != -1 && fstat(lock_, &status) == 0) {
            name_ = path.substr(parent_.size() + 1);
            claim.device = status.st_dev;
            claim.inode = status.st_ino;
            std::snprintf(claim.name, sizeof claim.name, "%s", name_.c_str());
            return claim;
        }
        rmdir(path.c_str());
        if (is_descriptor_limit(claim.error)) return claim;
    }
    return claim;
}

int GroupEstate::take(const Claim& claim) {
    lock_ = open_locked(parent_ + "/" + claim.name, LOCK_SH);
    if (lock_ == -1) return errno;
    struct stat status = {};
    if (fstat(lock_, &status) == 0 && status.st_dev == claim.device && status.st_ino == claim.inode) {
        name_ = claim.name;
        return 0;
    }
    close(std::exchange(lock_, -1));
    return ENOENT;
}

void GroupEstate::remove() {
    if (lock_ != -1 && remove_groups(places_, name_, Patience::one_second)) rmdir((parent_ + "/" + name_).c_str());
}

void sweep_dead_groups(const std::string& parent, const std::vector<std::string>& places) {
    for (const std::string& name : directories_in(parent)) {
        if (!bears_lock(name)) continue;
        const int lock = open_locked(parent + "/" + name, LOCK_EX);
        if (lock == -1) continue;
        if (remove_groups(places, name, Patience::none)) rmdir((parent + "/" + name).c_str());
        close(lock);
    }
}

}  // namespace probe
