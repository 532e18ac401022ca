//go:build !go1.23

package mechanisms

import (
	"runtime"

	"switchcost/probes/go/kit"
)

var (
	lacksIterPull = "iter.Pull needs Go 1.23, and " + runtime.Version() + " built this probe"

	// coroutine/go-iter-pull where there is none.
	coroutineGoIterPull = kit.Mechanism{
		ID:         "coroutine/go-iter-pull",
		Offers:     []kit.Offer{kit.Switch(noIterPull), kit.Create(noIterPull), kit.Footprint(holdNoIterPull)},
		Parameters: []kit.Parameter{kit.HeapOffsetParameter},
		Lacks:      lacksIterPull,
	}
)

func noIterPull(*kit.Plan) (kit.Workload, *kit.Refusal) {
	return nil, kit.Unsupported("unsupported_here", "%s", lacksIterPull)
}

func holdNoIterPull(*kit.Plan, uint64) (uint64, *kit.Refusal) {
	_, refusal := noIterPull(nil)
	return 0, refusal
}
