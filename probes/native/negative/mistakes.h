// Mechanisms that do something else than they claim, with the kit's evidence as it is: what the chain from evidence to
// verdict must find.
#pragma once

#include "kit/plan/mechanism.h"

namespace probe {

extern const Entry clipped_lateness;       // thread/timer: tells no latency above a tenth of the period
extern const Entry clone_vm;               // process/pipe: processes that share their memory
extern const Entry doubled_contexts;       // stack/asm: each stack is two contexts
extern const Entry from_wake_before;       // thread/timer: a latency counts from the wake-up before
extern const Entry half_gap;               // thread/futex, gap: waits for half of each gap
extern const Entry half_spun;              // thread/futex: every second switch is waited for by spinning
extern const Entry invented_lateness;      // thread/timer: tells one latency of ten periods that nobody had
extern const Entry other_class;            // thread/timer: goes back to the usual class
extern const Entry no_wall;                // sandbox/pipe: no filter of system calls
extern const Entry one_cpu;                // thread/futex: all contexts on the first of the CPUs
extern const Entry processes_for_threads;  // thread/pipe: the contexts are processes
extern const Entry resolved_handle;        // coroutine/cpp20: the compiler knows whom it resumes
extern const Entry skipped_periods;        // thread/timer: times that were missed are not waited for
extern const Entry skipped_switch;         // stack/asm: one switch in eight is left out
extern const Entry spun_timer;             // thread/timer: spins until the time has come
extern const Entry stopped_hogs;           // thread/timer: stops the hogs
extern const Entry two_of_many;            // process/pipe: two processes are all the contexts
extern const Entry undone_work;            // thread/server: what the work comes to, without the work
extern const Entry unasked_epoll;          // thread/epoll-eventfd: waits in a read of the counter
extern const Entry unpolled_ring;          // thread/io-uring-sqpoll: calls submit, and nobody polls

}  // namespace probe
