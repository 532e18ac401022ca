// The plainest loops that hand a token between two goroutines: what the Go probe's figures are compared with.
//
//	taskset -c CPU plain-go KIND CPU SWITCHES_PER_BATCH BATCHES
//
// prints the ns per switch of each batch, one a line. The runtime has threads before main runs, so the CPU cannot be
// chosen from within: the process must be started restricted; that argument is there for the sake of the other plain loops.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// kinds are what a loop does so many times with a partner that it makes: two switches each.
var kinds = map[string]func() func(pairs int){
	"channel": func() func(int) {
		there, back := make(chan int), make(chan int)
		go func() {
			for token := range there {
				back <- token
			}
		}()
		return func(pairs int) {
			for i := 0; i < pairs; i++ {
				there <- i
				<-back
			}
		}
	},
	"mutex": func() func(int) {
		var there, back sync.Mutex
		there.Lock()
		back.Lock()
		go func() {
			for {
				there.Lock()
				back.Unlock()
			}
		}()
		return func(pairs int) {
			for i := 0; i < pairs; i++ {
				there.Unlock()
				back.Lock()
			}
		}
	},
	"select": func() func(int) {
		there, back, cancelled := make(chan int), make(chan int), make(chan struct{})
		send := func(to chan int, token int) {
			select {
			case to <- token:
			case <-cancelled:
			}
		}
		receive := func(from chan int) int {
			select {
			case token := <-from:
				return token
			case <-cancelled:
				return 0
			}
		}
		go func() {
			for {
				send(back, receive(there))
			}
		}()
		return func(pairs int) {
			for i := 0; i < pairs; i++ {
				send(there, i)
				receive(back)
			}
		}
	},
	"pull": pull,
	"lock": lock,
}

func main() {
	if len(os.Args) != 5 || kinds[os.Args[1]] == nil || runtime.NumCPU() != 1 {
		fmt.Fprintln(os.Stderr, "usage: taskset -c CPU plain-go channel|mutex|select|pull|lock CPU SWITCHES_PER_BATCH BATCHES")
		os.Exit(2)
	}
	switches, _ := strconv.Atoi(os.Args[3])
	batches, _ := strconv.Atoi(os.Args[4])
	runtime.GOMAXPROCS(1)
	run := kinds[os.Args[1]]()
	if run == nil {
		fmt.Fprintln(os.Stderr, "iter.Pull needs Go 1.23")
		os.Exit(3)
	}
	for batch := 0; batch < batches; batch++ {
		begin := time.Now()
		run(switches / 2)
		fmt.Printf("%.3f\n", float64(time.Since(begin).Nanoseconds())/float64(switches/2*2))
	}
}
