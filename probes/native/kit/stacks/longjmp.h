// _longjmp under its own name: with -D_FORTIFY_SOURCE the header turns longjmp into __longjmp_chk, which takes a jump
// to a lower address for a corrupted frame and aborts. An alias survives whatever flags a distribution adds, at no
// cost.
#pragma once

#include <setjmp.h>

#include <type_traits>

#include "asm/object_format.h"

using Registers = std::remove_extent_t<jmp_buf>;

extern "C" [[noreturn]] void switchcost_longjmp(Registers* target,
                                                int value) __asm__(SWITCHCOST_SYMBOL_TEXT("_longjmp"));
