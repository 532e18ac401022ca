// What ELF and Mach-O want said differently of a function in assembly. For .S files and, the first macro, for C++.
#pragma once

// clang-format off: the assembler minds every character

#define SWITCHCOST_TEXT_OF(text) #text
#define SWITCHCOST_EXPANDED(text) SWITCHCOST_TEXT_OF(text)

// The name that the linker knows a C function by, as text: Mach-O puts an underscore before it.
#define SWITCHCOST_SYMBOL_TEXT(name) SWITCHCOST_EXPANDED(__USER_LABEL_PREFIX__) name

#if defined(__ASSEMBLER__)

#if defined(__APPLE__)
#define SYMBOL(name) _##name
#define HIDDEN(name) .private_extern _##name
#define IS_FUNCTION(name)
#define END_OF_FUNCTION(name)
#define END_OF_FILE .subsections_via_symbols
#else
#define SYMBOL(name) name
#define HIDDEN(name) .hidden name
#define IS_FUNCTION(name) .type name, %function
#define END_OF_FUNCTION(name) .size name, . - name
// The program needs no executable stack.
#define END_OF_FILE .section .note.GNU-stack, "", %progbits
#endif

#endif
