package kit

import (
	"maps"
	"runtime"
	"runtime/debug"
	"strings"
)

// Mechanism is one line of `describe`.
type Mechanism struct {
	ID         string
	Offers     []Offer
	Parameters []Parameter
	Lacks      string // Why this build cannot carry it out, which its offers say as well; empty where it can.
}

// timings are those of every mechanism: each interval needs a cycle counter.
func timings() []string {
	if CounterName == "" {
		return []string{"batch"}
	}
	return []string{"batch", "each"}
}

// Workload is a mechanism that is ready to run. Context 0 runs on the calling goroutine.
type Workload interface {
	// Lap is the smallest number of units after which everything stands where it began.
	Lap() uint64
	// Run is the measured region: units switches, no clock, no allocation, no branch on the plan.
	Run(units uint64)
	// RunEach does the same and records every unit.
	RunEach(units uint64, histogram *Histogram)
	// Reset sets the count of turns to zero.
	Reset()
	// Claim says what the contexts counted since Reset; broken is true when a context saw a token out of order.
	Claim() (turns Turns, token uint64, broken bool)
}

// Ring is a workload whose contexts pass a token round.
type Ring interface {
	// Verify passes the token units times and records each visit.
	Verify(units uint64, trace *Trace)
}

// Counted is a workload that counts more than turns, since Reset. Asked after Claim.
type Counted interface {
	Counts() map[string]int64
}

// Partial is a workload whose figure is a part of the time that Run takes.
type Partial interface {
	Took() int64
}

// Measure carries out the plan and reports everything but `hello`. It returns nil only after `end` with status ok.
func Measure(w *Writer, plan *Plan) *Refusal {
	if refusal := checkPlacement(plan); refusal != nil {
		return refusal
	}
	return plan.Offer.carryOut(w, plan)
}

// measure times a workload in batches.
func measure(w *Writer, plan *Plan) *Refusal {
	// The collector is on during the batches, but has nothing to do there: what set-up leaves behind is collected and
	// swept before. During set-up it is off, because it would scan the stacks of a growing ring again and again.
	percent := debug.SetGCPercent(-1)
	TakeBlocks(plan)
	workload, refusal := plan.Offer.SetUp(plan)
	if refusal != nil {
		return refusal
	}
	debug.SetGCPercent(percent)
	runtime.GC()

	m := measurement{plan: plan, workload: workload, seen: map[int]bool{}}
	Deeper(plan.Frames(pageBytes), func() { refusal = m.carryOut(w) })
	return refusal
}

// carryOut does all that context 0 does.
func (m *measurement) carryOut(w *Writer) (refusal *Refusal) {
	plan, workload := m.plan, m.workload
	if m.units, refusal = m.calibrate(); refusal != nil {
		return refusal
	}
	w.Send(plan.message(m.units))
	m.allocate()

	workload.Reset()
	begin := observeBegin()
	m.batches()
	end := observeEnd()
	turns, token, broken := workload.Claim()
	if broken {
		return Failed("self_check_failed", "a context received another token than the one it was due")
	}

	if refusal := m.backwards(); refusal != nil {
		return refusal
	}

	samples := m.report(w)
	claimed := (plan.WarmupBatches + plan.Batches) * m.units
	evidence := evidenceMessage{T: "evidence", Units: claimed, Turns: &turns, Token: &token, AddressSpaces: addressSpaces(&turns), Counts: map[string]int64{}}
	if counted, ok := workload.(Counted); ok {
		maps.Copy(evidence.Counts, counted.Counts())
	}
	evidence.since(begin, end)
	m.verify(&evidence)
	evidence.CPUs = sorted(m.seen)
	w.Send(evidence)
	w.Send(endMessage{T: "end", Status: "ok", Samples: samples})
	return nil
}

// checkPlacement: goroutines cannot be pinned one by one, and pinning the process is the host's duty; a plan that says
// one CPU while the process may run on others would be believed.
func checkPlacement(plan *Plan) *Refusal {
	if len(plan.CPUs) > 1 {
		return Refuse("bad_value", "goroutines cannot be pinned one by one; give one CPU or none in `cpus`")
	}
	allowed := allowedCPUs()
	if len(plan.CPUs) == 1 && allowed != nil && (len(allowed) != 1 || allowed[0] != plan.CPUs[0]) {
		return Failed("set_up_failed", "the plan says CPU %d, but the process is not restricted to it; start it with taskset -c %d", plan.CPUs[0], plan.CPUs[0])
	}
	return nil
}

type measurement struct {
	plan            *Plan
	workload        Workload
	units           uint64
	ticks           []int64
	rulers          []reading // Before the first batch, and after each.
	warmup, measure *Histogram
	seen            map[int]bool
	cpus            []int
}

func (m *measurement) batch(units uint64, histogram *Histogram) int64 {
	begin := Now()
	if histogram == nil {
		m.workload.Run(units)
	} else {
		m.workload.RunEach(units, histogram)
	}
	took := Now() - begin
	if partial, ok := m.workload.(Partial); ok {
		return partial.Took()
	}
	return took
}

// calibrate rounds what was asked up to whole laps, or doubles by the rule of PROTOCOL.md, section 1.
func (m *measurement) calibrate() (uint64, *Refusal) {
	lap := m.workload.Lap()
	if asked := m.plan.BatchUnits; asked > 0 {
		return (asked + lap - 1) / lap * lap, nil
	}
	var histogram *Histogram
	if m.plan.Timing == "each" {
		histogram = NewHistogram()
	}
	units, longEnough := lap, 0
	for longEnough < 3 {
		if uint64(m.batch(units, histogram)) >= m.plan.BatchNs {
			longEnough++
		} else if units, longEnough = 2*units, 0; units > mostUnits {
			return 0, Unsupported("limit_reached", "%d units last less than batch_ns=%d; ask for a smaller batch_ns", units/2, m.plan.BatchNs)
		}
	}
	return units, nil
}

