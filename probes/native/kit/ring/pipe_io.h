// Whole messages through a pipe: a write or read may stop half-way, at a signal or at the pipe's capacity.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace probe {

// False: the other end is gone.
inline bool write_rest(int fd, const char* data, std::size_t size, std::size_t done) {
    while (done < size) {
        const ssize_t moved = write(fd, data + done, size - done);
        if (moved > 0) {
            done += static_cast<std::size_t>(moved);
        } else if (moved == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

inline bool read_rest(int fd, char* data, std::size_t size, std::size_t done) {
    while (done < size) {
        const ssize_t moved = read(fd, data + done, size - done);
        if (moved > 0) {
            done += static_cast<std::size_t>(moved);
        } else if (moved == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

// The usual case is one call and one compare.
[[gnu::always_inline]] inline bool write_whole(int fd, const void* data, std::size_t size) {
    const ssize_t moved = write(fd, data, size);
    if (moved == static_cast<ssize_t>(size)) [[likely]]
        return true;
    return write_rest(fd, static_cast<const char*>(data), size, moved > 0 ? static_cast<std::size_t>(moved) : 0);
}

[[gnu::always_inline]] inline bool read_whole(int fd, void* data, std::size_t size) {
    const ssize_t moved = read(fd, data, size);
    if (moved == static_cast<ssize_t>(size)) [[likely]]
        return true;
    return read_rest(fd, static_cast<char*>(data), size, moved > 0 ? static_cast<std::size_t>(moved) : 0);
}

}  // namespace probe
