// A guest in ring 0 of a machine of one page writes to a port for ever; each KVM_RUN ends there.
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
    // out 0x10, al; jmp back to it: real mode, at 0.
    memcpy(memory, "\xe6\x10\xeb\xfc", 4);
    struct kvm_userspace_memory_region region = {.memory_size = 0x10000, .userspace_addr = (uintptr_t)memory};
    need(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
    int cpu = need(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
    int size = need(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
    struct kvm_run* run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
    struct kvm_sregs system;
    need(ioctl(cpu, KVM_GET_SREGS, &system), "KVM_GET_SREGS");
    system.cs.base = system.cs.selector = 0;
    need(ioctl(cpu, KVM_SET_SREGS, &system), "KVM_SET_SREGS");
    struct kvm_regs registers = {.rip = 0, .rflags = 2};
    need(ioctl(cpu, KVM_SET_REGS, &registers), "KVM_SET_REGS");
    for (int b = 0; b < a.batches; b++) {
        uint64_t begin = plain_now();
        for (uint64_t i = 0; i < a.switches; i++) {
            if (ioctl(cpu, KVM_RUN, 0) != 0 || run->exit_reason != KVM_EXIT_IO) return 1;
        }
        plain_print(plain_now() - begin, a.switches);
    }
}
