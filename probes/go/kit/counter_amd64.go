package kit

// CounterName is the cycle counter of timing=each; empty where there is none.
const CounterName = "tsc"

// ReadCounter reads the time stamp counter after everything before it has finished.
//
//go:noescape
func ReadCounter() uint64
