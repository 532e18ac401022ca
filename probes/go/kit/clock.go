package kit

import "time"

// Ticks of the kit's clock are nanoseconds.
const ticksPerSecond = 1_000_000_000

var epoch = time.Now()

// Now reads the monotonic clock. time.Since reads it once; time.Now would read the wall clock as well.
func Now() int64 { return int64(time.Since(epoch)) }

// clockReadCost is the mean of the quickest of some short rows of readings, rounded up.
func clockReadCost() int64 {
	const rows, readings = 20, 100
	quickest := int64(1<<63 - 1)
	for row := 0; row < rows; row++ {
		begin := Now()
		end := begin
		for i := 0; i < readings; i++ {
			end = Now()
		}
		if end-begin < quickest {
			quickest = end - begin
		}
	}
	return (quickest + readings - 1) / readings
}
