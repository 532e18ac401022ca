package kit

import "os"

// reportFile is standard error for 2 and standard output for all else: Windows hands no other number on.
func reportFile(fd uintptr) *os.File {
	if fd == 2 {
		return os.Stderr
	}
	return os.Stdout
}
