#include "textflag.h"

// func ReadCounter() uint64
//
// RDTSC may run ahead of the instructions before it; LFENCE waits until they have finished. Nothing follows RDTSC: the
// return's load of the result orders the caller. RDTSCP would do the same, but is not on every amd64 processor.
TEXT ·ReadCounter(SB), NOSPLIT, $0-8
	LFENCE
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
