package kit

import (
	"sync/atomic"
	"unsafe"
)

const (
	lineBytes = 64
	pageBytes = 4096
	// Three cache lines from the beginning of one set to that of the next, beside whole pages: small sets that all began at
	// the same offset of a page would share one set of the first-level cache.
	colourGap = 3 * lineBytes
)

// WorkingSetParameter is the parameter that rings with working sets have.
var WorkingSetParameter = Parameter{Name: "working_set"}

// WorkingSet is what one context touches between two switches: whole cache lines, each visited once, in steps of about
// 0.618 of the set, as METHODOLOGY.md says. A touch adds one to the first word of a line, so that the memory itself is
// the record of what was touched.
type WorkingSet struct {
	base        unsafe.Pointer
	bytes, step uintptr
}

// WorkingSets are those of all contexts, in one mapping that the collector knows nothing of.
type WorkingSets struct {
	memory      []byte
	bytes, step uintptr
	pitch       uintptr
}

// NewWorkingSets maps and touches the sets of so many contexts; nil without a refusal means that the plan asks for none.
func NewWorkingSets(plan *Plan, contexts uint64) (*WorkingSets, *Refusal) {
	lines := (plan.Number("working_set") + lineBytes - 1) / lineBytes
	if lines == 0 {
		return nil, nil
	}
	pitch := (lines*lineBytes+pageBytes-1)/pageBytes*pageBytes + colourGap
	needed := (pitch + pageBytes) * contexts
	if available := AvailableMemory(); available > 0 && needed > available/5*4 {
		return nil, Unsupported("limit_reached", "%d working sets need about %d MB and %d MB are available; use fewer contexts or a smaller working_set",
			contexts, needed>>20, available>>20)
	}
	memory, err := mapMemory(int(pitch*contexts + pageBytes))
	if err != nil {
		return nil, Unsupported("limit_reached", "the system refused a mapping of %d bytes (%s); use fewer contexts or a smaller working_set", needed, err)
	}
	sets := &WorkingSets{memory: memory, bytes: uintptr(lines * lineBytes), step: uintptr(stepOf(lines) * lineBytes), pitch: uintptr(pitch)}
	for i := uint64(0); i < contexts; i++ {
		sets.Of(i).touched()
	}
	return sets, nil
}

// stepOf is the number nearest to the golden section from above that walks through all lines.
func stepOf(lines uint64) uint64 {
	step := lines*618/1000 + 1
	for greatestCommonDivisor(step, lines) != 1 {
		step++
	}
	if lines == 1 {
		return 1
	}
	return step % lines
}

func greatestCommonDivisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Of is the set of one context.
func (s *WorkingSets) Of(context uint64) WorkingSet {
	return WorkingSet{unsafe.Pointer(&s.memory[uintptr(context)*s.pitch]), s.bytes, s.step}
}

// Touched is the number of touches that all sets have had. To be called while no context runs.
func (s *WorkingSets) Touched() (sum int64) {
	for offset := uintptr(0); offset+s.bytes <= uintptr(len(s.memory))-pageBytes; offset += s.pitch {
		sum += int64(WorkingSet{unsafe.Pointer(&s.memory[offset]), s.bytes, s.step}.touched())
	}
	return sum
}

// Touch visits every line once.
//
//go:noinline
func (s WorkingSet) Touch() {
	for offset := uintptr(0); ; {
		*(*uint64)(unsafe.Add(s.base, offset))++
		if offset += s.step; offset >= s.bytes {
			offset -= s.bytes
		}
		if offset == 0 {
			return
		}
	}
}

// touched also writes, by an operation that no compiler drops, so that the pages are there.
func (s WorkingSet) touched() (sum uint64) {
	for offset := uintptr(0); offset < s.bytes; offset += lineBytes {
		sum += atomic.AddUint64((*uint64)(unsafe.Add(s.base, offset)), 0)
	}
	return sum
}
