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
	Offer         Offer
	Contexts      uint64
	Timing        string
	CPUs          []int
	BatchUnits    uint64
	BatchNs       uint64
	Batches       uint64
	WarmupBatches uint64
	VerifyUnits   uint64
	Seed          uint64 // Another one in every start.
	Parameters    map[string]string
}

// message is what the probe says that it will do, with the k that calibration gave.
func (p *Plan) message(units uint64) planMessage {
	return planMessage{
		T: "plan", Mechanism: p.Mechanism, Experiment: p.Offer.Experiment, Contexts: p.Contexts, Timing: p.Timing,
		CPUs: p.CPUs, BatchUnits: units, Batches: p.Batches, WarmupBatches: p.WarmupBatches, Parameters: p.Parameters,
	}
}

// Number is the value of a parameter that is an integer; 0 for a mechanism that has no such parameter.
func (p *Plan) Number(parameter string) uint64 {
	value, _ := strconv.ParseUint(p.Parameters[parameter], 10, 63)
	return value
}

// Parameter is one parameter of a mechanism: words, or an integer when there are no words.
type Parameter struct {
	Name  string
	Words []string
}

// mostUnits is the largest k of PROTOCOL.md, section 1.
const mostUnits = 1_000_000_000_000

// ParsePlan reads the words after `run`, in any order. The mechanism must be known before its parameters can be told from
// typing errors, so it is looked for first.
func ParsePlan(words []string, list []Mechanism) (*Plan, *Refusal) {
	take := split(words)
	mechanism := take.mechanism(list)
	if take.refusal != nil {
		return nil, take.refusal
	}
	take.reportFd()
	take.word("protocol", []string{strconv.Itoa(Protocol)})
	plan := &Plan{
		Mechanism:     mechanism.ID,
		Offer:         take.offer(mechanism),
		Contexts:      take.integer("contexts"),
		Timing:        take.word("timing", timings()),
		CPUs:          take.cpus("cpus"),
		BatchUnits:    take.integer("batch_units"),
		BatchNs:       take.integer("batch_ns"),
		Batches:       take.integer("batches"),
		WarmupBatches: take.integer("warmup_batches"),
		VerifyUnits:   take.integer("verify_units"),
		Seed:          take.integer("seed"),
		Parameters:    map[string]string{},
	}
	for _, parameter := range mechanism.Parameters {
		if parameter.Words != nil {
			plan.Parameters[parameter.Name] = take.word(parameter.Name, parameter.Words)
		} else {
			plan.Parameters[parameter.Name] = strconv.FormatUint(take.integer(parameter.Name), 10)
		}
	}
	for key := range take.values {
		take.refuse("unknown_key", "`%s` is neither a key of `run` nor a parameter of %s", key, mechanism.ID)
	}
	return plan, take.refusal
}

// ReportFd is looked for before anything else is judged, so that even a refusal reaches the host.
func ReportFd(words []string) uintptr {
	for _, word := range words {
		if text := strings.TrimPrefix(word, "report_fd="); text != word {
			if fd, err := strconv.ParseUint(text, 10, 32); err == nil {
				return uintptr(fd)
			}
		}
	}
	return 1
}

// CheckDescribe: `describe` knows no key but report_fd.
func CheckDescribe(words []string) *Refusal {
	take := split(words)
	take.reportFd()
	for key := range take.values {
		take.refuse("unknown_key", "`%s` is not a key of `describe`; only report_fd is", key)
	}
	return take.refusal
}

// taker removes values one by one and remembers the first thing that is wrong; whatever is left at the end is unknown.
type taker struct {
	values  map[string]string
	refusal *Refusal
}

func (t *taker) refuse(code, format string, arguments ...any) {
	if t.refusal == nil {
		t.refusal = Refuse(code, format, arguments...)
	}
}

func split(words []string) *taker {
	t := &taker{values: map[string]string{}}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" {
			t.refuse("unknown_key", "`%s` is not of the form key=value", word)
		}
		if strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._,/+-") != "" {
			t.refuse("bad_value", "the value of `%s` may hold only letters, digits and . _ , / + -", key)
		}
		if _, twice := t.values[key]; twice {
			t.refuse("bad_value", "`%s` is given twice; give it once", key)
		}
		t.values[key] = value
	}
	return t
}

func (t *taker) mechanism(list []Mechanism) *Mechanism {
	id := t.text("mechanism")
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	t.refuse("unknown_mechanism", "this probe has no mechanism `%s`; `describe` lists those it has", id)
	return nil
}

// offer is any of the mechanism's if the word is refused.
func (t *taker) offer(mechanism *Mechanism) Offer {
	names := mechanism.experiments()
	return mechanism.Offers[max(0, slices.Index(names, t.word("experiment", names)))]
}

func (t *taker) text(key string) string {
	value, found := t.values[key]
	if !found {
		t.refuse("bad_value", "`%s` is missing; a plan has every key, and every parameter that `describe` lists", key)
	}
	delete(t.values, key)
	return value
}

// reportFd is the one key that has a default.
func (t *taker) reportFd() {
	if _, found := t.values["report_fd"]; found {
		t.integer("report_fd")
	}
}

func (t *taker) integer(key string) uint64 {
	text := t.text(key)
	value, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.refuse("bad_value", "`%s=%s` must be an integer", key, text)
	}
	return value
}

func (t *taker) word(key string, words []string) string {
	text := t.text(key)
	if !slices.Contains(words, text) {
		t.refuse("bad_value", "`%s=%s` must be one of: %s", key, text, strings.Join(words, ", "))
	}
	return text
}

func (t *taker) cpus(key string) []int {
	text, cpus := t.text(key), []int{}
	if text == "" {
		return cpus
	}
	for _, part := range strings.Split(text, ",") {
		cpu, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			t.refuse("bad_value", "`%s=%s` must be a list of CPU numbers such as 0,1", key, text)
		}
		cpus = append(cpus, int(cpu))
	}
	return cpus
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
