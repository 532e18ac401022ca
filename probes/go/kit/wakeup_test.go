package kit

import (
	"testing"
	"time"
)

// A wake-up 3.5 periods late serves four times, each late by another length; the next times stay where they were.
func TestLatenciesCountFromTheIntendedTimes(t *testing.T) {
	now := int64(1000)
	oversleeps := []int64{0, 350, 20, 0}
	slept := []int64{}
	w := &waiter{now: func() int64 { return now }, first: 1100, period: 100}
	w.sleep = func(length time.Duration) {
		now += int64(length) + oversleeps[len(slept)]
		slept = append(slept, int64(length))
	}
	histogram := NewHistogram()
	w.serve(2, histogram) // The second batch goes on where the first one ended, in the middle of a wake-up.
	w.serve(5, histogram)
	if histogram.Count != 7 || histogram.Sum != 0+(350+250+150+50)+20+0 || histogram.Max != 350 {
		t.Errorf("%d latencies, sum %d, longest %d", histogram.Count, histogram.Sum, histogram.Max)
	}
	if len(slept) != 4 || slept[2] != 50 || slept[3] != 80 || now != 1700 {
		t.Errorf("slept %v, ended at %d", slept, now)
	}
	if w.served != 7 || w.several != 1 {
		t.Errorf("%d served, %d wake-ups for several", w.served, w.several)
	}
}
