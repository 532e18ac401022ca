package kit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Plan is one `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message.
type Plan struct {
	Mechanism     string
	Experiment    string
	Contexts      uint64
	Timing        string
	CPUs          []int
	BatchUnits    uint64
	BatchNs       uint64
	Batches       uint64
	WarmupBatches uint64
	VerifyUnits   uint64
	Seed          uint64 // Another one in every start.
	// Parameters holds every parameter of the mechanism, defaults filled in.
	Parameters map[string]string
}

// message is what the probe says that it will do, with the k that calibration gave.
func (p *Plan) message(units uint64) planMessage {
	return planMessage{
		T: "plan", Mechanism: p.Mechanism, Experiment: p.Experiment, Contexts: p.Contexts, Timing: p.Timing,
		CPUs: p.CPUs, BatchUnits: units, Batches: p.Batches, WarmupBatches: p.WarmupBatches, Parameters: p.Parameters,
	}
}

// Number is the value of a parameter that is an integer; 0 for a mechanism that has no such parameter.
func (p *Plan) Number(parameter string) uint64 {
	value, _ := strconv.ParseUint(p.Parameters[parameter], 10, 63)
	return value
}

// Parameter is one parameter of a mechanism: words, or an integer within bounds when there are no words.
type Parameter struct {
	Name     string
	Words    []string
	Min, Max uint64
	Default  string
}

const (
	// The limits of PROTOCOL.md, section 1.
	maxUnits      = 1_000_000_000_000
	maxBatches    = 1_000_000
	maxContexts   = 1 << 24
	maxCPU        = 1<<20 - 1
	maxDescriptor = 1 << 20
)

// ParsePlan reads the words after `run`. The mechanism must be known before its parameters can be told from typing
// errors, so it is looked for first; the order of the words does not matter.
func ParsePlan(words []string, list []Mechanism) (*Plan, *Mechanism, *Refusal) {
	values, refusal := split(words)
	if refusal != nil {
		return nil, nil, refusal
	}
	mechanism, refusal := find(values, list)
	if refusal != nil {
		return nil, nil, refusal
	}
	plan := &Plan{Mechanism: mechanism.ID, Parameters: map[string]string{}}
	take := taker{values: values}
	take.integer("report_fd", 1, 0, maxDescriptor)
	take.integer("protocol", Protocol, Protocol, Protocol)
	plan.Experiment = take.word("experiment", "switch", mechanism.Experiments)
	plan.Contexts = take.integer("contexts", 2, 1, maxContexts)
	plan.Timing = take.word("timing", "batch", timings())
	plan.CPUs = take.cpus("cpus")
	plan.BatchUnits = take.integer("batch_units", 0, 0, maxUnits)
	plan.BatchNs = take.integer("batch_ns", 1_000_000, 1, maxUnits)
	plan.Batches = take.integer("batches", 30, 1, maxBatches)
	plan.WarmupBatches = take.integer("warmup_batches", 5, 0, maxBatches)
	plan.VerifyUnits = take.integer("verify_units", 1000, 0, maxContexts)
	plan.Seed = take.integer("seed", 0, 0, 1<<63-1)
	for _, parameter := range mechanism.Parameters {
		if parameter.Words != nil {
			plan.Parameters[parameter.Name] = take.word(parameter.Name, parameter.Default, parameter.Words)
			continue
		}
		fallback, _ := strconv.ParseUint(parameter.Default, 10, 63)
		value := take.integer(parameter.Name, fallback, parameter.Min, parameter.Max)
		plan.Parameters[parameter.Name] = strconv.FormatUint(value, 10)
	}
	if refusal := take.leftover(mechanism); refusal != nil {
		return nil, nil, refusal
	}
	return plan, mechanism, nil
}

// ReportFd is looked for before anything else is judged, so that even a refusal reaches the host.
func ReportFd(words []string) uintptr {
	for _, word := range words {
		if text := strings.TrimPrefix(word, "report_fd="); text != word {
			if fd, err := strconv.ParseUint(text, 10, 32); err == nil && fd <= maxDescriptor {
				return uintptr(fd)
			}
		}
	}
	return 1
}

// CheckDescribe: `describe` knows no key but report_fd.
func CheckDescribe(words []string) *Refusal {
	values, refusal := split(words)
	if refusal != nil {
		return refusal
	}
	take := taker{values: values}
	take.integer("report_fd", 1, 0, maxDescriptor)
	for key := range values {
		return Refuse("unknown_key", "`%s` is not a key of `describe`; only report_fd is", key)
	}
	return take.refusal
}

func split(words []string) (map[string]string, *Refusal) {
	values := map[string]string{}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" {
			return nil, Refuse("unknown_key", "`%s` is not of the form key=value", word)
		}
		if strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._,/+-") != "" {
			return nil, Refuse("bad_value", "the value of `%s` may hold only letters, digits and . _ , / + -", key)
		}
		if _, twice := values[key]; twice {
			return nil, Refuse("bad_value", "`%s` is given twice; give it once", key)
		}
		values[key] = value
	}
	return values, nil
}

func find(values map[string]string, list []Mechanism) (*Mechanism, *Refusal) {
	id, found := values["mechanism"]
	if !found {
		return nil, Refuse("bad_value", "`mechanism` is missing; `describe` lists the mechanisms")
	}
	delete(values, "mechanism")
	for i := range list {
		if list[i].ID == id {
			return &list[i], nil
		}
	}
	return nil, Refuse("unknown_mechanism", "this probe has no mechanism `%s`; `describe` lists those it has", id)
}

// taker removes values one by one and remembers the first that is wrong; whatever is left at the end is unknown.
type taker struct {
	values  map[string]string
	refusal *Refusal
}

func (t *taker) take(key string) (string, bool) {
	value, found := t.values[key]
	delete(t.values, key)
	return value, found
}

func (t *taker) refuse(format string, arguments ...any) {
	if t.refusal == nil {
		t.refusal = Refuse("bad_value", format, arguments...)
	}
}

func (t *taker) integer(key string, fallback, min, max uint64) uint64 {
	text, found := t.take(key)
	if !found {
		return fallback
	}
	value, err := strconv.ParseUint(text, 10, 63)
	if err != nil || strings.HasPrefix(text, "+") || value < min || value > max {
		t.refuse("`%s=%s` must be an integer from %d to %d", key, text, min, max)
	}
	return value
}

func (t *taker) word(key, fallback string, words []string) string {
	text, found := t.take(key)
	if !found {
		return fallback
	}
	if !slices.Contains(words, text) {
		t.refuse("`%s=%s` must be one of: %s", key, text, strings.Join(words, ", "))
	}
	return text
}

func (t *taker) cpus(key string) []int {
	text, _ := t.take(key)
	cpus := []int{}
	if text == "" {
		return cpus
	}
	for _, part := range strings.Split(text, ",") {
		cpu, err := strconv.ParseUint(part, 10, 32)
		if err != nil || cpu > maxCPU {
			t.refuse("`%s=%s` must be a list of CPU numbers from 0 to %d such as 0,1", key, text, maxCPU)
			return cpus
		}
		cpus = append(cpus, int(cpu))
	}
	return cpus
}

func (t *taker) leftover(mechanism *Mechanism) *Refusal {
	for key := range t.values {
		return Refuse("unknown_key", "`%s` is neither a key of `run` nor a parameter of %s", key, mechanism.ID)
	}
	return t.refusal
}

// Refusal is why a run does not take place or came to nothing; it becomes the `end` message.
type Refusal struct {
	Status, Code, Detail string
}

// Refuse says that the plan is bad.
func Refuse(code, format string, arguments ...any) *Refusal {
	return &Refusal{Status: "refused", Code: code, Detail: fmt.Sprintf(format, arguments...)}
}

// Unsupported says that the plan is fine but this machine cannot carry it out.
func Unsupported(code, format string, arguments ...any) *Refusal {
	return &Refusal{Status: "unsupported", Code: code, Detail: fmt.Sprintf(format, arguments...)}
}

// Failed says that something broke.
func Failed(code, format string, arguments ...any) *Refusal {
	return &Refusal{Status: "failed", Code: code, Detail: fmt.Sprintf(format, arguments...)}
}
