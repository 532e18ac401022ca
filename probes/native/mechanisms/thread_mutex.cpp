// thread/mutex: threads that want one lock, of the kinds that C and C++ programs use.
#include <pthread.h>

#include <mutex>

#include "kit/experiments/contend.h"

namespace probe {
namespace {

template <int type>
class PthreadMutex {
public:
    PthreadMutex() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, type);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_;
};

std::unique_ptr<Workload> make(const Plan& plan, Mode) {
    const std::string& lock = plan.text("lock");
    if (lock == "adaptive") {
#ifdef __GLIBC__
        return std::make_unique<Contend<PthreadMutex<PTHREAD_MUTEX_ADAPTIVE_NP>>>(plan);
#else
        throw unsupported("unsupported_here", "lock=adaptive: this C library has no mutex that spins (glibc has)");
#endif
    }
    if (lock == "std") return std::make_unique<Contend<std::mutex>>(plan);
    return std::make_unique<Contend<PthreadMutex<PTHREAD_MUTEX_NORMAL>>>(plan);
}

}  // namespace

extern const Entry thread_mutex{
    "thread/mutex",
    Shape::tasks,
    {"contend"},
    {sched_parameter(), {"hold", {}}, {"lock", {"pthread", "adaptive", "std"}}, {"think", {}}},
    &make};

}  // namespace probe
