package kit

import "time"

// SetUp does everything slow. It may answer that the plan cannot be carried out.
type SetUp func(plan *Plan) (Workload, *Refusal)

// Hold makes this many contexts: each runs once, says so (ran counts them) and suspends for ever.
type Hold func(plan *Plan, contexts uint64) (ran uint64, refusal *Refusal)

// Offer is an experiment of a mechanism, with what the mechanism has for it.
type Offer struct {
	Experiment string
	SetUp      SetUp
	Hold       Hold
	sleep      func(time.Duration)
	ring       bool // The same contexts take turns all the time, so that it matters where they lie.
	carryOut   func(w *Writer, plan *Plan) *Refusal
}

// Switch is a token that goes round a ring.
func Switch(setUp SetUp) Offer { return Offer{"switch", setUp, nil, nil, true, measure} }

// Create is contexts that are made one after another.
func Create(setUp SetUp) Offer { return Offer{"create", setUp, nil, nil, false, measure} }

// Message is a payload there and back.
func Message(setUp SetUp) Offer { return Offer{"message", setUp, nil, nil, false, measure} }

// Submit is tasks that are handed to the scheduler.
func Submit(setUp SetUp) Offer { return Offer{"submit", setUp, nil, nil, false, measure} }

// Contend is a lock that all contexts want.
func Contend(setUp SetUp) Offer { return Offer{"contend", setUp, nil, nil, false, measure} }

// Footprint is the memory of contexts.
func Footprint(hold Hold) Offer { return Offer{"footprint", nil, hold, nil, false, measureFootprint} }

// Wakeup is how late a goroutine runs that sleeps until a time.
func Wakeup(sleep func(time.Duration)) Offer {
	return Offer{"wakeup", nil, nil, sleep, false, measureWakeup}
}

func (m *Mechanism) experiments() (names []string) {
	for _, offer := range m.Offers {
		names = append(names, offer.Experiment)
	}
	return names
}
