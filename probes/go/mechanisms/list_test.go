package mechanisms

import (
	"os"
	"sort"
	"strings"
	"testing"

	"switchcost/probes/go/kit"
)

func TestListIsSortedAndDescribed(t *testing.T) {
	if !sort.SliceIsSorted(List, func(i, j int) bool { return List[i].ID < List[j].ID }) {
		t.Error("list.go is not sorted by id")
	}
	for _, mechanism := range List {
		text, err := os.ReadFile("../../../mechanisms/" + mechanism.ID + ".toml")
		if err != nil {
			t.Error(err)
			continue
		}
		for _, parameter := range mechanism.Parameters {
			if !strings.Contains(string(text), "[parameters."+parameter.Name+"]") {
				t.Errorf("%s: parameter %s is not described", mechanism.ID, parameter.Name)
			}
		}
	}
}

// Every experiment of every mechanism, in each way of timing: no unit does nothing, a thousand units give a claim of a thousand.
func TestClaims(t *testing.T) {
	for _, mechanism := range List {
		for _, experiment := range mechanism.Experiments {
			for _, threads := range []string{"one", "all"} {
				check(t, mechanism, experiment, threads)
			}
		}
	}
}

func check(t *testing.T, mechanism kit.Mechanism, experiment, threads string) {
	t.Helper()
	words := []string{"mechanism=" + mechanism.ID, "experiment=" + experiment, "contexts=5", "os_threads=" + threads}
	plan, _, refusal := kit.ParsePlan(words, List)
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	workload, refusal := mechanism.SetUp(plan)
	if refusal != nil {
		t.Fatal(refusal.Detail)
	}
	histogram := kit.NewHistogram()
	workload.Run(10)
	workload.Reset()
	workload.Run(0)
	if turns, token, _ := workload.Claim(); turns.Total != 0 || token != 0 {
		t.Errorf("%v: nothing was asked, and %+v happened", words, turns)
	}
	workload.Run(1000)
	if kit.CounterName != "" {
		workload.RunEach(1000, histogram)
	}
	workload.Run(1000)
	turns, token, broken := workload.Claim()
	want := 2000 + histogram.Count
	if experiment == "message" {
		want *= 2 // A round trip is two hand-offs.
	}
	if turns.Total != want || token != want || turns.Max != turns.Min || broken {
		t.Errorf("%v: %+v, token %d, broken %v", words, turns, token, broken)
	}
	trace := kit.NewTrace(10)
	if workload.Verify(10, trace) {
		for i, who := range trace.Who {
			if int(who) != i%5 {
				t.Errorf("%v: context %d had token %d", words, who, i)
			}
		}
	}
}
