// _longjmp under its own name: with -D_FORTIFY_SOURCE the header turns longjmp into __longjmp_chk, which takes a jump to a lower
// address for a corrupted frame and aborts. An alias survives whatever flags a distribution adds, at no cost.
#pragma once

#include <setjmp.h>

extern "C" [[noreturn]] void switchcost_longjmp(struct __jmp_buf_tag* target, int value) __asm__("_longjmp");
