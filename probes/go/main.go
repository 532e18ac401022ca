// The Go probe of switchcost; PROTOCOL.md says how it is spoken to.
package main

import (
	"switchcost/probes/go/kit"
	"switchcost/probes/go/mechanisms"
)

func main() { kit.Main("go", "1", mechanisms.List) }
