// A process that outlives everybody else in the probe, SIGKILL of the whole process group included, and then removes
// what the probe made outside of its own memory.
#pragma once

#include <sys/types.h>

namespace probe {

// What an estate was made as: said by the guardian, who makes it, to the launcher.
struct Claim {
    int error = 0;  // errno; 0: made
    dev_t device = 0;
    ino_t inode = 0;
    char name[64] = "";
};

// Something with an unpredictable name that bears a lock. As long as any process of the probe lives, guardian included,
// the lock is held: so a sweep knows the dead from the living, which ids of processes would not tell it of another pid
// namespace.
class Estate {
public:
    virtual ~Estate() = default;

    virtual Claim make() = 0;                  // in the guardian
    virtual int take(const Claim& claim) = 0;  // in the launcher: holds the lock, too; errno, 0: taken
    virtual void remove() = 0;  // in both, the guardian first; nothing to do where nothing was made or taken
};

// In a process group of its own, so that the end of the probe's group does not end it. It makes the estate, so that
// there is no moment at which a SIGKILL would leave that behind. It holds one end of a pair of sockets whose other end
// all processes of the probe inherit: end of file says that all are gone, and it removes the estate and ends.
class Guardian {
public:
    Guardian() = default;
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;
    ~Guardian() { finish(); }

    int start(Estate& estate);                // errno of making the estate, 0: made; throws Failure
    void finish();                            // once every other process of the probe has been reaped
    void forget() { id_ = 0; }                // in a container: the guardian is not its child
    int witness() const { return witness_; }  // while anybody holds it, the guardian waits; -1: there is none

private:
    pid_t id_ = 0;
    int witness_ = -1;
    Estate* estate_ = nullptr;
};

}  // namespace probe
