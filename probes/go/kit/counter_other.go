//go:build !amd64

package kit

// CounterName is empty: reading the counter of this architecture from Go is not written yet, so there is no timing=each.
const CounterName = ""

// ReadCounter is never called where CounterName is empty.
func ReadCounter() uint64 { return 0 }
