// Every special instruction of x86-64 that the probe uses, one named inline function each. Another architecture is
// another file with the same names; kit/os/arch.h chooses.
#pragma once

#include <cpuid.h>

#include <cstddef>
#include <cstdint>

namespace probe::arch {

inline constexpr const char* counter_name = "tsc, lfence;rdtsc before a switch and rdtscp;lfence after it";

// Reads the cycle counter before a switch. `lfence` holds the read back until everything before it (the recording of
// the last interval) has completed, so that none of it is charged to the switch. No fence after it: what follows is the
// switch itself.
[[gnu::always_inline]] inline std::uint64_t counter_before() {
    std::uint32_t low, high;
    asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (std::uint64_t{high} << 32) | low;
}

// Reads the cycle counter after a switch. `rdtscp` waits until everything before it has executed, which is what "the
// partner runs" means; `lfence` keeps the recording behind it from starting early. It clobbers ecx with the number of
// the CPU.
[[gnu::always_inline]] inline std::uint64_t counter_after() {
    std::uint32_t low, high;
    asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
    return (std::uint64_t{high} << 32) | low;
}

// Reads the cycle counter with no fence at all, as many benchmarks do: what stands before may still be under way, and
// what stands after may have begun. Only for showing what that does to a figure (parameter reads=bare).
[[gnu::always_inline]] inline std::uint64_t counter_bare() {
    std::uint32_t low, high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (std::uint64_t{high} << 32) | low;
}

// Asks valgrind, if this runs under it, for what `request` is (valgrind.h: the client request mechanism). A CPU does
// nothing here: the rotations of rdi add up to 128 bits.
[[gnu::noinline]] inline void ask_valgrind(std::uint64_t request) {
    const std::uint64_t arguments[6] = {request};
    std::uint64_t answer = 0;
    asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                 : "+d"(answer)
                 : "a"(&arguments[0])
                 : "cc", "memory");
}

// Tells the CPU that this is a loop which waits for another CPU's store.
[[gnu::always_inline]] inline void spin_pause() { asm volatile("pause"); }

// A cycle, in one of rax, rbx, rcx, rdx: `lea` from rbp or r13, which a compiler may choose, takes an offset and two
// cycles (EPYC; more on older Xeons).
[[gnu::always_inline]] inline std::uint64_t times_three(std::uint64_t value) {
    asm volatile("leaq (%0,%0,2), %0" : "+Q"(value));
    return value;
}

// A 32-bit word of the calling thread's own memory, `offset` bytes from its thread pointer. Read anew each time.
[[gnu::always_inline]] inline std::uint32_t word_of_thread(std::ptrdiff_t offset) {
    std::uint32_t word;
    asm volatile("movl %%fs:(%1), %0" : "=r"(word) : "r"(offset));
    return word;
}

// MXCSR with all exceptions masked and no sticky flag, the state in which Linux starts every program.
inline constexpr std::uint32_t mxcsr_clean = 0x1f80;
// The same after one inexact result: what any program has after its first division.
inline constexpr std::uint32_t mxcsr_inexact = 0x1fa0;

