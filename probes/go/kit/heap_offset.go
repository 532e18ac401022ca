package kit

import "math/rand"

// HeapOffsetParameter is the parameter of rings whose contexts lie on the heap.
var HeapOffsetParameter = Parameter{Name: "heap_offset", Words: []string{"drawn", "fixed"}}

const (
	largestBlock  = 1024
	mostBlocks    = 16 // Of one size.
	bytesOfAFrame = 32 // Of Deeper; seen on amd64.
)

// blocks are kept as long as the process lives, those without pointers and those with: the runtime has spans for each.
var blocks struct {
	words    [][]byte
	pointers [][]*byte
}

// TakeBlocks takes a drawn number of blocks of every size, so that what is made next lies elsewhere in its page: the first
// free places of a fresh heap are the same in every start. None where the plan says so.
func TakeBlocks(plan *Plan) {
	if !plan.drawsHeapOffset() {
		return
	}
	random := rand.New(rand.NewSource(int64(plan.Seed)))
	for size := 16; size <= largestBlock; size += 16 {
		for n := random.Intn(mostBlocks); n > 0; n-- {
			blocks.words = append(blocks.words, make([]byte, size))
			blocks.pointers = append(blocks.pointers, make([]*byte, size/8))
		}
	}
}

func (p *Plan) drawsHeapOffset() bool {
	return p.Offer.ring && p.Parameters[HeapOffsetParameter.Name] == "drawn"
}

// Frames is a drawn depth at which a stack's loop begins, within so many bytes; 0 where the plan says so.
func (p *Plan) Frames(within int) int {
	if !p.drawsHeapOffset() {
		return 0
	}
	return rand.New(rand.NewSource(^int64(p.Seed))).Intn(within / bytesOfAFrame)
}

// Deeper runs it so many frames down the stack.
//
//go:noinline
func Deeper(frames int, run func()) {
	if frames > 0 {
		Deeper(frames-1, run)
		return
	}
	run()
}
