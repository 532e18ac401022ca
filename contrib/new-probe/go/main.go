// Measures fiber/@name@. Put your library's calls into the three functions; the kit does the rest.
package main

import "switchcost/probes/go/kit"

// coroutine is what your library keeps of a context.
type coroutine struct{ in, out chan int64 }

// start makes a context that is suspended. Resumed with a token it hands on what turn makes of it, and suspends again.
func start(turn func(token int64) int64) kit.Coroutine {
	c := &coroutine{make(chan int64), make(chan int64)}
	go func() {
		for token := range c.in {
			c.out <- turn(token)
		}
	}()
	return c
}

// Resume continues the context with this token and gives the one that it hands on.
func (c *coroutine) Resume(token int64) int64 {
	c.in <- token
	return <-c.out
}

// startAndEnd makes a context, enters it once with the token, and lets it end. It gives the token plus one.
func startAndEnd(token int64) int64 {
	done := make(chan int64)
	go func() { done <- token + 1 }()
	return <-done
}

func main() {
	kit.OwnProbe("@name@", "fiber/@name@", start, startAndEnd)
}
