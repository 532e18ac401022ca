package mechanisms

import (
	"time"

	"switchcost/probes/go/kit"
)

// fiber/go-timer: a goroutine sleeps until a time that was fixed beforehand.
var fiberGoTimer = kit.Mechanism{
	ID:         "fiber/go-timer",
	Offers:     []kit.Offer{kit.Wakeup(time.Sleep)},
	Parameters: []kit.Parameter{kit.PeriodParameter},
}
