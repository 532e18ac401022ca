package mechanisms

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"unsafe"

	"switchcost/probes/go/kit"
)

// fiber/goroutine: goroutines hand a token round a ring of unbuffered channels. The driver's goroutine is context 0.
//
// The token is a plain integer, so that the runtime copies a word and no write barrier is involved. Every context knows
// the next token it is due; the comparison is its check of the order and, since commands are negative tokens, also the
// only branch that the loop pays for being measurable: turns live in a local variable and are handed out by a lap of
// the command `publish`.
var fiberGoroutine = kit.Mechanism{
	ID:     "fiber/goroutine",
	Offers: []kit.Offer{kit.Switch(newGoroutineRing), kit.Create(newGoroutineCreation), kit.Message(newGoroutineEcho), kit.Footprint(holdGoroutines)},
	Parameters: []kit.Parameter{
		{Name: "os_threads", Words: []string{"one", "all"}},
		depthParameter,
		framesParameter,
		{Name: "payload"},
		kit.HeapOffsetParameter,
		kit.WorkingSetParameter,
	},
}

func setOSThreads(plan *kit.Plan) {
	if plan.Parameters["os_threads"] == "all" {
		runtime.GOMAXPROCS(runtime.NumCPU()) // NumCPU counts the CPUs this process may run on.
	} else {
		runtime.GOMAXPROCS(1)
	}
}

// Commands go round the ring as negative tokens.
const (
	commandReset = -1 - iota
	commandPublish
	commandPlain
	commandEach
	commandVerify
)

// bytesPerGoroutine: 2 KiB of stack, the runtime's descriptor and the channel, with some room (2.7 KB observed).
const bytesPerGoroutine = 3000

func checkMemory(contexts uint64) *kit.Refusal {
	if available := kit.AvailableMemory(); available > 0 && contexts*bytesPerGoroutine > available {
		return kit.Unsupported("limit_reached", "%d goroutines need about %d MB and %d MB are available; ask for fewer contexts",
			contexts, contexts*bytesPerGoroutine>>20, available>>20)
	}
	return nil
}

// holdGoroutines: each counts itself and waits for ever on the one channel that all of them share.
func holdGoroutines(plan *kit.Plan, contexts uint64) (uint64, *kit.Refusal) {
	setOSThreads(plan)
	if refusal := checkMemory(contexts); refusal != nil {
		return 0, refusal
	}
	var ran atomic.Uint64
	forever := make(chan struct{})
	body := func() {
		ran.Add(1)
		<-forever
	}
	for i := uint64(0); i < contexts; i++ {
		go body()
	}
	for ran.Load() < contexts {
		runtime.Gosched()
	}
	runtime.Gosched() // The last one may still be on its way to the channel.
	return ran.Load(), nil
}

type goroutineRing struct {
	contexts  int64
	channels  []chan int64 // Context i receives from channels[i].
	sequence  int64
	mode      int64
	turns     int64
	claim     kit.Turns
	base      int64 // Sequence number at Reset, or at the beginning of the verification pass.
	broken    bool
	stamp     uint64 // Counter as read by the sender; the channel orders its accesses.
	histogram *kit.Histogram
	trace     *kit.Trace
	sets      *kit.WorkingSets // nil: the contexts touch nothing between two switches.
	touched   int64            // Touches at Reset.
	depth     *depth           // nil: they make no calls below their switches.
	stacks    []uintptr        // Where each context's stack is, as it says itself at publish.
}

// roomOnStack is half of what the members' own frames leave free of the smallest stack: one that grew would be of another size.
const roomOnStack = 256

// The members' loops begin so many frames down their stacks.
func newGoroutineRing(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	setOSThreads(plan)
	sets, refusal := kit.NewWorkingSets(plan, plan.Contexts)
	if refusal == nil {
		refusal = checkMemory(plan.Contexts)
	}
	if refusal != nil {
		return nil, refusal
	}
	deep, refusal := newDepth(plan, sets != nil)
	if refusal != nil {
		return nil, refusal
	}
	ring := &goroutineRing{contexts: int64(plan.Contexts), channels: make([]chan int64, plan.Contexts), mode: commandPlain, sets: sets, depth: deep}
	frames := plan.Frames(roomOnStack)
	for i := range ring.channels {
		ring.channels[i] = make(chan int64)
	}
	for i := 1; i < len(ring.channels); i++ {
		context := i
		go kit.Deeper(frames, func() { deep.below(func() { ring.member(context) }) })
	}
	return ring, nil
}

