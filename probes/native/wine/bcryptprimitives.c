// bcryptprimitives.dll for wine before 9.0, which lacks it: its one function that the runtimes of Rust and Go call, by
// the older name. Used by scripts/check-portability only.
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(PVOID data, ULONG size);  // RtlGenRandom

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
