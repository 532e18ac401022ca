package kit

import (
	"runtime"
	"syscall"
)

// reading is what each ruler took once, in clock ticks. Rulers are fixed pieces of work that have nothing to do with the
// mechanism; right before and right after a batch they say how fast the machine was then, whatever the batch itself says.
type reading [3]int64

// rulersHere: on Windows Go's clock advances in steps that are longer than a ruler.
const rulersHere = runtime.GOOS != "windows"

var rulerNames = [len(reading{})]string{"chain", "width", "calls"}

// rulerResult keeps the compiler from leaving the work out.
var rulerResult uint64

// chainOfCycles has steps that each wait for the one before. Only the clock's rate changes it, not a neighbour on the
// same core.
//
//go:noinline
func chainOfCycles(steps, value uint64) uint64 {
	for ; steps > 0; steps-- {
		value = value*6364136223846793005 + 1442695040888963407
	}
	return value
}

// widthOfCore has steps of which a core takes several per cycle: a neighbour on the same core takes its share of them.
// The compiler would make one of lanes that begin alike, and of many additions with nothing else in between.
//
//go:noinline
func widthOfCore(steps, more uint64) uint64 {
	var a, b, c, d, e, f uint64 = 1, 2, 3, 4, 5, 6
	for ; steps > 0; steps-- {
		a, b, c, d, e, f = (a+more)^steps, (b+more)^steps, (c+more)^steps, (d+more)^steps, (e+more)^steps, (f+more)^steps
	}
	return a ^ b ^ c ^ d ^ e ^ f
}

// callsInVain are raw system calls, of which the scheduler sees nothing.
func callsInVain() {
	for call := 0; call < 4; call++ {
		syscall.Getppid()
	}
}

// readRulers reads twice: the first time, after a batch, their code is anywhere but in the nearest cache. System calls
// are slow even after two microseconds without any, so that four untimed ones precede them.
func readRulers() (last reading) {
	for pass := 0; pass < 2 && rulersHere; pass++ {
		begin := Now()
		value := chainOfCycles(1024, rulerResult)
		chain := Now()
		rulerResult = widthOfCore(1024, value)
		width := Now()
		callsInVain()
		warm := Now()
		callsInVain()
		last = reading{chain - begin, width - chain, Now() - warm}
	}
	return last
}

// slower gives each batch the slower of the readings before and after it, of which there is one more than batches.
func slower(readings []reading) map[string][]int64 {
	rulers := map[string][]int64{}
	for ruler, name := range rulerNames {
		for i, after := range readings[1:] {
			rulers[name] = append(rulers[name], max(readings[i][ruler], after[ruler]))
		}
	}
	return rulers
}