inline void load_mxcsr(std::uint32_t value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

inline std::uint32_t store_mxcsr() {
    std::uint32_t value = 0;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
}

// The x87 control word of the System V ABI at process start: 64-bit mantissa, everything masked.
inline void load_default_x87_control_word() {
    const std::uint16_t value = 0x037f;
    asm volatile("fldcw %0" : : "m"(value));
}

// What Boost.Context's jump saves and loads: MXCSR and the x87 control word. Nothing changes.
[[gnu::always_inline]] inline void save_and_load_fpu_control() {
    std::uint32_t mxcsr;
    std::uint16_t control;
    asm volatile("stmxcsr %0\n\tfnstcw %1\n\tldmxcsr %0\n\tfldcw %1" : "=m"(mxcsr), "=m"(control));
}

// What glibc's swapcontext saves and loads: MXCSR and the whole x87 environment (28 bytes). `fnstenv` masks all
// exceptions, `fldenv` loads the masks that were.
[[gnu::always_inline]] inline void save_and_load_fpu_environment() {
    std::uint32_t mxcsr;
    char environment[28];
    asm volatile("fnstenv %1\n\tstmxcsr %0\n\tfldenv %1\n\tldmxcsr %0" : "=m"(mxcsr), "=m"(environment));
}

// State of the vector registers that a task may leave behind, by the name of the extension. The bits are those of XCR0
// (Intel SDM, volume 1, 13.1).
struct VectorState {
    const char* name;
    std::uint64_t bits;
    bool (*is_here)();
    void (*dirty)();  // all ones into every register; no value of the caller's is lost
};

[[gnu::noinline]] inline void dirty_sse() {
    asm volatile(
        "pcmpeqd %%xmm0, %%xmm0\n\tpcmpeqd %%xmm1, %%xmm1\n\tpcmpeqd %%xmm2, %%xmm2\n\tpcmpeqd %%xmm3, %%xmm3\n\t"
        "pcmpeqd %%xmm4, %%xmm4\n\tpcmpeqd %%xmm5, %%xmm5\n\tpcmpeqd %%xmm6, %%xmm6\n\tpcmpeqd %%xmm7, %%xmm7\n\t"
        "pcmpeqd %%xmm8, %%xmm8\n\tpcmpeqd %%xmm9, %%xmm9\n\tpcmpeqd %%xmm10, %%xmm10\n\tpcmpeqd %%xmm11, %%xmm11\n\t"
        "pcmpeqd %%xmm12, %%xmm12\n\tpcmpeqd %%xmm13, %%xmm13\n\tpcmpeqd %%xmm14, %%xmm14\n\tpcmpeqd %%xmm15, "
        "%%xmm15\n\t"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15");
}

[[gnu::noinline]] inline void dirty_avx() {
    asm volatile(
        "vcmpps $15, %%ymm0, %%ymm0, %%ymm0\n\tvcmpps $15, %%ymm1, %%ymm1, %%ymm1\n\t"
        "vcmpps $15, %%ymm2, %%ymm2, %%ymm2\n\tvcmpps $15, %%ymm3, %%ymm3, %%ymm3\n\t"
        "vcmpps $15, %%ymm4, %%ymm4, %%ymm4\n\tvcmpps $15, %%ymm5, %%ymm5, %%ymm5\n\t"
        "vcmpps $15, %%ymm6, %%ymm6, %%ymm6\n\tvcmpps $15, %%ymm7, %%ymm7, %%ymm7\n\t"
        "vcmpps $15, %%ymm8, %%ymm8, %%ymm8\n\tvcmpps $15, %%ymm9, %%ymm9, %%ymm9\n\t"
        "vcmpps $15, %%ymm10, %%ymm10, %%ymm10\n\tvcmpps $15, %%ymm11, %%ymm11, %%ymm11\n\t"
        "vcmpps $15, %%ymm12, %%ymm12, %%ymm12\n\tvcmpps $15, %%ymm13, %%ymm13, %%ymm13\n\t"
        "vcmpps $15, %%ymm14, %%ymm14, %%ymm14\n\tvcmpps $15, %%ymm15, %%ymm15, %%ymm15\n\t"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15");
}

// Registers 16 to 31 are nobody's: this is compiled for CPUs that lack them.
[[gnu::noinline]] inline void dirty_avx512() {
    asm volatile(
        "vpternlogd $255, %%zmm0, %%zmm0, %%zmm0\n\tvpternlogd $255, %%zmm1, %%zmm1, %%zmm1\n\t"
        "vpternlogd $255, %%zmm2, %%zmm2, %%zmm2\n\tvpternlogd $255, %%zmm3, %%zmm3, %%zmm3\n\t"
        "vpternlogd $255, %%zmm4, %%zmm4, %%zmm4\n\tvpternlogd $255, %%zmm5, %%zmm5, %%zmm5\n\t"
        "vpternlogd $255, %%zmm6, %%zmm6, %%zmm6\n\tvpternlogd $255, %%zmm7, %%zmm7, %%zmm7\n\t"
        "vpternlogd $255, %%zmm8, %%zmm8, %%zmm8\n\tvpternlogd $255, %%zmm9, %%zmm9, %%zmm9\n\t"
        "vpternlogd $255, %%zmm10, %%zmm10, %%zmm10\n\tvpternlogd $255, %%zmm11, %%zmm11, %%zmm11\n\t"
        "vpternlogd $255, %%zmm12, %%zmm12, %%zmm12\n\tvpternlogd $255, %%zmm13, %%zmm13, %%zmm13\n\t"
        "vpternlogd $255, %%zmm14, %%zmm14, %%zmm14\n\tvpternlogd $255, %%zmm15, %%zmm15, %%zmm15\n\t"
        "vpternlogd $255, %%zmm16, %%zmm16, %%zmm16\n\tvpternlogd $255, %%zmm17, %%zmm17, %%zmm17\n\t"
        "vpternlogd $255, %%zmm18, %%zmm18, %%zmm18\n\tvpternlogd $255, %%zmm19, %%zmm19, %%zmm19\n\t"
        "vpternlogd $255, %%zmm20, %%zmm20, %%zmm20\n\tvpternlogd $255, %%zmm21, %%zmm21, %%zmm21\n\t"
        "vpternlogd $255, %%zmm22, %%zmm22, %%zmm22\n\tvpternlogd $255, %%zmm23, %%zmm23, %%zmm23\n\t"
        "vpternlogd $255, %%zmm24, %%zmm24, %%zmm24\n\tvpternlogd $255, %%zmm25, %%zmm25, %%zmm25\n\t"
        "vpternlogd $255, %%zmm26, %%zmm26, %%zmm26\n\tvpternlogd $255, %%zmm27, %%zmm27, %%zmm27\n\t"
        "vpternlogd $255, %%zmm28, %%zmm28, %%zmm28\n\tvpternlogd $255, %%zmm29, %%zmm29, %%zmm29\n\t"
        "vpternlogd $255, %%zmm30, %%zmm30, %%zmm30\n\tvpternlogd $255, %%zmm31, %%zmm31, %%zmm31\n\t"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15");
}

// Whether the system saves this state (XCR0). By hand: what compilers have for it needs a library that zig's lacks.
inline bool is_saved(unsigned state) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
    asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & state) == state;
}
inline bool has_avx() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AVX) != 0 && is_saved(0x06);
}
inline bool has_avx512() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX512F) != 0 && is_saved(0xe6);
}

inline constexpr VectorState vector_states[] = {
    {"sse", 0x02, [] { return true; }, &dirty_sse},
    {"avx", 0x04, &has_avx, &dirty_avx},
    {"avx512", 0xe0, &has_avx512, &dirty_avx512},
};

// Which of that state is in use (XINUSE); 0 where the CPU does not say.
inline std::uint64_t vector_state_in_use() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d) == 0 || (a & 4) == 0) return 0;
    asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return a;
}

}  // namespace probe::arch
