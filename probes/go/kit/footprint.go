package kit

import "runtime/debug"

// Memory of this process by the kernel's figures, in bytes.
type Memory struct{ Resident, Mapped, Kernel int64 }

const unreadable = "memory in use cannot be read on this system: /proc/self/smaps_rollup or /proc/self/status lacks it"

// measureFootprint is section 4 of PROTOCOL.md: nothing is timed, the ticks are bytes. What the collector can free is
// given back to the kernel before both readings; contexts of earlier cycles stay alive, so that none is made of what
// another left behind.
func measureFootprint(w *Writer, plan *Plan) *Refusal {
	cycles := int(plan.WarmupBatches + plan.Batches)
	if readMemory() == nil {
		return Unsupported("unsupported_here", unreadable)
	}
	w.Send(plan.message(plan.Contexts))
	// Some first, which are kept: then the pages of code are there, and what start-up left free is used up.
	if _, refusal := plan.Offer.Hold(plan, min(plan.Contexts, 1000)); refusal != nil {
		return refusal
	}
	gains := make([]Memory, cycles)
	turns := Turns{Min: 1, Max: 1, Contexts: uint64(cycles) * plan.Contexts}
	for i := range gains {
		gain, ran, refusal := Gain(plan)
		if refusal != nil {
			return refusal
		}
		gains[i] = gain
		turns.Total += ran
	}
	if turns.Total != turns.Contexts {
		return Failed("self_check_failed", "only %d of %d contexts ran before they were suspended", turns.Total, turns.Contexts)
	}
	samples := w.sendFootprint(plan, gains)
	w.Send(noteMessage{"note", "kernel_bytes is the change of this process's page tables (VmPTE)"})
	w.Send(evidenceMessage{
		T: "evidence", Units: turns.Total, Turns: &turns, AddressSpaces: addressSpaces(&turns),
		Why: map[string]string{"token": "no token is passed in this experiment"},
	})
	w.Send(endMessage{T: "end", Status: "ok", Samples: samples})
	return nil
}

// Gain is one cycle: what the memory of the process grows by when the contexts of the plan are made.
func Gain(plan *Plan) (gain Memory, ran uint64, refusal *Refusal) {
	debug.FreeOSMemory()
	before := readMemory()
	if ran, refusal = plan.Offer.Hold(plan, plan.Contexts); refusal != nil {
		return Memory{}, 0, refusal
	}
	debug.FreeOSMemory()
	after := readMemory()
	if before == nil || after == nil {
		return Memory{}, 0, Unsupported("unsupported_here", unreadable)
	}
	return Memory{after.Resident - before.Resident, after.Mapped - before.Mapped, after.Kernel - before.Kernel}, ran, nil
}

func (w *Writer) sendFootprint(plan *Plan, gains []Memory) (samples uint64) {
	seq := 0
	phase := func(name string, gains []Memory) {
		if len(gains) == 0 {
			return
		}
		for _, quantity := range []struct {
			name string
			of   func(Memory) int64
		}{
			{"resident_bytes", func(m Memory) int64 { return m.Resident }},
			{"virtual_bytes", func(m Memory) int64 { return m.Mapped }},
			{"kernel_bytes", func(m Memory) int64 { return m.Kernel }},
		} {
			bytes := make([]int64, len(gains))
			for i, gain := range gains {
				bytes[i] = quantity.of(gain)
			}
			samples += uint64(len(bytes))
			for ; len(bytes) > 0; seq++ {
				most := min(len(bytes), mostTicks)
				w.Send(samplesMessage{T: "samples", Seq: seq, Phase: name, Units: plan.Contexts, Quantity: quantity.name, Ticks: bytes[:most]})
				bytes = bytes[most:]
			}
		}
	}
	phase("warmup", gains[:plan.WarmupBatches])
	phase("measure", gains[plan.WarmupBatches:])
	return samples
}
