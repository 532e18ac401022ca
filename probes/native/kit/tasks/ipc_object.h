// An object of System V, which outlives its processes unless somebody removes it: a guardian does.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "kit/plan/failure.h"
#include "kit/tasks/guardian.h"

namespace probe {

// Kind says how it is made and removed:  static int make(std::uint32_t contexts), -1: errno;  static void remove(int).
template <class Kind>
class IpcObject final : GuardedResource {
public:
    explicit IpcObject(std::uint32_t contexts) : contexts_(contexts) {
        const int error = guardian_.start(*this);
        if (error == 0) return;
        throw unsupported(error == ENOSPC || error == EINVAL ? "limit_reached" : "unsupported_here",
                          std::string("System V's objects cannot be had here (") + std::strerror(error) +
                              "); see kernel.sem and kernel.msgmni, and the session's filter (seccomp)",
                          error);
    }
    int id() const { return id_; }

private:
    ResourceId make() override {
        id_ = Kind::make(contexts_);
        ResourceId made;
        if (id_ == -1) made.error = errno;
        made.inode = static_cast<ino_t>(id_);
        return made;
    }
    int open(const ResourceId& made) override {
        id_ = static_cast<int>(made.inode);
        return 0;
    }
    void remove() override {
        if (id_ != -1) Kind::remove(id_);
    }

    std::uint32_t contexts_;
    int id_ = -1;
    Guardian guardian_;
};

}  // namespace probe
