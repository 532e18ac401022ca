#include "folder_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include "kit/containers/sweep.h"

namespace probe {
namespace {

std::vector<std::string> names_in(int directory) {
    std::vector<std::string> result;
    const int again = open_directory(directory, ".");
    DIR* stream = again == -1 ? nullptr : fdopendir(again);
    if (stream == nullptr) {
        if (again != -1) close(again);
        return result;
    }
    while (const dirent* entry = readdir(stream)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") result.push_back(name);
    }
    closedir(stream);
    return result;
}

bool is_folder_name(const std::string& name) {
    constexpr std::size_t random_letters = 6;
    constexpr const char* alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return name.size() == folder_prefix.size() + random_letters && name.rfind(folder_prefix, 0) == 0 &&
           name.find_first_not_of(alphabet, folder_prefix.size()) == std::string::npos;
}

bool remove_contents(int directory, const std::string& spared) {
    bool all = true;
    for (const std::string& name : names_in(directory)) {
        if (name == spared || unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) continue;
        if (unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) continue;
        const int below = open_directory(directory, name.c_str());
        if (below != -1) {
            remove_contents(below, "");
            close(below);
        }
        all = unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0 && all;
    }
    return all;
}

}  // namespace

int open_directory(int above, const char* name) {
    open_how how = {};
    how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
    return static_cast<int>(syscall(SYS_openat2, above, name, &how, sizeof how));
}

int lock_folder(int directory, int how) {
    struct stat folder = {}, file = {};
    if (fstat(directory, &folder) != 0) return -1;
    errno = EPERM;
    if (folder.st_uid != geteuid() || (folder.st_mode & 07777) != 0700) return -1;
    const int lock = openat(directory, lock_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (lock == -1) return -1;
    int error = 0;
    if (fstat(lock, &file) != 0) {
        error = errno;
    } else if (!S_ISREG(file.st_mode) || file.st_uid != geteuid()) {
        error = EPERM;
    } else if (flock(lock, how | LOCK_NB) != 0 || fstat(lock, &file) != 0) {
        error = errno;
    } else if (file.st_nlink != 1) {  // somebody has removed it since
        error = ENOENT;
    }
    if (error == 0) return lock;
    close(lock);
    errno = error;
    return -1;
}

void release_fifos(int directory) {
    for (const std::string& name : names_in(directory)) {
        struct stat status = {};
        if (fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        int opened = -1;
        if (S_ISFIFO(status.st_mode))
            opened = openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        if (S_ISDIR(status.st_mode)) opened = open_directory(directory, name.c_str());
        if (opened == -1) continue;
        if (S_ISDIR(status.st_mode)) release_fifos(opened);
        close(opened);
    }
}

bool remove_folder(int directory, const std::string& path) {
    if (!remove_contents(directory, lock_name)) return false;
    unlinkat(directory, lock_name, 0);
    struct stat own = {}, named = {};
    if (fstat(directory, &own) != 0 || lstat(path.c_str(), &named) != 0) return true;
    if (own.st_dev != named.st_dev || own.st_ino != named.st_ino) return true;
    return rmdir(path.c_str()) == 0;
}

void sweep_dead_folders(const std::string& parent, const std::vector<std::string>& group_places) {
    const int above = open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above == -1) return;
    for (const std::string& name : names_in(above)) {
        if (!is_folder_name(name)) continue;
        const int directory = open_directory(above, name.c_str());
        if (directory == -1) continue;
        const int lock = lock_folder(directory, LOCK_EX);
        if (lock != -1) {
            release_fifos(directory);
            if (remove_groups(group_places, name, Patience::one_second)) remove_folder(directory, parent + "/" + name);
            close(lock);
        }
        close(directory);
    }
    close(above);
}

}  // namespace probe
