// What a probe needs and Lua's standard library lacks: a monotonic clock of nanoseconds (os.clock counts CPU time in
// microseconds), the CPU it runs on, the kernel's counts, and rulers. A module, so that the interpreter is the one that
// users have, and no program around a library. Of the measured region nothing is here but the reading of the clock.
#define _GNU_SOURCE
#include <lauxlib.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int64_t ns_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// The clock begins when the module is loaded: a number of LuaJIT holds 104 days of nanoseconds exactly.
static int64_t loaded;

// now() -> ns of CLOCK_MONOTONIC
static int now(lua_State* lua) {
    lua_pushinteger(lua, ns_of(CLOCK_MONOTONIC) - loaded);
    return 1;
}

// rulers() -> ns of the chain: steps that each wait for the one before, so that only the clock's rate changes it; and
// of the width: steps of which a core takes several per cycle, and a neighbour on the core its share of them. The clock
// is read here, because between two calls from Lua lies work of the interpreter.
static int rulers(lua_State* lua) {
    uint64_t value = 1, a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    const int64_t begin = ns_of(CLOCK_MONOTONIC);
    for (int step = 0; step < 512; ++step) {
        value = value * 6364136223846793005U + 1442695040888963407U;
        __asm__ volatile("" : "+r"(value));
    }
    const int64_t chain = ns_of(CLOCK_MONOTONIC);
    for (int step = 0; step < 512; ++step) {
        ++a, ++b, ++c, ++d, ++e, ++f;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
    lua_pushinteger(lua, chain - begin);
    lua_pushinteger(lua, ns_of(CLOCK_MONOTONIC) - chain);
    return 2;
}

// cpu() -> the CPU it runs on
static int cpu(lua_State* lua) {
    lua_pushinteger(lua, sched_getcpu());
    return 1;
}

// usage() -> of the process so far: voluntary and involuntary switches, minor and major page faults, ns of CPU time
static int usage(lua_State* lua) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const long counts[] = {used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, used.ru_majflt};
    for (int i = 0; i < 4; ++i) lua_pushinteger(lua, counts[i]);
    lua_pushinteger(lua, ns_of(CLOCK_PROCESS_CPUTIME_ID));
    return 5;
}

int luaopen_machine(lua_State* lua) {
    static const luaL_Reg functions[] = {{"now", now}, {"rulers", rulers}, {"cpu", cpu}, {"usage", usage}, {0}};
    loaded = ns_of(CLOCK_MONOTONIC);
    luaL_newlib(lua, functions);
    lua_pushinteger(lua, getpid());
    lua_setfield(lua, -2, "pid");
    lua_pushliteral(lua, LUA_RELEASE);
    lua_setfield(lua, -2, "release");
    return 1;
}
