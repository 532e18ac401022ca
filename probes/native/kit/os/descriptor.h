// A file descriptor that is closed at the end of its scope.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace probe {

// Closing leaves errno as it was: it says why the descriptor is given up.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset();
        fd_ = other.release();
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return fd_; }
    bool is_open() const { return fd_ != -1; }
    int release() { return std::exchange(fd_, -1); }
    void reset() {
        if (!is_open()) return;
        const int error = errno;
        close(release());
        errno = error;
    }

private:
    int fd_ = -1;
};

}  // namespace probe
