package kit

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// clockName says which clock the runtime's nanotime reads.
var clockName = map[string]string{"linux": "CLOCK_MONOTONIC", "darwin": "mach_absolute_time"}[runtime.GOOS]

// buildFlags lists the settings that change the code: architecture level, cgo, flags of compiler and linker.
func buildFlags() *string {
	info, found := debug.ReadBuildInfo()
	if !found {
		return nil
	}
	flags := []string{}
	for _, setting := range info.Settings {
		if strings.HasPrefix(setting.Key, "-") || strings.HasPrefix(setting.Key, "GO") || setting.Key == "CGO_ENABLED" {
			flags = append(flags, setting.Key+"="+setting.Value)
		}
	}
	text := strings.Join(flags, " ")
	return &text
}
