#include "kit/containers/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "kit/os/limits.h"

namespace probe {
namespace {

const std::string group_name = "switchcost-";

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

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// switchcost-PID-RANDOM
bool bears_lock(std::string_view name) {
    if (!name.starts_with(group_name)) return false;
    name.remove_prefix(group_name.size());
    const std::size_t dash = name.find('-');
    return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
           are_random_letters(name.substr(dash + 1));
}

// A group that this user's probe made, locked; closed: errno says why. Whoever removed the group may have done so
// between its opening and its locking, hence the last look at its name.
Descriptor open_locked(const std::string& path, int how) {
    Descriptor group(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat opened = {}, named = {};
    if (!group.is_open() || fstat(group.get(), &opened) != 0) return {};
    errno = EPERM;
    if (opened.st_uid != geteuid() || (opened.st_mode & 07777) != 0700) return {};
    if (flock(group.get(), how | LOCK_NB) != 0 || lstat(path.c_str(), &named) != 0) return {};
    errno = ENOENT;
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino ? std::move(group) : Descriptor();
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
            if (!name.starts_with(begin) || !is_number(name.substr(begin.size()))) continue;
            all = remove_tree(place + "/" + name, patience) && all;
        }
    }
    return all;
}

bool are_random_letters(std::string_view text) {
    constexpr const char* alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return text.size() == 6 && text.find_first_not_of(alphabet) == std::string_view::npos;
}

void ProbeGroups::set_parent(std::string parent, std::vector<std::string> places) {
    parent_ = std::move(parent);
    places_ = std::move(places);
    name_ = group_name + std::to_string(getpid());
}

// A sweep may take the group for a dead one's before it is locked; then there is another.
ResourceId ProbeGroups::make() {
    constexpr int attempts = 100;
    ResourceId id;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::string path = parent_ + "/" + name_ + "-XXXXXX";
        if (mkdtemp(path.data()) == nullptr) {
            id.error = errno;
            return id;
        }
        lock_ = open_locked(path, LOCK_SH);
        id.error = errno;
        if (lock_.is_open()) {
            name_ = path.substr(parent_.size() + 1);
            return resource_id(lock_.get(), name_);
        }
        rmdir(path.c_str());
        if (is_descriptor_limit(id.error)) return id;
    }
    return id;
}

int ProbeGroups::open(const ResourceId& id) {
    lock_ = open_locked(parent_ + "/" + id.name, LOCK_SH);
    if (!lock_.is_open()) return errno;
    if (id.is(lock_.get())) {
        name_ = id.name;
        return 0;
    }
    lock_.reset();
    return ENOENT;
}

void ProbeGroups::remove() {
    if (lock_.is_open() && remove_groups(places_, name_, Patience::one_second)) rmdir((parent_ + "/" + name_).c_str());
}

void sweep_dead_groups(const std::string& parent, const std::vector<std::string>& places) {
    for (const std::string& name : directories_in(parent)) {
        if (!bears_lock(name)) continue;
        const std::string path = parent + "/" + name;
        const Descriptor lock = open_locked(path, LOCK_EX);
        if (lock.is_open() && remove_groups(places, name, Patience::none)) rmdir(path.c_str());
    }
}

}  // namespace probe