// allocate makes and touches all that the batches write to.
func (m *measurement) allocate() {
	if m.plan.Timing == "each" {
		m.warmup, m.measure = NewHistogram(), NewHistogram()
	}
	m.ticks = make([]int64, m.plan.WarmupBatches+m.plan.Batches)
	m.rulers = make([]reading, len(m.ticks)+1)
	m.cpus = make([]int, len(m.ticks)+1)
	for i := range m.cpus {
		m.cpus[i], m.rulers[i] = -1, reading{-1, -1, -1}
	}
	for i := range m.ticks {
		m.ticks[i] = -1
	}
}

// batches is the silence of PROTOCOL.md: no writing, no allocation, no floating point.
func (m *measurement) batches() {
	warmup := int(m.plan.WarmupBatches)
	m.rulers[0] = readRulers()
	m.phase(0, warmup, m.warmup)
	m.phase(warmup, len(m.ticks), m.measure)
	m.cpus[len(m.ticks)] = CurrentCPU()
}

func (m *measurement) phase(from, to int, histogram *Histogram) {
	var counter uint64
	if histogram != nil {
		counter = ReadCounter()
	}
	clock := Now()
	for i := from; i < to; i++ {
		m.cpus[i] = CurrentCPU()
		m.ticks[i] = m.batch(m.units, histogram)
		if histogram == nil {
			m.rulers[i+1] = readRulers()
		}
	}
	if histogram != nil {
		histogram.SpanClock = Now() - clock
		histogram.SpanCounter = ReadCounter() - counter
	}
}

// backwards: intervals that ended before they began must not be taken for short ones.
func (m *measurement) backwards() *Refusal {
	var backwards uint64
	for _, histogram := range []*Histogram{m.warmup, m.measure} {
		if histogram != nil {
			backwards += histogram.backwards
		}
	}
	if backwards == 0 {
		return nil
	}
	return Failed("self_check_failed", "%d intervals of the cycle counter were negative: the counters of the CPUs are out of step; use timing=batch", backwards)
}

func (m *measurement) report(w *Writer) (samples uint64) {
	for _, cpu := range m.cpus {
		if cpu >= 0 {
			m.seen[cpu] = true
		}
	}
	warmup := m.plan.WarmupBatches
	if m.plan.Timing == "each" {
		seq := w.sendHistogram(0, "warmup", m.warmup)
		w.sendHistogram(seq, "measure", m.measure)
		return m.warmup.Count + m.measure.Count
	}
	seq := w.sendSamples(0, "warmup", m.units, m.ticks[:warmup], m.rulers)
	w.sendSamples(seq, "measure", m.units, m.ticks[warmup:], m.rulers[warmup:])
	return uint64(len(m.ticks))
}

func (m *measurement) verify(evidence *evidenceMessage) {
	ring, passes := m.workload.(Ring)
	if m.plan.VerifyUnits == 0 || !passes {
		return
	}
	lap := m.workload.Lap()
	units := (m.plan.VerifyUnits + lap - 1) / lap * lap
	trace := NewTrace(units)
	ring.Verify(units, trace)
	evidence.Hops, evidence.Migrations = trace.judge(m.plan.Contexts, m.seen)
	if evidence.Hops == nil {
		evidence.Why["hops"] = "the CPU of a goroutine cannot be read on " + runtime.GOOS + "/" + runtime.GOARCH
		evidence.Why["migrations"] = evidence.Why["hops"]
	} else if evidence.Hops.SameThread == nil {
		evidence.Why["hops_same_thread"] = "the thread of a goroutine cannot be read on " + runtime.GOOS + "/" + runtime.GOARCH
	}
}

// SendHello introduces the probe; flags are the build settings the Go tool wrote into the binary.
func SendHello(w *Writer, probe, version string, pid int) {
	hello := helloMessage{
		T: "hello", Protocol: Protocol, Probe: probe, Version: version, Runtime: "Go " + strings.TrimPrefix(runtime.Version(), "go"),
		Compiler: runtime.Version(), Flags: buildFlags(), Pid: pid,
		Clock: clockField{Name: clockName, TicksPerSecond: ticksPerSecond, ReadCostTicks: clockReadCost()},
	}
	if CounterName != "" {
		hello.Counter = &counterName{CounterName}
	}
	w.Send(hello)
}

// SendMechanisms answers `describe`.
func SendMechanisms(w *Writer, list []Mechanism) {
	for _, mechanism := range list {
		names := []string{}
		for _, parameter := range mechanism.Parameters {
			names = append(names, parameter.Name)
		}
		message := mechanismMessage{
			T: "mechanism", ID: mechanism.ID, Experiments: mechanism.experiments(), Timings: timings(), Parameters: names, Available: mechanism.Lacks == "",
		}
		if !message.Available {
			message.Code, message.Reason = "unsupported_here", mechanism.Lacks
		}
		w.Send(message)
	}
}

// SendEnd says how it ended.
func SendEnd(w *Writer, refusal *Refusal) {
	if refusal == nil {
		w.Send(endMessage{T: "end", Status: "ok"})
		return
	}
	w.Send(endMessage{T: "end", Status: refusal.Status, Code: refusal.Code, Detail: refusal.Detail})
}
