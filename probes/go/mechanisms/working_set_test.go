package mechanisms

import (
	"slices"
	"strings"
	"testing"

	"switchcost/probes/go/kit"
)

// Every unit touches every line of one set, in each way of timing; what touches nothing counts nothing.
func TestTouches(t *testing.T) {
	for bytes, lines := range map[string]int64{"1": 1, "65": 2, "128": 2, "4096": 64, "16384": 256, "100000": 1563} {
		for _, threads := range []string{"one", "all"} {
			workload := setUp(t, "fiber/goroutine", "contexts=5", "working_set="+bytes, "os_threads="+threads)
			workload.Run(10)
			workload.Reset()
			workload.Run(50)
			units := int64(50)
			if kit.CounterName != "" {
				workload.RunEach(50, kit.NewHistogram())
				units += 50
			}
			if _, _, broken := workload.Claim(); broken {
				t.Error("the token was out of order")
			}
			if touches := workload.(kit.Counted).Counts()["touches"]; touches != units*lines {
				t.Errorf("working_set=%s os_threads=%s: %d touches in %d units of %d lines", bytes, threads, touches, units, lines)
			}
			workload.(kit.Ring).Verify(10, kit.NewTrace(10))
		}
	}
	if touches, counted := setUp(t, "fiber/goroutine", "contexts=5", "working_set=0").(kit.Counted).Counts()["touches"]; counted {
		t.Errorf("nothing is to be touched, and %v was counted", touches)
	}
}

func TestWorkingSetsBeyondMemory(t *testing.T) {
	plan := parse(t, "fiber/goroutine", "contexts=1000000", "working_set=1073741824")
	if _, refusal := plan.Offer.SetUp(plan); refusal == nil || refusal.Code != "limit_reached" {
		t.Errorf("%v", refusal)
	}
}

// usual is what the words of a plan are that a test does not give.
const usual = "protocol=1 experiment=switch contexts=2 timing=batch cpus= batch_units=0 batch_ns=1000000 batches=30 warmup_batches=5 verify_units=1000 seed=0"

func parse(t *testing.T, id string, given ...string) *kit.Plan {
	t.Helper()
	words := append(given, "mechanism="+id)
	fill := strings.Fields(usual)
	for _, usually := range []string{"os_threads=one", "payload=8", "heap_offset=drawn", "working_set=0", "depth=0", "frames=held"} {
		if name, _, _ := strings.Cut(usually, "="); has(id, name) {
			fill = append(fill, usually)
		}
	}
	for _, word := range fill {
		key, _, _ := strings.Cut(word, "=")
		if !slices.ContainsFunc(given, func(own string) bool { return strings.HasPrefix(own, key+"=") }) {
			words = append(words, word)
		}
	}
	plan, refusal := kit.ParsePlan(words, List)
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	return plan
}

// has says whether a mechanism has a parameter.
func has(id, parameter string) bool {
	return slices.ContainsFunc(List, func(m kit.Mechanism) bool {
		return m.ID == id && slices.ContainsFunc(m.Parameters, func(p kit.Parameter) bool { return p.Name == parameter })
	})
}

func setUp(t *testing.T, id string, words ...string) kit.Workload {
	t.Helper()
	plan := parse(t, id, words...)
	kit.TakeBlocks(plan)
	workload, refusal := plan.Offer.SetUp(plan)
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	return workload
}
