package kit

import "runtime"

// For a probe of one's own that measures one mechanism: contexts that a driver resumes in turn, each with the token that
// the one before it handed on. What `switchcost new-probe --language go` starts from.
//
// The driver is not a context: a switch is one suspension and one resumption.

// Coroutine is a context of the library that is measured.
type Coroutine interface {
	// Resume continues it with this token and gives the one that it hands on.
	Resume(token int64) int64
}

// Start makes a context that is suspended. Resumed with a token it hands on what turn makes of it, and suspends again.
type Start func(turn func(token int64) int64) Coroutine

// StartAndEnd makes a context, enters it once with the token, and lets it end. It gives the token plus one.
type StartAndEnd func(token int64) int64

// OwnProbe is the whole of a probe.
func OwnProbe(name, mechanism string, start Start, startAndEnd StartAndEnd) {
	runtime.GOMAXPROCS(1)
	Main(name, "1", []Mechanism{{
		ID:         mechanism,
		Parameters: []Parameter{HeapOffsetParameter},
		Offers: []Offer{
			Switch(func(plan *Plan) (Workload, *Refusal) { return newOwnRing(start, plan.Contexts), nil }),
			Create(func(*Plan) (Workload, *Refusal) { return &ownCreation{startAndEnd: startAndEnd}, nil }),
			Footprint(func(_ *Plan, contexts uint64) (uint64, *Refusal) {
				ring := newOwnRing(start, contexts)
				held = append(held, ring)
				ring.Run(contexts)
				turns, _, _ := ring.Claim()
				return turns.Total, nil
			}),
		},
	}})
}

var held []*ownRing

type ownRing struct {
	members  []ownMember
	contexts []Coroutine
	token    int64
	base     int64 // Token at Reset.
	broken   bool
	trace    *Trace
	began    int64 // Token at the beginning of the verification pass.
}

type ownMember struct {
	ring   *ownRing
	number int
	due    int64 // Token that comes next; never in the verification pass.
	later  int64 // Token that comes next in the verification pass.
	base   int64 // Token that was due at Reset.
}

const never = -1

func newOwnRing(start Start, contexts uint64) *ownRing {
	r := &ownRing{members: make([]ownMember, contexts), contexts: make([]Coroutine, contexts)}
	for i := range r.members {
		r.members[i] = ownMember{ring: r, number: i, due: int64(i), base: int64(i)}
		r.contexts[i] = start(r.members[i].turn)
	}
	return r
}

func (m *ownMember) turn(token int64) int64 {
	if token != m.due {
		return m.visit(token)
	}
	m.due += int64(len(m.ring.members))
	return token + 1
}

func (m *ownMember) visit(token int64) int64 {
	if m.due != never || token != m.later {
		m.ring.broken = true
		return token
	}
	m.ring.trace.Visit(uint64(token-m.ring.began)+1, m.number)
	m.later += int64(len(m.ring.members))
	return token + 1
}

func (r *ownRing) Lap() uint64 { return uint64(len(r.members)) }

func (r *ownRing) Run(units uint64) {
	token := r.token
	for laps := units / r.Lap(); laps > 0; laps-- {
		for _, context := range r.contexts {
			token = context.Resume(token)
		}
	}
	r.passed(units, token)
}

func (r *ownRing) RunEach(units uint64, histogram *Histogram) {
	token := r.token
	for laps := units / r.Lap(); laps > 0; laps-- {
		for _, context := range r.contexts {
			begin := ReadCounter()
			token = context.Resume(token)
			histogram.Arrive(begin)
		}
	}
	r.passed(units, token)
}

func (r *ownRing) passed(units uint64, token int64) {
	r.token += int64(units)
	r.broken = r.broken || token != r.token
}

func (r *ownRing) Reset() {
	r.base = r.token
	for i := range r.members {
		r.members[i].base = r.members[i].due
	}
}

func (r *ownRing) Claim() (Turns, uint64, bool) {
	turns := Turns{}
	for _, m := range r.members {
		turns.Count(uint64(m.due-m.base) / r.Lap())
	}
	return turns, uint64(r.token - r.base), r.broken
}

func (r *ownRing) Verify(units uint64, trace *Trace) {
	r.trace, r.began = trace, r.token
	for i := range r.members {
		r.members[i].later, r.members[i].due = r.members[i].due, never
	}
	// The token comes from the last context.
	trace.Visit(0, len(r.members)-1)
	r.Run(units)
}

type ownCreation struct {
	startAndEnd  StartAndEnd
	token, begin int64
}

func (c *ownCreation) Lap() uint64 { return 1 }

func (c *ownCreation) Run(units uint64) {
	for ; units > 0; units-- {
		c.token = c.startAndEnd(c.token)
	}
}

func (c *ownCreation) RunEach(units uint64, histogram *Histogram) {
	for ; units > 0; units-- {
		begin := ReadCounter()
		c.token = c.startAndEnd(c.token)
		histogram.Arrive(begin)
	}
}

func (c *ownCreation) Reset() { c.begin = c.token }

// Claim: every created context has one turn, in which it counts the token up.
func (c *ownCreation) Claim() (Turns, uint64, bool) {
	turns := uint64(c.token - c.begin)
	return Turns{Total: turns, Min: 1, Max: 1, Contexts: turns}, turns, false
}
