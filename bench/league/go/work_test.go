package league

import "testing"

func BenchmarkWork(b *testing.B) {
	seed := uint64(1)
	for b.Loop() {
		seed = Work(seed)
	}
}
