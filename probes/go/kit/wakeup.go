package kit

import (
	"runtime"
	"time"
)

// PeriodParameter is the time between two intended times, in µs.
var PeriodParameter = Parameter{Name: "period"}

// waiter waits for times that are fixed beforehand. They do not move when it was late: what one wake-up found due is counted
// from its own time, each.
type waiter struct {
	now           func() int64
	sleep         func(time.Duration)
	first, period int64
	last          int64  // When it was read last that a time had come; at first one period before the first.
	served        uint64 // The next time is first + served × period.
	ofThisWake    uint64
	several       int64 // Wake-ups that found more than one time due.
}

func (w *waiter) serve(units uint64, histogram *Histogram) {
	for end := w.served + units; w.served != end; {
		now := w.now()
		late := now - (w.first + int64(w.served)*w.period)
		if late >= 0 {
			histogram.record(uint64(late))
			w.last = now
			w.served++
			w.ofThisWake++
			continue
		}
		if w.ofThisWake > 1 {
			w.several++
		}
		w.ofThisWake = 0
		w.sleep(time.Duration(-late))
	}
}

// measureWakeup is section 8 of PROTOCOL.md. The runtime chooses the thread on which the goroutine wakes, so that the kernel's
// counts are those of all its threads.
func measureWakeup(writer *Writer, plan *Plan) *Refusal {
	w := &waiter{now: Now, sleep: plan.Offer.sleep, period: int64(plan.Number("period")) * 1000}
	units := plan.BatchUnits
	if units == 0 {
		units = max(1, (plan.BatchNs+uint64(w.period)-1)/uint64(w.period))
	}
	warmup, measure := NewHistogram(), NewHistogram()
	seen := map[int]bool{}
	runtime.GC()
	begin := observeBegin()
	// Fixed before hogs are let loose, which keep this goroutine from the CPU as well.
	w.last = Now()
	w.first = w.last + w.period
	writer.Send(plan.message(units))

	phase := func(batches uint64, histogram *Histogram) {
		from := w.last
		for ; batches > 0; batches-- {
			w.serve(units, histogram)
			if cpu := CurrentCPU(); cpu >= 0 {
				seen[cpu] = true
			}
		}
		histogram.SpanClock = w.last - from
	}
	phase(plan.WarmupBatches, warmup)
	phase(plan.Batches, measure)
	end := observeEnd()

	seq := writer.sendHistogram(0, "warmup", warmup)
	writer.sendHistogram(seq, "measure", measure)
	turns := Turns{}
	turns.Count(w.served)
	evidence := evidenceMessage{
		T: "evidence", Units: w.served, Turns: &turns, Token: &w.served, AddressSpaces: addressSpaces(&turns),
		CPUs: sorted(seen), Counts: map[string]int64{"wakes_for_several": w.several},
	}
	evidence.since(begin, end)
	writer.Send(evidence)
	writer.Send(endMessage{T: "end", Status: "ok", Samples: warmup.Count + measure.Count})
	return nil
}
