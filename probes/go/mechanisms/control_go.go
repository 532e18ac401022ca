package mechanisms

import (
	"runtime"

	"switchcost/probes/go/kit"
)

// Controls of fiber/goroutine: what one goroutine does alone, of what a switch is made of.

// control/go-channel: a send and a receive that wait for nobody, by one goroutine and a channel with room for one word.
var controlGoChannel = control("control/go-channel", func() repeat {
	channel := make(chan int64, 1)
	return func(units uint64, token int64) int64 {
		for ; units > 0; units-- {
			channel <- token + 1
			token = <-channel
		}
		return token
	}
})

// control/go-yield: Gosched by the only goroutine that can run: through g0, the queue and the scheduler, back to itself.
var controlGoYield = control("control/go-yield", func() repeat {
	return func(units uint64, token int64) int64 {
		for ; units > 0; units-- {
			runtime.Gosched()
			token++
		}
		return token
	}
})

// repeat does so many units and gives the token after them.
type repeat func(units uint64, token int64) int64

// alone is a workload of one goroutine.
type alone struct {
	repeat       repeat
	token, reset int64
}

func control(id string, make func() repeat) kit.Mechanism {
	return kit.Mechanism{ID: id, Offers: []kit.Offer{kit.Switch(func(*kit.Plan) (kit.Workload, *kit.Refusal) {
		runtime.GOMAXPROCS(1)
		return &alone{repeat: make()}, nil
	})}}
}

func (a *alone) Lap() uint64      { return 1 }
func (a *alone) Run(units uint64) { a.token = a.repeat(units, a.token) }
func (a *alone) Reset()           { a.reset = a.token }

func (a *alone) RunEach(units uint64, histogram *kit.Histogram) {
	for ; units > 0; units-- {
		begin := kit.ReadCounter()
		a.token = a.repeat(1, a.token)
		histogram.Arrive(begin)
	}
}

func (a *alone) Claim() (turns kit.Turns, token uint64, broken bool) {
	token = uint64(a.token - a.reset)
	turns.Count(token)
	return turns, token, false
}
