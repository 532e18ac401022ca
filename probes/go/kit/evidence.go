package kit

import (
	"runtime/metrics"
	"slices"
)

// observed is what can be read from outside the contexts before the first batch and after the last.
type observed struct {
	tasks  map[string]taskSwitches
	faults *pageFaultsField
	gc     uint64
	cpuNs  int64
}

// observeBegin reads CPU time last, observeEnd first: to read the threads takes longer than short batches.
func observeBegin() observed {
	gc, tasks := gcCycles(), readTasks()
	faults, cpuNs := usage()
	return observed{tasks: tasks, faults: faults, gc: gc, cpuNs: cpuNs}
}

func observeEnd() observed {
	faults, cpuNs := usage()
	return observed{tasks: readTasks(), faults: faults, gc: gcCycles(), cpuNs: cpuNs}
}

func gcCycles() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

func (e *evidenceMessage) since(begin, end observed) {
	e.Why = map[string]string{}
	switch kernel, lost := kernelSwitches(begin.tasks, end.tasks); {
	case begin.tasks == nil || end.tasks == nil:
		e.Why["kernel"] = "the kernel's counts of each thread cannot be read on this system"
	case lost:
		e.Why["kernel"] = "a thread of the Go runtime ended during the batches and took its counts with it"
	default:
		e.Kernel = &kernel
	}
	if begin.faults != nil && end.faults != nil {
		e.PageFaults = &pageFaultsField{end.faults.Minor - begin.faults.Minor, end.faults.Major - begin.faults.Major}
		e.Counts["cpu_time_ns"] = end.cpuNs - begin.cpuNs
	} else {
		e.Why["page_faults"] = "not readable on this system"
	}
	cycles := end.gc - begin.gc
	e.GcCycles = &cycles
}

type taskSwitches struct{ voluntary, involuntary uint64 }

// kernelSwitches is the difference of two readings. A thread that began in between counts from zero; one that ended in
// between takes its counts with it, which the caller must not hide.
func kernelSwitches(before, after map[string]taskSwitches) (result kernelField, lost bool) {
	result = kernelField{Tasks: len(after), Source: "proc_task_status"}
	for id, end := range after {
		begin := before[id]
		result.Voluntary += end.voluntary - begin.voluntary
		result.Involuntary += end.involuntary - begin.involuntary
	}
	for id := range before {
		_, alive := after[id]
		lost = lost || !alive
	}
	return result, lost
}

// addressSpaces: one, because every context counted its turns into this process's own memory, which nothing of another
// address space can reach.
func addressSpaces(turns *Turns) *uint64 {
	if turns.Contexts == 0 {
		return nil
	}
	one := uint64(1)
	return &one
}

// Trace is the record of the verification pass: who had the token, on which CPU and thread, indexed by the token's
// sequence number.
type Trace struct {
	Who    []uint32
	CPU    []int32
	Thread []int32
}

// NewTrace has room for switches 1 … units and for where the token began.
func NewTrace(units uint64) *Trace {
	trace := &Trace{Who: make([]uint32, units+1), CPU: make([]int32, units+1), Thread: make([]int32, units+1)}
	for i := range trace.Who {
		trace.Who[i], trace.CPU[i], trace.Thread[i] = 1<<32-1, -1, -1 // Also touches the pages.
	}
	return trace
}

// Visit is called by a context that came to run with the token.
func (t *Trace) Visit(sequence uint64, context int) {
	if sequence < uint64(len(t.Who)) {
		t.Who[sequence], t.CPU[sequence], t.Thread[sequence] = uint32(context), int32(CurrentCPU()), currentThread()
	}
}

// judge compares every hop with the one before it. seen collects CPUs.
func (t *Trace) judge(contexts uint64, seen map[int]bool) (hops *hopsField, migrations *uint64) {
	hops, migrations = &hopsField{SameThread: new(uint64)}, new(uint64)
	last := make([]int32, contexts) // Last CPU of each context, plus one.
	for i, who := range t.Who {
		cpu := t.CPU[i]
		if cpu < 0 {
			return nil, nil
		}
		seen[int(cpu)] = true
		if uint64(who) < contexts {
			if last[who] > 0 && last[who] != cpu+1 {
				*migrations++
			}
			last[who] = cpu + 1
		}
		if i == 0 {
			continue
		}
		hops.Count++
		if uint64(who) == (uint64(t.Who[i-1])+1)%contexts {
			hops.InOrder++
		}
		if cpu == t.CPU[i-1] {
			hops.SameCPU++
		}
		if t.Thread[i] < 0 {
			hops.SameThread = nil
		} else if hops.SameThread != nil && t.Thread[i] == t.Thread[i-1] {
			*hops.SameThread++
		}
	}
	return hops, migrations
}

func sorted(set map[int]bool) []int {
	list := []int{}
	for cpu := range set {
		list = append(list, cpu)
	}
	slices.Sort(list)
	return list
}
