// The first process of a virtual machine in which `switchcost kernels` counts: it says what the kernel is, waits until
// the kernel has nothing else to do, carries out the lines of /plan, and ends the machine. Whatever it says begins with
// '@' on a line of its own; what the probe says follows its line.
//
//   set NAME=VALUE, set VALUE
//       write VALUE into a setting of the scheduler, or into its features, and show what it says then; refused:
//       @no PATH=VALUE: reason
//   set sched_ext
//       give all ordinary tasks to the smallest scheduler of sched_ext, and show at the end which one they have
//   symbols
//       the kernel's functions, as `@symbol ADDRESS NAME`
//   run TAG DEPTH PROGRAM WORD...
//       start a program in a control group DEPTH levels below the root, between two marks
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "sched_ext.h"

// The emulator's plugin knows this instruction, which does nothing, by its bytes. What was said before it has left the
// serial line.
static void mark(void) {
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x43, 0x4f, 0x53, 0x54");  // nopl 0x54534f43(%rax,%rax)
}

// Writes a value into a file of the kernel.
static void put(const char* path, const char* value) {
    const int file = open(path, O_WRONLY);
    if (file < 0 || write(file, value, strlen(value)) < 0) {
        printf("\n@no %s=%s: %s\n", path, value, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
}

// What a file of one line says; nothing if the kernel has no such file.
static void show(const char* name, const char* path) {
    char text[4096];
    FILE* const file = fopen(path, "r");
    if (file == NULL) {
        return;
    }
    if (fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "\n")] = 0;
        printf("\n@%s %s\n", name, text);
    }
    fclose(file);
}

// The note NT_GNU_BUILD_ID of /sys/kernel/notes: lengths of name and content, type, name, content, the last two padded
// to 4 bytes (gabi, Note Section).
static void show_build(void) {
    static unsigned char notes[65536];
    const int file = open("/sys/kernel/notes", O_RDONLY);
    const ssize_t length = file < 0 ? -1 : read(file, notes, sizeof notes);
    for (ssize_t place = 0; place + 12 <= length;) {
        uint32_t head[3];
        memcpy(head, notes + place, sizeof head);
        const ssize_t name = (head[0] + 3) & ~3U;
        const ssize_t content = (head[1] + 3) & ~3U;
        if (head[2] == 3 && memcmp(notes + place + 12, "GNU", 4) == 0 && place + 12 + name + content <= length) {
            printf("\n@build ");
            for (uint32_t i = 0; i < head[1]; ++i) {
                printf("%02x", notes[place + 12 + name + i]);
            }
            printf("\n");
            return;
        }
        place += 12 + name + content;
    }
}

// Tasks of the kernel's own start-up run for seconds. Three seconds with at most two busy ticks each are enough; a
// minute is the most.
static void wait_until_idle(void) {
    unsigned long before = 0;
    int quiet = 0;
    for (int second = 0; second < 60 && quiet < 3; ++second) {
        unsigned long t[7] = {0};
        sleep(1);
        FILE* const file = fopen("/proc/stat", "r");
        if (file != NULL) {
            (void)fscanf(file, "cpu %lu %lu %lu %lu %lu %lu %lu", t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6);
            fclose(file);
        }
        const unsigned long busy = t[0] + t[1] + t[2] + t[5] + t[6];
        quiet = busy - before <= 2 ? quiet + 1 : 0;
        before = busy;
    }
    printf("\n@idle %s\n", quiet < 3 ? "no" : "yes");
}

// Text to the emulator's debug console, which takes it whole; the serial line would take a minute of instructions.
static void send(const char* text, size_t length) {
    __asm__ volatile("rep outsb" : "+S"(text), "+c"(length) : "d"(0xe9) : "memory");
}

// Names that the linker and the tracer add are no functions that execute.
static void symbols(void) {
    static char out[1 << 16];
    size_t length = 0;
    char line[1024];
    FILE* const file = fopen("/proc/kallsyms", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char address[32];
        char name[512];
        char kind = 0;
        if (sscanf(line, "%31s %c %511s", address, &kind, name) == 3 && strchr("tTwW", kind) != NULL &&
            strchr(line, '[') == NULL && strncmp(name, "__pfx_", 6) != 0 && strncmp(name, "__ksymtab", 9) != 0) {
            length += (size_t)snprintf(out + length, sizeof out - length, "@symbol %s %s\n", address, name);
        }
        if (length > sizeof out - sizeof line) {
            send(out, length);
            length = 0;
        }
    }
    send(out, length);
    if (file != NULL) {
        fclose(file);
    }
}

