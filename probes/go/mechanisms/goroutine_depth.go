package mechanisms

import (
	"runtime"
	"strings"

	"switchcost/probes/go/kit"
)

// Calls below a goroutine's switches. held: it called so many functions before its first switch, and returns from none.
// unwound: it calls them anew for each switch, which happens in the last of them, and returns from all.
var (
	depthParameter  = kit.Parameter{Name: "depth"}
	framesParameter = kit.Parameter{Name: "frames", Words: []string{"held", "unwound"}}
)

// depth is what a ring of goroutines keeps of its frames.
type depth struct {
	calls   int
	unwound bool
	entered []enteredCalls // Unwound, by context.
	before  uint64         // Those before the count began.
	fewest  int            // Held, of the context that has fewest; the driver's are gone when it is asked.
}

// enteredCalls has a cache line of its own.
type enteredCalls struct {
	count uint64
	_     [56]byte
}

func newDepth(plan *kit.Plan, touches bool) (*depth, *kit.Refusal) {
	calls := int(plan.Number(depthParameter.Name))
	if calls == 0 {
		return nil, nil
	}
	if touches || plan.Timing == "each" {
		return nil, kit.Unsupported("unsupported_here", "depth=%d is measured in batches and without a working set; leave those out", calls)
	}
	d := &depth{calls: calls, unwound: plan.Parameters[framesParameter.Name] == "unwound", fewest: calls}
	d.entered = make([]enteredCalls, plan.Contexts)
	return d, nil
}

// below runs a member's loop, or the driver's, below the calls that it holds.
func (d *depth) below(run func()) {
	if d == nil || d.unwound {
		run()
		return
	}
	hold(d.calls, run)
}

//go:noinline
func hold(left int, run func()) {
	if left > 1 {
		hold(left-1, run)
		return
	}
	run()
}

// look counts the frames that the calling goroutine holds.
func (d *depth) look() {
	if d == nil || d.unwound {
		return
	}
	places := make([]uintptr, d.calls+64)
	frames, held := runtime.CallersFrames(places[:runtime.Callers(0, places)]), 0
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); strings.HasSuffix(frame.Function, ".hold") {
			held++
		}
	}
	d.fewest = min(d.fewest, held)
}

func (d *depth) sum() (sum uint64) {
	for i := range d.entered {
		sum += d.entered[i].count
	}
	return sum
}

// count is the frames below all of so many switches.
func (d *depth) count(units int64) int64 {
	if d.unwound {
		return int64(d.sum() - d.before)
	}
	return int64(d.fewest) * units
}

// passBelow passes the token on below so many calls, and takes the next one there.
//
//go:noinline
func passBelow(in, out chan int64, left int, token int64, entered *uint64) int64 {
	*entered++
	if left > 1 {
		return passBelow(in, out, left-1, token, entered)
	}
	out <- token
	return <-in
}

// unwinding is the loop of a member that passes the token on below calls.
func (c *memberState) unwinding(in, out chan int64, i int) int64 {
	due, turns, step, calls := c.due, c.turns, c.ring.contexts, c.ring.depth.calls
	entered := &c.ring.depth.entered[i].count
	token := <-in
	for token == due {
		due += step
		turns++
		token = passBelow(in, out, calls, token+1, entered)
	}
	c.due, c.turns = due, turns
	return token
}

// unwind is the same of the driver.
func (r *goroutineRing) unwind(units uint64) {
	in, out, step, calls := r.channels[0], r.channels[1], r.contexts, r.depth.calls
	sequence, turns, entered := r.sequence, r.turns, &r.depth.entered[0].count
	for laps := int64(units) / step; laps > 0; laps-- {
		token := passBelow(in, out, calls, sequence+1, entered)
		sequence += step
		if token != sequence {
			r.broken = true
		}
		turns++
	}
	r.sequence, r.turns = sequence, turns
}

// deep is what a created goroutine does below so many calls: its stack grows for them, and is copied each time.
//
//go:noinline
func (c *goroutineCreation) deep(left int) {
	c.entered++
	if left > 1 {
		c.deep(left - 1)
		return
	}
	c.done <- struct{}{}
}
