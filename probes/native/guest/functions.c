// A plugin of QEMU's emulator: counts each executed instruction by its address between the two marks that the guest
// (init.c) executes around a program.
//
// QEMU hands its plugins a header that Debian packages from QEMU 8 on only. What is used of it stands here, as QEMU 6
// to 8 have it (API version 1, include/qemu/qemu-plugin.h); QEMU 9 refuses a plugin of version 1 and says so.
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
enum { NO_REGISTERS = 0, INLINE_ADD = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn, void (*call)(unsigned, void*), int flags,
                                            void* data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* insn, int op, void* ptr, uint64_t imm);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn* insn);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc,
                                                               char** argv);

static const unsigned char mark[] = {0x0f, 0x1f, 0x84, 0x00, 0x43, 0x4f, 0x53, 0x54};

// Counters by address, open addressing. The emulated machine has one CPU, so nobody counts beside it. The table never
// grows: code that was translated points into it. A kernel's start executes some 300,000 different instructions.
enum { PLACES = 1 << 22 };
struct counter {
    uint64_t address;
    uint64_t count;
};
static struct counter* counters;
static bool full;
static bool inside;

static struct counter* counter_of(uint64_t address) {
    uint64_t place = (address * 0x9E3779B97F4A7C15U) >> 42;
    for (int tries = 0; tries < 4096; ++tries, place = (place + 1) % PLACES) {
        if (counters[place].address == address || counters[place].address == 0) {
            counters[place].address = address;
            return &counters[place];
        }
    }
    full = true;
    return &counters[PLACES];
}

static char said[1 << 16];
static size_t length;

// The emulator has made its standard output non-blocking, so that stdio would lose what a full pipe does not take.
static void say(void) {
    for (size_t written = 0; written < length;) {
        const ssize_t count = write(STDOUT_FILENO, said + written, length - written);
        if (count > 0) {
            written += (size_t)count;
        } else if (errno == EAGAIN || errno == EINTR) {
            struct pollfd room = {STDOUT_FILENO, POLLOUT, 0};
            poll(&room, 1, -1);
        } else {
            break;
        }
    }
    length = 0;
}

static void at_mark(unsigned cpu, void* data) {
    (void)cpu;
    (void)data;
    for (size_t place = 0; place <= PLACES; ++place) {
        if (inside && counters[place].count != 0) {
            length += (size_t)snprintf(said + length, sizeof said - length, "@i %" PRIx64 " %" PRIu64 "\n",
                                       counters[place].address, counters[place].count);
            if (length > sizeof said - 64) {
                say();
            }
        }
        counters[place].count = 0;
    }
    if (full) {
        length += (size_t)snprintf(said + length, sizeof said - length, "@no counters: too many instructions\n");
    }
    say();
    inside = !inside;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, i);
        struct counter* const counter = counter_of(qemu_plugin_insn_vaddr(insn));
        qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD, &counter->count, 1);
        if (qemu_plugin_insn_size(insn) == sizeof mark && memcmp(qemu_plugin_insn_data(insn), mark, sizeof mark) == 0) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_mark, NO_REGISTERS, NULL);
        }
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int argc, char** argv) {
    (void)info;
    (void)argc;
    (void)argv;
    counters = calloc(PLACES + 1, sizeof *counters);
    if (counters == NULL) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
