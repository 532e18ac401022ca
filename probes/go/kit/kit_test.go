package kit

import (
	"encoding/json"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestBucketsKeepTheirPromise(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 100_000; i++ {
		value := random.Uint64() >> uint(random.Intn(64))
		bucket := bucketOf(value)
		edge := lowerEdge(bucket)
		if edge > value || bucketOf(edge) != bucket || edge != 0 && bucketOf(edge-1) != bucket-1 {
			t.Fatalf("%d: bucket %d begins at %d", value, bucket, edge)
		}
		if value < 1<<histogramBits && edge != value {
			t.Fatalf("%d is not exact", value)
		}
		if width := value - edge; width > edge>>histogramBits {
			t.Fatalf("%d: bucket at %d is too wide", value, edge)
		}
	}
	if top := bucketOf(1<<64 - 1); top >= len(NewHistogram().counts) {
		t.Fatalf("bucket %d is outside", top)
	}
}

func TestNegativeIntervalsAreCountedAndNotRecorded(t *testing.T) {
	if CounterName == "" {
		t.Skip("no cycle counter")
	}
	histogram := NewHistogram()
	histogram.Arrive(ReadCounter() + 1<<62)
	if histogram.backwards != 1 || histogram.Count != 0 {
		t.Errorf("%d negative intervals, %d recorded", histogram.backwards, histogram.Count)
	}
	m := measurement{measure: histogram}
	if refusal := m.backwards(); refusal == nil || refusal.Code != "self_check_failed" {
		t.Errorf("%+v", refusal)
	}
}

func TestTraceCountsHops(t *testing.T) {
	trace := NewTrace(4)
	for i, visit := range []struct {
		who uint32
		cpu int32
		tid int32
	}{{0, 0, 7}, {1, 0, 8}, {2, 1, 8}, {0, 1, 7}, {2, 1, 9}} {
		trace.Who[i], trace.CPU[i], trace.Thread[i] = visit.who, visit.cpu, visit.tid
	}
	seen := map[int]bool{}
	hops, migrations := trace.judge(3, seen)
	if *hops.SameThread != 1 || *migrations != 1 || len(seen) != 2 {
		t.Errorf("%+v %d %v", hops, *migrations, seen)
	}
	if hops.SameThread = nil; *hops != (hopsField{Count: 4, InOrder: 3, SameCPU: 3}) {
		t.Errorf("%+v", hops)
	}
	trace.Thread[2] = -1
	if hops, _ := trace.judge(3, seen); hops.SameThread != nil {
		t.Errorf("a thread was not told, and %d hops stayed on one", *hops.SameThread)
	}
}

func TestLinesAreASCII(t *testing.T) {
	line, err := encode(noteMessage{"note", "µ <é> 😀"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range line {
		if b >= 0x80 {
			t.Fatalf("not ASCII: %q", line)
		}
	}
	var back noteMessage
	if json.Unmarshal(line, &back) != nil || back.Text != "µ <é> 😀" {
		t.Fatalf("%q", line)
	}
}

func TestABatchGetsTheSlowerReadings(t *testing.T) {
	rulers := slower([]reading{{5, 1, 1}, {3, 2, 1}, {4, 1, 1}})
	if chain, width := rulers["chain"], rulers["width"]; !slices.Equal(chain, []int64{5, 4}) || !slices.Equal(width, []int64{2, 2}) {
		t.Errorf("%v", rulers)
	}
	if len(rulers) != len(rulerNames) {
		t.Errorf("%d rulers", len(rulers))
	}
}

func TestLongestLinesFit(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	w := &Writer{file: file}
	ticks := make([]int64, 10_000)
	readings := make([]reading, len(ticks)+1)
	histogram := NewHistogram()
	for i := range ticks {
		ticks[i], readings[i] = 1<<63-1, reading{1<<63 - 1, 1<<63 - 1, 1<<63 - 1}
	}
	for i := range histogram.counts {
		histogram.counts[i] = 1<<63 - 1
	}
	seq := w.sendSamples(0, "measure", 1, ticks, readings)
	w.sendHistogram(seq, "measure", histogram)
	for _, line := range readLines(t, file.Name()) {
		if len(line) > 65_535 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func readLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

func TestBlocksAreDrawnFromTheSeed(t *testing.T) {
	list := []Mechanism{{ID: "a/ring", Offers: []Offer{Switch(nil), Create(nil)}, Parameters: []Parameter{HeapOffsetParameter}}}
	usual := "protocol=1 mechanism=a/ring contexts=2 timing=batch cpus= batch_units=0 batch_ns=1000000 batches=30 warmup_batches=5 verify_units=1000"
	taken := func(words string) (sizes []int) {
		plan, refusal := ParsePlan(strings.Fields(usual+" "+words), list)
		if refusal != nil {
			t.Fatal(refusal.Detail)
		}
		before := len(blocks.words)
		TakeBlocks(plan)
		if len(blocks.words) != len(blocks.pointers) {
			t.Errorf("%d and %d blocks", len(blocks.words), len(blocks.pointers))
		}
		for _, block := range blocks.words[before:] {
			sizes = append(sizes, len(block))
		}
		return sizes
	}
	drawn := "experiment=switch heap_offset=drawn seed="
	if one, same, other := taken(drawn+"1"), taken(drawn+"1"), taken(drawn+"2"); len(one) == 0 || !slices.Equal(one, same) || slices.Equal(one, other) {
		t.Errorf("blocks of %d, %d and %d bytes", one, same, other)
	}
	for _, words := range []string{"experiment=switch heap_offset=fixed seed=1", "experiment=create heap_offset=drawn seed=1"} {
		if sizes := taken(words); len(sizes) != 0 {
			t.Errorf("%v: blocks of %d bytes", words, sizes)
		}
	}
}
