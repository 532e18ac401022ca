// The plainest loop that hands a token between two goroutines: what the Go probe's figure is compared with.
//
//	taskset -c CPU plain-go CPU SWITCHES_PER_BATCH BATCHES
//
// prints the ns per switch of each batch, one a line. The runtime has threads before main runs, so the CPU cannot be
// chosen from within: the process must be started restricted; the first argument is there for the sake of the other plain loops.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) != 4 || runtime.NumCPU() != 1 {
		fmt.Fprintln(os.Stderr, "usage: taskset -c CPU plain-go CPU SWITCHES_PER_BATCH BATCHES")
		os.Exit(2)
	}
	switches, _ := strconv.Atoi(os.Args[2])
	batches, _ := strconv.Atoi(os.Args[3])
	runtime.GOMAXPROCS(1)
	there, back := make(chan int), make(chan int)
	go func() {
		for token := range there {
			back <- token
		}
	}()
	for batch := 0; batch < batches; batch++ {
		begin := time.Now()
		for i := 0; i < switches/2; i++ {
			there <- i
			<-back
		}
		fmt.Printf("%.3f\n", float64(time.Since(begin).Nanoseconds())/float64(switches))
	}
}
