//go:build !linux

package kit

// CurrentCPU cannot be told here.
func CurrentCPU() int { return -1 }

func currentThread() int32 { return -1 }

func allowedCPUs() []int { return nil }

// AvailableMemory cannot be told here.
func AvailableMemory() uint64 { return 0 }

func mapMemory(bytes int) ([]byte, error) { return make([]byte, bytes), nil }

func readMemory() *Memory { return nil }

func readTasks() map[string]taskSwitches { return nil }

func usage() (*pageFaultsField, int64) { return nil, 0 }