// member is context i. A loop ends with what is not the token that was due.
func (r *goroutineRing) member(i int) {
	in, out := r.channels[i], r.channels[(i+1)%len(r.channels)]
	c := memberState{ring: r, out: out, due: int64(i), touches: r.sets != nil}
	if c.touches {
		c.set = r.sets.Of(uint64(i))
	}
	for mode, token := int64(commandPlain), int64(0); ; mode = c.obey(token, mode) {
		switch mode {
		case commandPlain:
			if r.depth != nil && r.depth.unwound {
				token = c.unwinding(in, out, i)
			} else {
				token = c.plain(in, out)
			}
		case commandEach:
			token = c.each(in, out)
		case commandVerify:
			token = c.verify(in, out, i)
		}
	}
}

type memberState struct {
	ring    *goroutineRing
	out     chan int64
	due     int64 // Token that comes next.
	turns   int64
	touches bool
	set     kit.WorkingSet
}

// touch visits the working set, where there is one.
func (c *memberState) touch() {
	if c.touches {
		c.set.Touch()
	}
}

func (c *memberState) plain(in, out chan int64) int64 {
	due, turns, step, touches := c.due, c.turns, c.ring.contexts, c.touches
	for {
		token := <-in
		if token != due {
			c.due, c.turns = due, turns
			return token
		}
		due += step
		turns++
		if touches {
			c.set.Touch()
		}
		out <- token + 1
	}
}

func (c *memberState) each(in, out chan int64) int64 {
	r := c.ring
	for {
		token := <-in
		if token != c.due {
			return token
		}
		r.histogram.Arrive(r.stamp)
		c.due += r.contexts
		c.turns++
		c.touch() // Outside the interval.
		r.stamp = kit.ReadCounter()
		out <- token + 1
	}
}

func (c *memberState) verify(in, out chan int64, i int) int64 {
	r := c.ring
	for {
		token := <-in
		if token != c.due {
			return token
		}
		r.trace.Visit(uint64(token-r.base), i)
		c.due += r.contexts
		c.touch()
		out <- token + 1
	}
}

// obey handles whatever is not the token that was due, passes it on, and says in which mode to go on. Passing it on is
// the last act: from then on the ring's fields belong to the next context.
func (c *memberState) obey(token, mode int64) int64 {
	switch token {
	case commandReset:
		c.turns = 0
	case commandPublish:
		c.ring.claim.Count(uint64(c.turns))
		c.ring.stacks = append(c.ring.stacks, onStack())
		c.ring.depth.look()
	case commandPlain, commandEach, commandVerify:
		mode = token
	default:
		c.ring.broken = true
		token++
	}
	c.out <- token
	return mode
}

// onStack is an address on the stack of the goroutine that calls.
//
//go:noinline
func onStack() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here))
}

// smallestStack is half of what the runtime gives to a goroutine at least: addresses at like depth on two stacks are
// further apart, two frames of one stack here are not.
const smallestStack = 1024

func distinctStacks(stacks []uintptr) (distinct int64) {
	slices.Sort(stacks)
	for i, at := range stacks {
		if i == 0 || at-stacks[i-1] >= smallestStack {
			distinct++
		}
	}
	return distinct
}

func (r *goroutineRing) command(command int64) {
	if command <= commandPlain {
		if r.mode == command {
			return
		}
		r.mode = command
	}
	r.channels[1] <- command
	if <-r.channels[0] != command {
		r.broken = true
	}
}

func (r *goroutineRing) Lap() uint64 { return uint64(r.contexts) }

func (r *goroutineRing) Run(units uint64) {
	r.command(commandPlain)
	switch {
	case r.depth == nil:
		r.run(units)
	case r.depth.unwound:
		r.unwind(units)
	default:
		hold(r.depth.calls, func() { r.run(units) })
	}
}

func (r *goroutineRing) run(units uint64) {
	in, out, step, touches := r.channels[0], r.channels[1], r.contexts, r.sets != nil
	sequence, turns := r.sequence, r.turns
	for laps := int64(units) / step; laps > 0; laps-- {
		out <- sequence + 1
		sequence += step
		if <-in != sequence {
			r.broken = true
		}
		turns++
		if touches {
			r.sets.Of(0).Touch()
		}
	}
	r.sequence, r.turns = sequence, turns
}

func (r *goroutineRing) RunEach(units uint64, histogram *kit.Histogram) {
	r.command(commandEach)
	r.histogram = histogram
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		r.stamp = kit.ReadCounter()
		r.channels[1] <- r.sequence + 1
		token := <-r.channels[0]
		histogram.Arrive(r.stamp)
		r.sequence += r.contexts
		if token != r.sequence {
			r.broken = true
		}
		r.turns++
		if r.sets != nil {
			r.sets.Of(0).Touch()
		}
	}
}

func (r *goroutineRing) Counts() map[string]int64 {
	counts := map[string]int64{"distinct_stacks": distinctStacks(r.stacks)}
	if r.sets != nil {
		counts["touches"] = r.sets.Touched() - r.touched
	}
	if r.depth != nil {
		counts["frames"] = r.depth.count(r.sequence - r.base)
	}
	return counts
}

