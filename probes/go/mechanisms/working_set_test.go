package mechanisms

import (
	"testing"

	"switchcost/probes/go/kit"
)

// Every unit touches every line of one set, in each way of timing; what touches nothing counts nothing.
func TestTouches(t *testing.T) {
	for bytes, lines := range map[string]int64{"1": 1, "65": 2, "128": 2, "4096": 64, "16384": 256, "100000": 1563} {
		for _, threads := range []string{"one", "all"} {
			workload := setUp(t, "mechanism=fiber/goroutine", "contexts=5", "working_set="+bytes, "os_threads="+threads)
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
			if !workload.Verify(10, kit.NewTrace(10)) {
				t.Error("a ring was not verified")
			}
		}
	}
	if touches, counted := setUp(t, "mechanism=fiber/goroutine", "contexts=5", "working_set=0").(kit.Counted).Counts()["touches"]; counted {
		t.Errorf("nothing is to be touched, and %v was counted", touches)
	}
}

func TestWorkingSetsThatCannotBe(t *testing.T) {
	for words, code := range map[string]string{"working_set=1073741824": "limit_reached", "working_set=64": "bad_value"} {
		all := []string{"mechanism=fiber/goroutine", "contexts=1000000", words}
		if code == "bad_value" {
			all = append(all, "experiment=create")
		}
		plan, mechanism, refusal := kit.ParsePlan(all, List)
		if refusal != nil {
			t.Fatal(refusal.Detail)
		}
		if _, refusal = mechanism.SetUp(plan); refusal == nil || refusal.Code != code {
			t.Errorf("%v: %v instead of %s", all, refusal, code)
		}
	}
}

func setUp(t *testing.T, words ...string) kit.Workload {
	t.Helper()
	plan, mechanism, refusal := kit.ParsePlan(words, List)
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	kit.TakeBlocks(plan)
	workload, refusal := mechanism.SetUp(plan)
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	return workload
}
