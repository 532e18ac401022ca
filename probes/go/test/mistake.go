//go:build ignore

package mechanisms

import "switchcost/probes/go/kit"

// A mistake, for a test: contexts that are called by the driver, and no goroutines. The evidence is the kit's.
type calledRing struct {
	*goroutineRing
	took []int64
}

func newCalledRing(ring *goroutineRing) kit.Workload {
	return &calledRing{ring, make([]int64, ring.contexts)}
}

func (r *calledRing) Run(units uint64) {
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		for i := range r.took {
			r.took[i]++
			r.sequence++
		}
	}
}

func (r *calledRing) Reset() {
	clear(r.took)
	r.base = r.sequence
}

func (r *calledRing) Claim() (kit.Turns, uint64, bool) {
	r.claim, r.stacks = kit.Turns{}, nil
	for _, turns := range r.took {
		r.claim.Count(uint64(turns))
		r.stacks = append(r.stacks, onStack())
	}
	return r.claim, uint64(r.sequence - r.base), false
}

func (r *calledRing) Verify(units uint64, trace *kit.Trace) {
	r.base = r.sequence
	for hop := uint64(0); hop <= units; hop++ {
		trace.Visit(hop, int(int64(hop)%r.contexts))
	}
	r.sequence += int64(units)
}
