// A guest in ring 0 writes to a port for ever; each KVM_RUN ends there. In 64-bit mode like the probe's, since a
// hypervisor that carries out ring 0 instruction by instruction fetches each through the guest's page tables: in real
// mode, without them, an exit costs some 0.4 us less there.
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "plain.h"

static int need(int result, const char* what) {
    if (result >= 0) return result;
    perror(what);
    exit(1);
}

int main(int argc, char** argv) {
    struct plain_arguments a = plain_start(argc, argv);
    int kvm = need(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
    int vm = need(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
    unsigned char* memory = mmap(NULL, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    // Three levels of tables, the lowest entry of each; the last is a page of 2 MiB.
    const uint64_t tables[] = {0x2000 | 3, 0x3000 | 3, 0x80 | 3};
    for (int level = 0; level < 3; level++) memcpy(memory + 0x1000 * (level + 1), &tables[level], 8);
    // out 0x10, al; jmp back to it.
    memcpy(memory + 0x8000, "\xe6\x10\xeb\xfc", 4);
    struct kvm_userspace_memory_region region = {.memory_size = 0x10000, .userspace_addr = (uintptr_t)memory};
    need(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
    int cpu = need(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
    int size = need(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
    struct kvm_run* run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
    // Control registers are checked against CPUID.
    static struct {
        struct kvm_cpuid2 head;
        struct kvm_cpuid_entry2 entries[256];
    } cpuid = {.head.nent = 256};
    need(ioctl(kvm, KVM_GET_SUPPORTED_CPUID, &cpuid), "KVM_GET_SUPPORTED_CPUID");
    need(ioctl(cpu, KVM_SET_CPUID2, &cpuid), "KVM_SET_CPUID2");
    struct kvm_sregs system;
    need(ioctl(cpu, KVM_GET_SREGS, &system), "KVM_GET_SREGS");
    struct kvm_segment flat = {.limit = 0xffffffff, .present = 1, .s = 1, .g = 1, .db = 1, .type = 3, .selector = 0x10};
    system.ds = system.es = system.fs = system.gs = system.ss = flat;
    system.cs =
        (struct kvm_segment){.limit = 0xffffffff, .present = 1, .s = 1, .g = 1, .l = 1, .type = 11, .selector = 8};
    system.tr = (struct kvm_segment){.limit = 0xffff, .present = 1, .type = 11};
    system.cr0 = 0x80050033;
    system.cr3 = 0x1000;
    system.cr4 = 0x620;
    system.efer = 0x500;
    need(ioctl(cpu, KVM_SET_SREGS, &system), "KVM_SET_SREGS");
    struct kvm_regs registers = {.rip = 0x8000, .rflags = 2};
    need(ioctl(cpu, KVM_SET_REGS, &registers), "KVM_SET_REGS");
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i++) {
            if (ioctl(cpu, KVM_RUN, 0) != 0 || run->exit_reason != KVM_EXIT_IO) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
