//go:build !windows

package kit

import "os"

// reportFile is the file behind a descriptor that the parent left open.
func reportFile(fd uintptr) *os.File { return os.NewFile(fd, "report") }
