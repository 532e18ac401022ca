package mechanisms

import (
	"os"
	"runtime"
	"sort"
	"strconv"
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
			// Its own, or one of those that several mechanisms have.
			own := strings.Contains(string(text), "[parameters."+parameter.Name+"]")
			if _, list, _ := strings.Cut(string(text), "\ncommon = ["); !own && !strings.Contains(strings.SplitN(list, "]", 2)[0], `"`+parameter.Name+`"`) {
				t.Errorf("%s: parameter %s is not described", mechanism.ID, parameter.Name)
			}
		}
	}
}

// Every experiment of every mechanism, in each way of timing: no unit does nothing, a thousand units give a claim of a thousand.
func TestClaims(t *testing.T) {
	for _, mechanism := range List {
		for _, offer := range mechanism.Offers {
			if offer.SetUp == nil {
				continue // No token is passed; TestFootprint has it, and the kit's test of waiters.
			}
			for _, threads := range []string{"one", "all"} {
				check(t, mechanism, offer.Experiment, threads, "batch")
				if kit.CounterName != "" && offer.Experiment != "submit" && offer.Experiment != "contend" {
					check(t, mechanism, offer.Experiment, threads, "each")
				}
			}
		}
	}
}

func check(t *testing.T, mechanism kit.Mechanism, experiment, threads, timing string) {
	t.Helper()
	words := []string{"experiment=" + experiment, "contexts=5", "timing=" + timing}
	if has(mechanism.ID, "os_threads") {
		words = append(words, "os_threads="+threads)
	}
	if experiment == "submit" {
		words = append(words, "from=outside", "workers=1")
	}
	if experiment == "contend" {
		words = append(words, "hold=10", "think=10")
	}
	workload := setUp(t, mechanism.ID, words...)
	histogram := kit.NewHistogram()
	run := workload.Run
	if timing == "each" {
		run = func(units uint64) { workload.RunEach(units, histogram) }
	}
	run(10)
	workload.Reset()
	run(0)
	if turns, token, _ := workload.Claim(); turns.Total != 0 || token != 0 {
		t.Errorf("%v: nothing was asked, and %+v happened", words, turns)
	}
	run(1000)
	turns, token, broken := workload.Claim()
	want := uint64(1000)
	if timing == "each" && histogram.Count != 1010 {
		t.Errorf("%v: %d of 1010 intervals", words, histogram.Count)
	}
	if experiment == "message" {
		want *= 2 // A round trip is two switches.
	}
	if turns.Total != want || token != want || turns.Max != turns.Min && experiment != "contend" || broken {
		t.Errorf("%v: %+v, token %d, broken %v", words, turns, token, broken)
	}
	trace := kit.NewTrace(10)
	if ring, passes := workload.(kit.Ring); passes {
		ring.Verify(10, trace)
		for i, who := range trace.Who {
			if int(who) != (int(trace.Who[0])+i)%5 {
				t.Errorf("%v: context %d had token %d", words, who, i)
			}
		}
	}
}

// The kernel's figure of the contexts that a mechanism holds is about what the runtime itself counts for them.
func TestFootprint(t *testing.T) {
	const contexts = 20000
	if runtime.GOOS != "linux" {
		t.Skip("memory is read on Linux only")
	}
	for _, mechanism := range List {
		if mechanism.Offers[len(mechanism.Offers)-1].Hold == nil {
			continue
		}
		plan := parse(t, mechanism.ID, "experiment=footprint", "contexts=20000")
		before := inUse()
		gain, ran, refusal := kit.Gain(plan)
		if refusal != nil {
			t.Fatal(refusal.Detail)
		}
		own := inUse() - before
		t.Logf("%s: %d bytes resident a context, %d by the runtime's own count", mechanism.ID, gain.Resident/contexts, own/contexts)
		if ran != contexts || gain.Resident < own*8/10 || gain.Resident > own*12/10 {
			t.Errorf("%s: %d contexts ran, %+v gained, %d by the runtime's own count", mechanism.ID, ran, gain, own)
		}
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse + m.GCSys)
}

// Stacks begin at multiples of 2 KiB: where a loop begins in its own is all that can differ.
func TestStacksBeginWhereTheSeedSays(t *testing.T) {
	place := func(words ...string) uintptr {
		workload := setUp(t, "fiber/goroutine", append(words, "contexts=3")...)
		workload.Run(3)
		workload.Claim()
		stacks := workload.(*goroutineRing).stacks
		if stacks[1]%2048 != stacks[2]%2048 {
			t.Errorf("%v: %v", words, stacks)
		}
		return stacks[1] % 2048
	}
	drawn, fixed := map[uintptr]bool{}, map[uintptr]bool{}
	for seed := 0; seed < 50; seed++ {
		drawn[place("seed="+strconv.Itoa(seed))] = true
		fixed[place("seed="+strconv.Itoa(seed), "heap_offset=fixed")] = true
	}
	if len(drawn) < 4 || len(fixed) != 1 {
		t.Errorf("drawn: %v, fixed: %v", drawn, fixed)
	}
}

// Every goroutine of a ring is found on a stack of its own, however many there are.
func TestStacksAreDistinct(t *testing.T) {
	for _, contexts := range []string{"contexts=2", "contexts=5", "contexts=20000"} {
		workload := setUp(t, "fiber/goroutine", contexts)
		workload.Run(workload.Lap() * 3)
		if turns, _, _ := workload.Claim(); workload.(kit.Counted).Counts()["distinct_stacks"] != int64(turns.Contexts) {
			t.Errorf("%s: %v", contexts, workload.(kit.Counted).Counts())
		}
	}
	if distinct := distinctStacks([]uintptr{5000, 9000, 5000, 5500, 9100}); distinct != 2 {
		t.Errorf("%d stacks were distinguished where there are two", distinct)
	}
}
