package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"unicode/utf8"
)

// Protocol is the version of PROTOCOL.md that this kit speaks.
const Protocol = 1

// Writer sends messages, one line each, in one system call each.
type Writer struct{ file *os.File }

// NewWriter writes to an inherited descriptor.
func NewWriter(fd uintptr) *Writer {
	return &Writer{file: reportFile(fd)}
}

// Send writes one message. A host that no longer listens is the end of the run: nothing could be reported about it.
func (w *Writer) Send(message any) {
	line, err := encode(message)
	if err == nil {
		_, err = w.file.Write(line)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot write a message: %v\n", err)
		os.Exit(1)
	}
}

// encode makes one ASCII line: encoding/json leaves non-ASCII text as it is, and error texts may quote the command line.
func encode(message any) ([]byte, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return nil, err
	}
	line := make([]byte, 0, raw.Len())
	for rest := raw.Bytes(); len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch {
		case r < utf8.RuneSelf:
			line = append(line, byte(r))
		case r > 0xffff:
			line = append(line, fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)...)
		default:
			line = append(line, fmt.Sprintf(`\u%04x`, r)...)
		}
	}
	return line, nil
}

// The messages of PROTOCOL.md, section 2. A nil pointer travels as null.
type (
	helloMessage struct {
		T        string       `json:"t"`
		Protocol int          `json:"protocol"`
		Probe    string       `json:"probe"`
		Version  string       `json:"version"`
		Runtime  string       `json:"runtime"`
		Compiler string       `json:"compiler"`
		Flags    *string      `json:"flags"`
		Pid      int          `json:"pid"`
		Clock    clockField   `json:"clock"`
		Counter  *counterName `json:"counter"`
	}
	clockField struct {
		Name           string `json:"name"`
		TicksPerSecond int64  `json:"ticks_per_second"`
		ReadCostTicks  int64  `json:"read_cost_ticks"`
	}
	counterName struct {
		Name string `json:"name"`
	}
	mechanismMessage struct {
		T           string   `json:"t"`
		ID          string   `json:"id"`
		Experiments []string `json:"experiments"`
		Timings     []string `json:"timings"`
		Parameters  []string `json:"parameters"`
		Available   bool     `json:"available"`
		Code        string   `json:"code,omitempty"`
		Reason      string   `json:"reason,omitempty"`
	}
	planMessage struct {
		T             string            `json:"t"`
		Mechanism     string            `json:"mechanism"`
		Experiment    string            `json:"experiment"`
		Contexts      uint64            `json:"contexts"`
		Timing        string            `json:"timing"`
		CPUs          []int             `json:"cpus"`
		BatchUnits    uint64            `json:"batch_units"`
		Batches       uint64            `json:"batches"`
		WarmupBatches uint64            `json:"warmup_batches"`
		Parameters    map[string]string `json:"parameters"`
	}
	samplesMessage struct {
		T        string             `json:"t"`
		Seq      int                `json:"seq"`
		Phase    string             `json:"phase"`
		Units    uint64             `json:"units"`
		Quantity string             `json:"quantity,omitempty"` // Of a footprint: what the numbers are.
		Ticks    []int64            `json:"ticks"`
		Rulers   map[string][]int64 `json:"rulers,omitempty"`
	}
	histogramMessage struct {
		T           string      `json:"t"`
		Seq         int         `json:"seq"`
		Phase       string      `json:"phase"`
		Units       uint64      `json:"units"`
		Bits        int         `json:"bits"`
		Buckets     [][2]uint64 `json:"buckets"`
		Sum         uint64      `json:"sum"`
		Min         uint64      `json:"min"`
		Max         uint64      `json:"max"`
		PairSum     uint64      `json:"pair_sum"`
		PairCount   uint64      `json:"pair_count"`
		SpanCounter uint64      `json:"span_counter"`
		SpanClock   int64       `json:"span_clock"`
	}
	evidenceMessage struct {
		T             string            `json:"t"`
		Units         uint64            `json:"units"`
		Turns         *Turns            `json:"turns"`
		Token         *uint64           `json:"token"`
		Kernel        *kernelField      `json:"kernel"`
		AddressSpaces *uint64           `json:"address_spaces"`
		CPUs          []int             `json:"cpus"`
		Migrations    *uint64           `json:"migrations"`
		Hops          *hopsField        `json:"hops"`
		PageFaults    *pageFaultsField  `json:"page_faults"`
		GcCycles      *uint64           `json:"gc_cycles"`
		Counts        map[string]int64  `json:"counts,omitempty"`
		Why           map[string]string `json:"why,omitempty"`
	}
	kernelField struct {
		Voluntary   uint64 `json:"voluntary"`
		Involuntary uint64 `json:"involuntary"`
		Tasks       int    `json:"tasks"`
		Source      string `json:"source"`
	}
	hopsField struct {
		Count      uint64  `json:"count"`
		InOrder    uint64  `json:"in_order"`
		SameCPU    uint64  `json:"same_cpu"`
		SameThread *uint64 `json:"same_thread,omitempty"`
		Timed      bool    `json:"timed"` // Always false: the pass comes after the timed batches, by the same contexts.
	}
	pageFaultsField struct {
		Minor int64 `json:"minor"`
		Major int64 `json:"major"`
	}
	noteMessage struct {
		T    string `json:"t"`
		Text string `json:"text"`
	}
	endMessage struct {
		T       string `json:"t"`
		Status  string `json:"status"`
		Samples uint64 `json:"samples"`
		Code    string `json:"code,omitempty"`
		Detail  string `json:"detail,omitempty"`
	}
)

// Turns is what the contexts counted themselves.
type Turns struct {
	Total    uint64 `json:"total"`
	Min      uint64 `json:"min"`
	Max      uint64 `json:"max"`
	Contexts uint64 `json:"contexts"`
}

// Count adds one context's turns.
func (t *Turns) Count(turns uint64) {
	if t.Contexts == 0 {
		t.Min = turns
	}
	t.Min, t.Max = min(t.Min, turns), max(t.Max, turns)
	t.Total += turns
	t.Contexts++
}

// mostTicks keeps a line below 65 536 bytes even if every tick, also of three rulers, had 20 digits.
const mostTicks = 750

// sendSamples splits what is too long for a line. Readings of the rulers are those around each batch, one more than ticks.
func (w *Writer) sendSamples(seq int, phase string, units uint64, ticks []int64, readings []reading) int {
	for len(ticks) > 0 {
		most := min(len(ticks), mostTicks)
		w.Send(samplesMessage{T: "samples", Seq: seq, Phase: phase, Units: units, Ticks: ticks[:most], Rulers: slower(readings[:most+1])})
		ticks, readings = ticks[most:], readings[most:]
		seq++
	}
	return seq
}

func (w *Writer) sendHistogram(seq int, phase string, h *Histogram) int {
	const most = 1400
	buckets := h.Buckets()
	for len(buckets) > 0 {
		part := buckets[:min(len(buckets), most)]
		w.Send(histogramMessage{
			T: "histogram", Seq: seq, Phase: phase, Units: h.Count, Bits: histogramBits, Buckets: part,
			Sum: h.Sum, Min: h.Min, Max: h.Max, PairSum: h.PairSum, PairCount: h.PairCount,
			SpanCounter: h.SpanCounter, SpanClock: h.SpanClock,
		})
		buckets = buckets[len(part):]
		seq++
	}
	return seq
}
