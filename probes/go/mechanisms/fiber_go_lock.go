package mechanisms

import (
	"sync"
	"sync/atomic"

	"switchcost/probes/go/kit"
)

// fiber/go-lock: goroutines take one sync.Mutex, again and again, as long as there are units left; each acquisition is one.
// Under the lock and after it a goroutine computes for `hold` and `think` steps of a chain that nothing shortens.
var fiberGoLock = kit.Mechanism{
	ID:         "fiber/go-lock",
	Offers:     []kit.Offer{kit.Contend(setUpLock)},
	Parameters: []kit.Parameter{{Name: "hold"}, {Name: "os_threads", Words: []string{"all", "one"}}, {Name: "think"}},
}

func setUpLock(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	setOSThreads(plan)
	if refusal := checkMemory(plan.Contexts); refusal != nil {
		return nil, refusal
	}
	l := &lock{hold: plan.Number("hold"), think: plan.Number("think"), contexts: make([]lockContext, plan.Contexts), done: make(chan struct{}, 1)}
	for i := range l.contexts[1:] {
		index := i + 1
		l.contexts[index].begin = make(chan struct{}, 1)
		go func() {
			for range l.contexts[index].begin {
				l.takeTurns(index)
				if l.atWork.Add(-1) == 0 {
					l.done <- struct{}{}
				}
			}
		}()
	}
	l.Run(0) // Until every goroutine has come to life.
	return l, nil
}

// lockContext has a pair of cache lines of its own.
type lockContext struct {
	begin   chan struct{}
	turns   uint64
	product uint64
	_       [104]byte
}

type lock struct {
	hold, think uint64
	contexts    []lockContext
	done        chan struct{} // All but context 0 are through with the batch.
	atWork      atomic.Int64
	_           [64]byte
	mutex       sync.Mutex
	// Guarded by the mutex and by nothing else: where two goroutines were inside at once, one count is lost.
	left    uint64
	token   uint64
	changes int64 // Acquisitions by another goroutine than the one before.
	last    int
}

func lockWork(product, steps uint64) uint64 {
	for ; steps > 0; steps-- {
		product *= 3
	}
	return product
}

func (l *lock) takeTurns(index int) {
	turns, product := uint64(0), uint64(1)
	for {
		l.mutex.Lock()
		if l.left == 0 {
			break
		}
		product = lockWork(product, l.hold)
		l.left--
		l.token++
		if l.last != index {
			l.last = index
			l.changes++
		}
		l.mutex.Unlock()
		turns++
		product = lockWork(product, l.think)
	}
	l.mutex.Unlock()
	l.contexts[index].turns += turns
	l.contexts[index].product = product
}

func (l *lock) Lap() uint64 { return 1 }

func (l *lock) Run(units uint64) {
	l.mutex.Lock()
	l.left, l.last = units, 0
	l.mutex.Unlock()
	others := l.contexts[1:]
	l.atWork.Store(int64(len(others)))
	for i := range others {
		others[i].begin <- struct{}{}
	}
	l.takeTurns(0)
	if len(others) > 0 {
		<-l.done
	}
}

func (l *lock) RunEach(uint64, *kit.Histogram) {}

func (l *lock) Reset() {
	l.token, l.changes = 0, 0
	for i := range l.contexts {
		l.contexts[i].turns = 0
	}
}

func (l *lock) Claim() (turns kit.Turns, token uint64, broken bool) {
	for i := range l.contexts {
		turns.Count(l.contexts[i].turns)
	}
	return turns, l.token, false
}

func (l *lock) Counts() map[string]int64 {
	turns, _, _ := l.Claim()
	return map[string]int64{"handed_over": l.changes, "fewest_turns": int64(turns.Min)}
}
