// The program under test of every harness: a chain of dependent multiplications, whose length `run` plants.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C"
#endif
    uint64_t league_work(uint64_t seed);
