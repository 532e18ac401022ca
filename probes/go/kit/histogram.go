package kit

import "math/bits"

// histogramBits is b of PROTOCOL.md: below 2^b every value has its own bucket, above it 2^b buckets share a power of two,
// so that a bucket is at most 0.8 % wide.
const histogramBits = 7

// Histogram has constant size, so that recording never allocates.
type Histogram struct {
	counts             [(65-histogramBits)<<histogramBits + 1<<histogramBits]uint64
	Count              uint64
	Sum, Min, Max      uint64
	PairSum, PairCount uint64
	SpanCounter        uint64
	SpanClock          int64
	// Intervals that ended before they began: none, unless counters of two CPUs are out of step.
	backwards uint64
}

// NewHistogram makes an empty histogram.
func NewHistogram() *Histogram { return &Histogram{Min: 1<<64 - 1} }

func bucketOf(value uint64) int {
	shift := bits.Len64(value>>histogramBits|1) - 1
	return shift<<histogramBits + int(value>>uint(shift))
}

func lowerEdge(bucket int) uint64 {
	shift := bucket>>histogramBits - 1
	if shift <= 0 {
		return uint64(bucket)
	}
	return uint64(bucket-shift<<histogramBits) << uint(shift)
}

// Arrive is called by a context as its first act after it came to run: sent is the counter read by the sender.
// It also times two reads with nothing in between: what the reading itself adds to every interval.
func (h *Histogram) Arrive(sent uint64) {
	interval := ReadCounter() - sent
	if int64(interval) < 0 {
		h.backwards++
		return
	}
	h.record(interval)
	first := ReadCounter()
	h.PairSum += ReadCounter() - first
	h.PairCount++
}

func (h *Histogram) record(interval uint64) {
	h.counts[bucketOf(interval)]++
	h.Count++
	h.Sum += interval
	h.Min, h.Max = min(h.Min, interval), max(h.Max, interval)
}

// Buckets lists what is not empty, ascending, as [lower edge, count].
func (h *Histogram) Buckets() [][2]uint64 {
	buckets := [][2]uint64{}
	for i, count := range h.counts {
		if count > 0 {
			buckets = append(buckets, [2]uint64{lowerEdge(i), count})
		}
	}
	return buckets
}
