//go:build go1.23

package mechanisms

import (
	"iter"

	"switchcost/probes/go/kit"
)

// coroutine/go-iter-pull: a driver pulls values out of iterators in turn, each the token that the one before it yielded.
//
// The driver is not a context: a switch is the yield of one iterator, the driver's loop, and the resumption of the next. An
// iterator takes nothing in, so the token lies in a place that all of them see.
var coroutineGoIterPull = kit.Mechanism{
	ID:         "coroutine/go-iter-pull",
	Offers:     []kit.Offer{kit.Switch(newIterRing), kit.Create(newIterCreation), kit.Footprint(holdIterators)},
	Parameters: []kit.Parameter{kit.HeapOffsetParameter},
}

type iterRing struct {
	contexts  int64
	nexts     []func() (int64, bool)
	token     int64 // What the next iterator finds.
	sequence  int64
	base      int64
	broken    bool
	stamp     uint64
	histogram *kit.Histogram
	trace     *kit.Trace
	claim     kit.Turns
	stacks    []uintptr
}

func newIterRing(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	setOSThreads(plan)
	if refusal := checkMemory(plan.Contexts); refusal != nil {
		return nil, refusal
	}
	r := &iterRing{contexts: int64(plan.Contexts), nexts: make([]func() (int64, bool), plan.Contexts)}
	frames, body := plan.Frames(roomOnStack), r.plain
	if plan.Timing == "each" {
		body = r.each
	}
	for i := range r.nexts {
		context := int64(i)
		r.nexts[i], _ = iter.Pull(func(yield func(int64) bool) {
			kit.Deeper(frames, func() { body(context, yield) })
		})
	}
	r.round(commandReset)
	return r, nil
}

// plain is the body of context i.
func (r *iterRing) plain(i int64, yield func(int64) bool) {
	due, turns, step := i, int64(0), r.contexts
	for {
		token := r.token
		if token == due {
			due += step
			turns++
			token++
		} else {
			token, turns = r.obey(i, &due, turns, token)
		}
		if !yield(token) {
			return
		}
	}
}

// each records the interval since the one before it yielded.
func (r *iterRing) each(i int64, yield func(int64) bool) {
	due, turns, step := i, int64(0), r.contexts
	for {
		token := r.token
		if token == due {
			if r.histogram != nil {
				r.histogram.Arrive(r.stamp)
			}
			due += step
			turns++
			token++
		} else {
			token, turns = r.obey(i, &due, turns, token)
		}
		r.stamp = kit.ReadCounter()
		if !yield(token) {
			return
		}
	}
}

// obey handles whatever is not the token that was due; it gives what goes on and the count of turns.
func (r *iterRing) obey(i int64, due *int64, turns, token int64) (int64, int64) {
	switch token {
	case commandReset:
		return token, 0
	case commandPublish:
		r.claim.Count(uint64(turns))
		r.stacks = append(r.stacks, onStack())
		return token, turns
	case commandVerify:
		r.trace.Visit(uint64(*due-r.base), int(i))
		*due += r.contexts
		return token, turns
	}
	r.broken = true
	return token + 1, turns
}

// round sends a command round once.
func (r *iterRing) round(command int64) {
	for _, next := range r.nexts {
		r.token = command
		if token, running := next(); !running || token != command {
			r.broken = true
		}
	}
}

func (r *iterRing) Lap() uint64 { return uint64(r.contexts) }

func (r *iterRing) Run(units uint64) {
	nexts, token := r.nexts, r.sequence
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		for _, next := range nexts {
			r.token = token
			token, _ = next()
		}
	}
	r.sequence += int64(units)
	r.broken = r.broken || token != r.sequence
}

func (r *iterRing) RunEach(units uint64, histogram *kit.Histogram) {
	r.histogram = histogram
	// The first interval of a batch begins here and not in an iterator.
	r.stamp = kit.ReadCounter()
	r.Run(units)
	r.histogram = nil
}

func (r *iterRing) Counts() map[string]int64 {
	return map[string]int64{"distinct_stacks": distinctStacks(r.stacks)}
}

func (r *iterRing) Reset() {
	r.base = r.sequence
	r.round(commandReset)
}

func (r *iterRing) Claim() (kit.Turns, uint64, bool) {
	r.claim, r.stacks = kit.Turns{}, make([]uintptr, 0, r.contexts)
	r.round(commandPublish)
	return r.claim, uint64(r.sequence - r.base), r.broken
}

func (r *iterRing) Verify(units uint64, trace *kit.Trace) {
	// The token comes from the last context, so that context 0 visits with number 1.
	r.base, r.trace = r.sequence-1, trace
	trace.Visit(0, int(r.contexts-1))
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		r.round(commandVerify)
	}
}

// iterCreation: an iterator is made, pulled once, when it runs to its end, and left to the collector.
type iterCreation struct {
	turns uint64
	body  iter.Seq[int64]
}

func newIterCreation(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	setOSThreads(plan)
	c := &iterCreation{}
	c.body = func(func(int64) bool) { c.turns++ }
	return c, nil
}

func (c *iterCreation) Lap() uint64 { return 1 }

func (c *iterCreation) Run(units uint64) {
	for ; units > 0; units-- {
		next, _ := iter.Pull(c.body)
		next()
	}
}

func (c *iterCreation) RunEach(units uint64, histogram *kit.Histogram) {
	for ; units > 0; units-- {
		begin := kit.ReadCounter()
		c.Run(1)
		histogram.Arrive(begin)
	}
}

func (c *iterCreation) Reset() { c.turns = 0 }

// Claim: every created context has one turn.
func (c *iterCreation) Claim() (kit.Turns, uint64, bool) {
	return kit.Turns{Total: c.turns, Min: 1, Max: 1, Contexts: c.turns}, c.turns, false
}

// heldIterators keeps them alive.
var heldIterators []func() (int64, bool)

// holdIterators: each counts itself and yields once.
func holdIterators(plan *kit.Plan, contexts uint64) (ran uint64, refusal *kit.Refusal) {
	setOSThreads(plan)
	if refusal := checkMemory(contexts); refusal != nil {
		return 0, refusal
	}
	body := func(yield func(int64) bool) {
		ran++
		yield(0)
	}
	for i := uint64(0); i < contexts; i++ {
		next, _ := iter.Pull(body)
		next()
		heldIterators = append(heldIterators, next)
	}
	return ran, nil
}