// Starts a program so many levels below the root of the control groups, each of which has the controllers of CPU and
// memory.
static void run(char* words) {
    char* argv[64] = {NULL};
    char path[512] = "/groups";
    char file[600];
    const char* const tag = strtok(words, " ");
    const char* const levels = strtok(NULL, " ");
    int count = 0;
    while (count < 63 && (argv[count] = strtok(NULL, " ")) != NULL) {
        ++count;
    }
    if (tag == NULL || levels == NULL || count == 0) {
        return;
    }
    for (int level = atoi(levels); level > 0; --level) {
        snprintf(file, sizeof file, "%s/cgroup.subtree_control", path);
        put(file, "+cpu +memory");
        // Each depth has a chain of its own: a group that hands on controllers may have no tasks.
        snprintf(file, sizeof file, "%s/of%s", path, levels);
        strcpy(path, file);
        mkdir(path, 0755);
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        snprintf(file, sizeof file, "%s/cgroup.procs", path);
        put(file, "0");
        printf("\n@row %s\n", tag);
        show("cgroup", "/proc/self/cgroup");
        mark();
        execv(argv[0], argv);
        printf("\n@no %s: %s\n", argv[0], strerror(errno));
        fflush(stdout);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    mark();
    printf("\n@done %s %d\n", tag, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(void) {
    struct utsname name;
    char line[4096];
    const char* const folders[] = {"/proc", "/sys", "/dev", "/groups", "/tmp"};
    for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; ++i) {
        mkdir(folders[i], 0777);
    }
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    mkdir("/dev/shm", 0777);
    mkdir("/dev/mqueue", 0777);
    mount("shm", "/dev/shm", "tmpfs", 0, NULL);
    mount("mqueue", "/dev/mqueue", "mqueue", 0, NULL);
    mount("debug", "/sys/kernel/debug", "debugfs", 0, NULL);
    mount("groups", "/groups", "cgroup2", 0, NULL);
    const int console = open("/dev/console", O_RDWR);
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        dup2(console, descriptor);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    uname(&name);
    printf("\n@uname %s %s\n", name.release, name.version);
    printf("@machine %s\n", name.machine);
    show_build();
    wait_until_idle();
    FILE* const plan = fopen("/plan", "r");
    while (plan != NULL && fgets(line, sizeof line, plan) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "set sched_ext") == 0) {
            const char* const refused = start_sched_ext();
            if (refused != NULL) {
                printf("\n@no sched_ext: %s\n", refused);
            }
        } else if (strncmp(line, "set ", 4) == 0) {
            char path[sizeof line + 32];
            char* const value = strchr(line, '=');
            const char* const name = value == NULL ? "features" : line + 4;
            if (value != NULL) {
                *value = 0;
            }
            snprintf(path, sizeof path, "/sys/kernel/debug/sched/%s", name);
            put(path, value == NULL ? line + 4 : value + 1);
            show("sched", path);
        } else if (strcmp(line, "symbols") == 0) {
            put("/proc/sys/kernel/kptr_restrict", "0");
            fflush(stdout);
            tcdrain(STDOUT_FILENO);
            // A task with rights to ports, and whatever it starts, costs the kernel more at each switch.
            const pid_t child = fork();
            if (child == 0) {
                if (ioperm(0xe9, 1, 1) == 0) {
                    symbols();
                }
                _exit(0);
            }
            waitpid(child, NULL, 0);
        } else if (strncmp(line, "run ", 4) == 0) {
            run(line + 4);
        }
    }
    show("cmdline", "/proc/cmdline");
    show("clock", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    show("features", "/sys/kernel/debug/sched/features");
    show("preemption", "/sys/kernel/debug/sched/preempt");
    show("cgroup_mode", "/sys/kernel/debug/sched/cgroup_mode");
    // A kernel that has thrown its scheduler out meanwhile has no such file.
    show("sched", "/sys/kernel/sched_ext/root/ops");
    printf("\n@end\n");
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
    reboot(RB_POWER_OFF);
    return 0;
}
