#include "folder_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "kit/containers/sweep.h"

namespace probe {
namespace {

std::vector<std::string> names_in(int directory) {
    std::vector<std::string> result;
    Descriptor again = open_directory(directory, ".");
    DIR* stream = again.is_open() ? fdopendir(again.get()) : nullptr;
    if (stream == nullptr) return result;
    again.release();  // the stream's
    while (const dirent* entry = readdir(stream)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") result.push_back(name);
    }
    closedir(stream);
    return result;
}

bool is_folder_name(std::string_view name) {
    return name.starts_with(folder_prefix) && are_random_letters(name.substr(folder_prefix.size()));
}

bool remove_contents(int directory, const std::string& spared) {
    bool all = true;
    for (const std::string& name : names_in(directory)) {
        if (name == spared || unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) continue;
        if (unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) continue;
        if (const Descriptor below = open_directory(directory, name.c_str()); below.is_open())
            remove_contents(below.get(), "");
        all = unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0 && all;
    }
    return all;
}

}  // namespace

Descriptor open_directory(int above, const char* name) {
    open_how how = {};
    how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
    return Descriptor(static_cast<int>(syscall(SYS_openat2, above, name, &how, sizeof how)));
}

Descriptor lock_folder(int directory, int how) {
    struct stat folder = {}, file = {};
    if (fstat(directory, &folder) != 0) return {};
    errno = EPERM;
    if (folder.st_uid != geteuid() || (folder.st_mode & 07777) != 0700) return {};
    Descriptor lock(openat(directory, lock_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!lock.is_open() || fstat(lock.get(), &file) != 0) return {};
    errno = EPERM;
    if (!S_ISREG(file.st_mode) || file.st_uid != geteuid()) return {};
    if (flock(lock.get(), how | LOCK_NB) != 0 || fstat(lock.get(), &file) != 0) return {};
    errno = ENOENT;  // somebody has removed it since
    return file.st_nlink == 1 ? std::move(lock) : Descriptor();
}

void release_fifos(int directory) {
    for (const std::string& name : names_in(directory)) {
        struct stat status = {};
        if (fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISFIFO(status.st_mode))
            Descriptor(openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)).reset();
        if (!S_ISDIR(status.st_mode)) continue;
        if (const Descriptor below = open_directory(directory, name.c_str()); below.is_open())
            release_fifos(below.get());
    }
}

bool remove_folder(int directory, const std::string& path) {
    if (!remove_contents(directory, lock_name)) return false;
    unlinkat(directory, lock_name, 0);
    struct stat named = {};
    const ResourceId own = resource_id(directory, "");
    if (lstat(path.c_str(), &named) != 0 || own.device != named.st_dev || own.inode != named.st_ino) return true;
    return rmdir(path.c_str()) == 0;
}

void sweep_dead_folders(const std::string& parent, const std::vector<std::string>& group_places) {
    const Descriptor above(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!above.is_open()) return;
    for (const std::string& name : names_in(above.get())) {
        if (!is_folder_name(name)) continue;
        const Descriptor directory = open_directory(above.get(), name.c_str());
        if (!directory.is_open()) continue;
        const Descriptor lock = lock_folder(directory.get(), LOCK_EX);
        if (!lock.is_open()) continue;
        release_fifos(directory.get());
        if (remove_groups(group_places, name, Patience::one_second))
            remove_folder(directory.get(), parent + "/" + name);
    }
}

}  // namespace probe
