// A process that outlives everybody else in the probe, SIGKILL of the whole process group included, and then removes
// what the probe made outside of its own memory.
#pragma once

#include <sys/types.h>

#include <string>

#include "kit/os/descriptor.h"

namespace probe {

// Which file or group a resource is: told by the guardian, who makes it, to the launcher.
struct ResourceId {
    int error = 0;  // errno; 0: made
    dev_t device = 0;
    ino_t inode = 0;
    char name[64] = "";

    bool is(int fd) const;  // open under this descriptor
};

// Of what is open under `fd` and has this name; with `error` where that cannot be known.
ResourceId resource_id(int fd, const std::string& name);

// Something with an unpredictable name that bears a lock. As long as any process of the probe lives, guardian included,
// the lock is held: so a sweep knows the dead from the living, which ids of processes would not tell it of another pid
// namespace.
class GuardedResource {
public:
    virtual ~GuardedResource() = default;

    virtual ResourceId make() = 0;               // in the guardian
    virtual int open(const ResourceId& id) = 0;  // in the launcher: also holds the lock; errno, 0: opened
    virtual void remove() = 0;  // in both, the guardian first; nothing to do where nothing was made or opened
};

// In a process group of its own, so that the end of the probe's group does not end it. It makes the resource, so that
// there is no moment at which a SIGKILL would leave that behind. It holds one end of a pair of sockets whose other end,
// the lifeline, all processes of the probe inherit: end of file says that all are gone, and it removes the resource and
// ends.
class Guardian {
public:
    Guardian() = default;
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;
    ~Guardian() { finish(); }

    int start(GuardedResource& resource);             // errno of making it, 0: made; throws Failure
    void finish();                                    // once every other process of the probe has been reaped
    void forget() { id_ = 0; }                        // in a container: the guardian is not its child
    int lifeline() const { return lifeline_.get(); }  // while anybody holds it, the guardian waits; -1: there is none

private:
    pid_t id_ = 0;
    Descriptor lifeline_;
    GuardedResource* resource_ = nullptr;
};

}  // namespace probe
