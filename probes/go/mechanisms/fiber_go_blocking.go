package mechanisms

import (
	"runtime/debug"
	"sync"

	"switchcost/probes/go/kit"
)

// Goroutines that hand a token round otherwise than fiber/goroutine does. The loops of batches are written out for each kind:
// called by its interface, a place would add two indirect calls to each switch.

// place is where a context is handed the token, and waits for it.
type place interface {
	put(token int64)
	get() int64
}

// fiber/go-select: by channels, each waited for in a select beside a channel of cancellation, as in most programs.
var fiberGoSelect = blocking("fiber/go-select", func(r *blockingRing) {
	cancelled := make(chan struct{})
	all := make([]selectPlace, r.contexts)
	for i := range all {
		all[i] = selectPlace{make(chan int64), cancelled}
		r.places = append(r.places, &all[i])
	}
	r.plain = func(i int64) {
		mine, next := &all[i], &all[(i+1)%r.contexts]
		due, turns, step := i, int64(0), r.contexts
		for {
			token := mine.get()
			if token == due {
				due += step
				turns++
				token++
			} else {
				token, turns = r.obey(i, token, turns)
			}
			next.put(token)
		}
	}
	r.run = func(laps int64) {
		mine, next, token := &all[0], &all[1], r.sequence
		for ; laps > 0; laps-- {
			next.put(token + 1)
			token += r.contexts
			if mine.get() != token {
				r.broken = true
			}
		}
	}
})

type selectPlace struct {
	channel   chan int64
	cancelled chan struct{}
}

func (p *selectPlace) put(token int64) {
	select {
	case p.channel <- token:
	case <-p.cancelled:
	}
}

func (p *selectPlace) get() int64 {
	select {
	case token := <-p.channel:
		return token
	case <-p.cancelled:
		return 0
	}
}

// fiber/go-mutex: by a sync.Mutex for each, which it locks to wait and the one before it unlocks.
var fiberGoMutex = blocking("fiber/go-mutex", func(r *blockingRing) {
	all := make([]mutexPlace, r.contexts)
	for i := range all {
		all[i].Lock()
		r.places = append(r.places, &all[i])
	}
	r.plain = func(i int64) {
		mine, next := &all[i], &all[(i+1)%r.contexts]
		due, turns, step := i, int64(0), r.contexts
		for {
			token := mine.get()
			if token == due {
				due += step
				turns++
				token++
			} else {
				token, turns = r.obey(i, token, turns)
			}
			next.put(token)
		}
	}
	r.run = func(laps int64) {
		mine, next, token := &all[0], &all[1], r.sequence
		for ; laps > 0; laps-- {
			next.put(token + 1)
			token += r.contexts
			if mine.get() != token {
				r.broken = true
			}
		}
	}
})

type mutexPlace struct {
	sync.Mutex
	token int64
}

func (p *mutexPlace) put(token int64) {
	p.token = token
	p.Unlock()
}

func (p *mutexPlace) get() int64 {
	p.Lock()
	return p.token
}

// blocking is a mechanism whose ring `build` gives its places, and the loops of a member and of the driver.
func blocking(id string, build func(*blockingRing)) kit.Mechanism {
	setUp := func(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
		setOSThreads(plan)
		if refusal := checkMemory(plan.Contexts); refusal != nil {
			return nil, refusal
		}
		r := &blockingRing{contexts: int64(plan.Contexts)}
		build(r)
		body, frames := r.plain, plan.Frames(roomOnStack)
		if plan.Timing == "each" {
			body = r.each
		}
		for i := 1; i < len(r.places); i++ {
			context := int64(i)
			go kit.Deeper(frames, func() { body(context) })
		}
		r.round(commandReset)
		return r, nil
	}
	return kit.Mechanism{
		ID: id, Offers: []kit.Offer{kit.Switch(setUp)},
		Parameters: []kit.Parameter{{Name: "os_threads", Words: []string{"one", "all"}}, kit.HeapOffsetParameter},
	}
}

type blockingRing struct {
	contexts  int64
	places    []place
	plain     func(context int64)
	run       func(laps int64)
	sequence  int64
	base      int64
	turns     int64
	broken    bool
	stamp     uint64 // Counter as read by the sender; handing over orders its accesses.
	histogram *kit.Histogram
	trace     *kit.Trace
	claim     kit.Turns
	stacks    []uintptr
}

// each is what a context of timing=each does.
func (r *blockingRing) each(i int64) {
	mine, next := r.places[i], r.places[(i+1)%r.contexts]
	due, turns, step := i, int64(0), r.contexts
	for {
		token := mine.get()
		if token == due {
			r.histogram.Arrive(r.stamp)
			due += step
			turns++
			token++
		} else {
			token, turns = r.obey(i, token, turns)
		}
		r.stamp = kit.ReadCounter()
		next.put(token)
	}
}

// obey handles whatever is not the token that was due. In the pass that verifies, commands are numbered downwards.
func (r *blockingRing) obey(i, token, turns int64) (int64, int64) {
	switch {
	case token == commandReset:
		turns = 0
	case token == commandPublish:
		r.claim.Count(uint64(turns))
		r.stacks = append(r.stacks, onStack())
	case token <= commandVerify:
		r.trace.Visit(uint64(commandVerify-token), int(i))
		token--
	default:
		r.broken = true
		token++
	}
	return token, turns
}

// round sends something round once.
func (r *blockingRing) round(token int64) int64 {
	r.places[1].put(token)
	return r.places[0].get()
}

func (r *blockingRing) Lap() uint64 { return uint64(r.contexts) }

func (r *blockingRing) Run(units uint64) {
	laps := int64(units) / r.contexts
	r.run(laps)
	r.sequence += laps * r.contexts
	r.turns += laps
}

func (r *blockingRing) RunEach(units uint64, histogram *kit.Histogram) {
	r.histogram = histogram
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		r.stamp = kit.ReadCounter()
		token := r.round(r.sequence + 1)
		histogram.Arrive(r.stamp)
		r.sequence += r.contexts
		r.broken = r.broken || token != r.sequence
		r.turns++
	}
}

func (r *blockingRing) Counts() map[string]int64 {
	return map[string]int64{"distinct_stacks": distinctStacks(r.stacks)}
}

func (r *blockingRing) Reset() {
	r.turns, r.base = 0, r.sequence
	r.round(commandReset)
}

func (r *blockingRing) Claim() (kit.Turns, uint64, bool) {
	// The collector moves stacks that it shrinks.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r.claim, r.stacks = kit.Turns{}, append(make([]uintptr, 0, r.contexts), onStack())
	r.claim.Count(uint64(r.turns))
	r.round(commandPublish)
	return r.claim, uint64(r.sequence - r.base), r.broken
}

func (r *blockingRing) Verify(units uint64, trace *kit.Trace) {
	r.trace = trace
	trace.Visit(0, 0)
	token := int64(commandVerify - 1)
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		token = r.round(token)
		trace.Visit(uint64(commandVerify-token), 0)
		token--
	}
}
