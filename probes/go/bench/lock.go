package main

import "sync"

const (
	lockers   = 4
	lockSteps = 50
)

// lock is four goroutines that take one sync.Mutex, with so much work under it and after it. Of two acquisitions each is a unit.
func lock() func(pairs int) {
	var mutex sync.Mutex
	left := 0
	work := func(product uint64) uint64 {
		for steps := lockSteps; steps > 0; steps-- {
			product *= 3
		}
		return product
	}
	products := make([]uint64, lockers)
	takeTurns := func(index int) {
		product := uint64(1)
		for {
			mutex.Lock()
			if left == 0 {
				break
			}
			product = work(product)
			left--
			mutex.Unlock()
			product = work(product)
		}
		mutex.Unlock()
		products[index] = product
	}
	begin, ended := make(chan struct{}), make(chan struct{})
	for index := 1; index < lockers; index++ {
		index := index
		go func() {
			for range begin {
				takeTurns(index)
				ended <- struct{}{}
			}
		}()
	}
	return func(pairs int) {
		left = 2 * pairs
		for index := 1; index < lockers; index++ {
			begin <- struct{}{}
		}
		takeTurns(0)
		for index := 1; index < lockers; index++ {
			<-ended
		}
	}
}
