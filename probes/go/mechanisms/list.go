// Package mechanisms holds one file per mechanism and the list of them.
package mechanisms

import "switchcost/probes/go/kit"

// List is sorted by id; a test checks it.
var List = []kit.Mechanism{
	controlGoChannel,
	controlGoYield,
	coroutineGoIterPull,
	executorGo,
	fiberGoLock,
	fiberGoMutex,
	fiberGoSelect,
	fiberGoTimer,
	fiberGoroutine,
}
