//go:build go1.23

package main

import "iter"

// pull has two iterators, of which one loop pulls in turn.
func pull() func(int) {
	value := 0
	body := func(yield func(int) bool) {
		for yield(value + 1) {
		}
	}
	first, _ := iter.Pull(body)
	second, _ := iter.Pull(body)
	return func(pairs int) {
		for i := 0; i < pairs; i++ {
			value, _ = first()
			value, _ = second()
		}
	}
}