func (r *goroutineRing) Reset() {
	r.turns, r.base = 0, r.sequence
	if r.sets != nil {
		r.touched = r.sets.Touched()
	}
	if r.depth != nil {
		r.depth.before = r.depth.sum()
	}
	r.command(commandReset)
}

func (r *goroutineRing) Claim() (kit.Turns, uint64, bool) {
	// The collector moves stacks that it shrinks.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r.claim, r.stacks = kit.Turns{}, append(make([]uintptr, 0, r.contexts), onStack())
	r.claim.Count(uint64(r.turns))
	r.command(commandPublish)
	return r.claim, uint64(r.sequence - r.base), r.broken
}

func (r *goroutineRing) Verify(units uint64, trace *kit.Trace) {
	r.base, r.trace = r.sequence, trace
	r.command(commandVerify)
	trace.Visit(0, 0)
	for laps := int64(units) / r.contexts; laps > 0; laps-- {
		r.channels[1] <- r.sequence + 1
		r.sequence = <-r.channels[0]
		trace.Visit(uint64(r.sequence-r.base), 0)
		if r.sets != nil {
			r.sets.Of(0).Touch()
		}
	}
}

// goroutineCreation: the driver starts a goroutine and waits on a channel until it has run. The function value is made
// once: `go` with a new closure would time the allocator as well.
type goroutineCreation struct {
	done  chan struct{}
	body  func()
	turns uint64
	// Calls below what it says that it ran.
	calls, entered uint64
}

func newGoroutineCreation(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	setOSThreads(plan)
	c := &goroutineCreation{done: make(chan struct{}), calls: plan.Number(depthParameter.Name)}
	if c.calls > 0 {
		c.body = func() {
			c.turns++
			c.deep(int(c.calls))
		}
		return c, nil
	}
	c.body = func() {
		c.turns++
		c.done <- struct{}{}
	}
	return c, nil
}

func (c *goroutineCreation) Lap() uint64 { return 1 }

func (c *goroutineCreation) Run(units uint64) {
	for ; units > 0; units-- {
		go c.body()
		<-c.done
	}
}

func (c *goroutineCreation) RunEach(units uint64, histogram *kit.Histogram) {
	for ; units > 0; units-- {
		begin := kit.ReadCounter()
		go c.body()
		<-c.done
		histogram.Arrive(begin)
	}
}

func (c *goroutineCreation) Reset() { c.turns, c.entered = 0, 0 }

func (c *goroutineCreation) Counts() map[string]int64 {
	if c.calls == 0 {
		return nil
	}
	return map[string]int64{"frames": int64(c.entered)}
}

// Claim: every created context has one turn.
func (c *goroutineCreation) Claim() (kit.Turns, uint64, bool) {
	return kit.Turns{Total: c.turns, Min: 1, Max: 1, Contexts: c.turns}, c.turns, false
}

// goroutineEcho: a channel of slices passes a reference, which would cost the same for every size; a message is a
// payload that the receiver owns afterwards, so each side copies what it is handed into its own buffer.
type goroutineEcho struct {
	there, back    chan []byte
	sent, returned []byte
	sequence       byte
	answered       uint64 // Turns of the partner.
	came           uint64 // Turns of the driver.
	broken         bool
}

func newGoroutineEcho(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	setOSThreads(plan)
	size := int(plan.Number("payload"))
	e := &goroutineEcho{there: make(chan []byte), back: make(chan []byte), sent: make([]byte, size), returned: make([]byte, size)}
	own := make([]byte, size)
	for i := 0; i < size; i++ {
		e.sent[i], e.returned[i], own[i] = 1, 2, 3 // Touches the pages.
	}
	go func() {
		for payload := range e.there {
			copy(own, payload)
			e.answered++
			e.back <- own
		}
	}()
	return e, nil
}

func (e *goroutineEcho) trip() {
	e.sequence++
	e.sent[0], e.sent[len(e.sent)-1] = e.sequence, e.sequence
	e.there <- e.sent
	copy(e.returned, <-e.back)
	if e.returned[0] != e.sequence || e.returned[len(e.returned)-1] != e.sequence {
		e.broken = true
	}
	e.came++
}

func (e *goroutineEcho) Lap() uint64 { return 1 }

func (e *goroutineEcho) Run(units uint64) {
	for ; units > 0; units-- {
		e.trip()
	}
}

func (e *goroutineEcho) RunEach(units uint64, histogram *kit.Histogram) {
	for ; units > 0; units-- {
		begin := kit.ReadCounter()
		e.trip()
		histogram.Arrive(begin)
	}
}

func (e *goroutineEcho) Reset() { e.answered, e.came = 0, 0 }

// Claim: the unit is a round trip, which is a turn of the partner and one of the driver.
func (e *goroutineEcho) Claim() (kit.Turns, uint64, bool) {
	turns := kit.Turns{}
	turns.Count(e.came)
	turns.Count(e.answered)
	return turns, turns.Total, e.broken
}
