package mechanisms

import (
	"time"

	"switchcost/probes/go/kit"
)

// fiber/go-timer: a goroutine sleeps until a time that was fixed beforehand.
var fiberGoTimer = kit.Mechanism{
	ID:          "fiber/go-timer",
	Experiments: []string{"wakeup"},
	Parameters:  []kit.Parameter{kit.PeriodParameter},
	Sleep:       time.Sleep,
}
