// A scheduler of sched_ext with a name and without a function: the kernel's own first in, first out, by one queue, is
// what it takes in place of each. So there is nothing to compile and to load but one structure, sched_ext_ops. Where
// its fields lie in this kernel says the kernel's description of its types (BTF: Documentation/bpf/btf.rst).
#include "sched_ext.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of Linux 6.4, when a scheduler began to be a link.
enum { F_LINK = 1 << 13, ATTACH_STRUCT_OPS = 44 };

struct types {
    char* bytes;
    const struct btf_header* head;
};

static int call(int command, union bpf_attr* attributes, unsigned size) {
    return (int)syscall(SYS_bpf, command, attributes, size);
}

static bool read_types(struct types* types) {
    enum { MOST = 32 << 20 };
    types->bytes = malloc(MOST);
    const int file = open("/sys/kernel/btf/vmlinux", O_RDONLY);
    if (types->bytes == NULL || file < 0) {
        return false;
    }
    size_t length = 0;
    for (ssize_t got; length < MOST && (got = read(file, types->bytes + length, MOST - length)) > 0;) {
        length += (size_t)got;
    }
    close(file);
    types->head = (const struct btf_header*)types->bytes;
    return length > sizeof *types->head && types->head->magic == BTF_MAGIC;
}

static const char* name_of(const struct types* types, uint32_t offset) {
    return types->bytes + types->head->hdr_len + types->head->str_off + offset;
}

// Bytes behind a type that belong to it.
static size_t more_of(const struct btf_type* type) {
    const size_t members = BTF_INFO_VLEN(type->info);
    switch (BTF_INFO_KIND(type->info)) {
        case BTF_KIND_INT:
        case BTF_KIND_VAR:
        case BTF_KIND_DECL_TAG: return 4;
        case BTF_KIND_ARRAY: return sizeof(struct btf_array);
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION: return members * sizeof(struct btf_member);
        case BTF_KIND_ENUM:
        case BTF_KIND_FUNC_PROTO: return members * 8;
        case BTF_KIND_DATASEC:
        case BTF_KIND_ENUM64: return members * 12;
        default: return 0;
    }
}

// The structure of this name, and its number; null: there is none.
static const struct btf_type* structure(const struct types* types, const char* name, uint32_t* number) {
    const char* place = types->bytes + types->head->hdr_len + types->head->type_off;
    const char* const end = place + types->head->type_len;
    for (*number = 1; place < end; ++*number) {
        const struct btf_type* const type = (const struct btf_type*)place;
        if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT && strcmp(name_of(types, type->name_off), name) == 0) {
            return type;
        }
        place += sizeof *type + more_of(type);
    }
    return NULL;
}

// Where a member of a structure begins, in bytes; -1: it has none of this name.
static long begin_of(const struct types* types, const struct btf_type* type, const char* name) {
    const struct btf_member* const members = (const struct btf_member*)(type + 1);
    for (unsigned i = 0; i < BTF_INFO_VLEN(type->info); ++i) {
        if (strcmp(name_of(types, members[i].name_off), name) == 0) {
            return BTF_MEMBER_BIT_OFFSET(members[i].offset) / 8;
        }
    }
    return -1;
}

// Types of one's own, which the kernel asks for and does not use.
static int own_types(void) {
    struct {
        struct btf_header head;
        struct btf_type type;
        uint32_t integer;
        char names[8];
    } own = {{BTF_MAGIC, BTF_VERSION, 0, sizeof own.head, 0, 16, 16, 5}, {1, BTF_KIND_INT << 24, {4}}, 32, "\0int"};
    union bpf_attr attributes = {0};
    attributes.btf = (uintptr_t)&own;
    attributes.btf_size = offsetof(__typeof__(own), names) + 5;
    return call(BPF_BTF_LOAD, &attributes, sizeof attributes);
}

const char* start_sched_ext(void) {
    struct types types;
    uint32_t number = 0;
    uint32_t unused = 0;
    if (!read_types(&types)) {
        return "the kernel does not describe its types";
    }
    const struct btf_type* const whole = structure(&types, "bpf_struct_ops_sched_ext_ops", &number);
    const struct btf_type* const scheduler = structure(&types, "sched_ext_ops", &unused);
    if (whole == NULL || scheduler == NULL) {
        return "the kernel has no sched_ext";
    }
    char* const value = calloc(1, whole->size);
    const long data = begin_of(&types, whole, "data");
    const long name = begin_of(&types, scheduler, "name");
    if (value == NULL || data < 0 || name < 0) {
        return "sched_ext_ops has other fields";
    }
    strcpy(value + data + name, "sched_ext");
    union bpf_attr map = {0};
    map.map_type = BPF_MAP_TYPE_STRUCT_OPS;
    map.key_size = 4;
    map.value_size = whole->size;
    map.max_entries = 1;
    map.map_flags = F_LINK;
    map.btf_fd = (uint32_t)own_types();
    map.btf_vmlinux_value_type_id = number;
    const int place = call(BPF_MAP_CREATE, &map, sizeof map);
    const uint32_t key = 0;
    union bpf_attr entry = {0};
    entry.map_fd = (uint32_t)place;
    entry.key = (uintptr_t)&key;
    entry.value = (uintptr_t)value;
    union bpf_attr link = {0};
    link.link_create.prog_fd = (uint32_t)place;
    link.link_create.attach_type = ATTACH_STRUCT_OPS;
    if (place < 0 || call(BPF_MAP_UPDATE_ELEM, &entry, sizeof entry) != 0 ||
        call(BPF_LINK_CREATE, &link, sizeof link) < 0) {
        return strerror(errno);
    }
    free(types.bytes);
    return NULL;
}
