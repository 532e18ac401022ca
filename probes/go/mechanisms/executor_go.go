package mechanisms

import (
	"runtime"
	"sync/atomic"

	"switchcost/probes/go/kit"
)

// executor/go: a `go` statement hands a function to the scheduler. A goroutine that is locked to a thread of its own is
// outside: the scheduler's other threads run what it hands over, and it keeps none of their processors while it waits.
var executorGo = kit.Mechanism{
	ID:         "executor/go",
	Offers:     []kit.Offer{kit.Submit(setUpSubmit)},
	Parameters: []kit.Parameter{{Name: "from", Words: []string{"outside", "within"}}, {Name: "workers"}},
}

func setUpSubmit(plan *kit.Plan) (kit.Workload, *kit.Refusal) {
	if refusal := checkMemory(plan.Contexts); refusal != nil {
		return nil, refusal
	}
	runtime.GOMAXPROCS(int(plan.Number("workers")))
	s := &submit{within: plan.Parameters["from"] == "within", tasks: make([]submitTask, plan.Contexts), done: make(chan struct{}, 1)}
	if !s.within {
		runtime.LockOSThread()
	}
	for i := range s.tasks {
		task := &s.tasks[i]
		task.run = func() { s.ran(task) }
	}
	return s, nil
}

// submitTask has a cache line of its own.
type submitTask struct {
	run     func()
	turns   uint64
	sameCPU int64
	_       [40]byte
}

// cpuLooks: of so many lots that are handed over within, one asks for CPUs: that is a system call, as long as handing over.
const cpuLooks = 64

type submit struct {
	within bool
	tasks  []submitTask
	done   chan struct{} // The last task of all has run.
	atWork atomic.Int64  // Of the lot that was handed over; whoever ends it hands over the next one, or says that all is done.
	token  atomic.Uint64
	left   uint64
	lots   uint64
	looks  bool
	cpu    int
	ended  int64
	took   int64
}

func (s *submit) handOver() {
	lot := min(uint64(len(s.tasks)), s.left)
	s.left -= lot
	s.looks = !s.within || s.lots%cpuLooks == 0
	s.lots++
	if s.looks {
		s.cpu = kit.CurrentCPU()
	}
	s.atWork.Store(int64(lot))
	for i := uint64(0); i < lot; i++ {
		go s.tasks[i].run()
	}
}

func (s *submit) ran(task *submitTask) {
	task.turns++
	if s.looks && kit.CurrentCPU() == s.cpu {
		task.sameCPU++
	}
	s.token.Add(1)
	if s.atWork.Add(-1) != 0 {
		return
	}
	if s.within && s.left != 0 {
		s.handOver()
		return
	}
	if !s.within {
		s.ended = kit.Now()
	}
	s.done <- struct{}{}
}

func (s *submit) Lap() uint64 { return 1 }

func (s *submit) Run(units uint64) {
	s.left, s.took = units, 0
	for s.left != 0 {
		begin := kit.Now()
		s.handOver()
		<-s.done
		if s.within {
			s.ended = kit.Now()
		}
		s.took += s.ended - begin
	}
}

// Took is the part of the last Run that is the figure: from before a lot is handed over until its last task runs.
func (s *submit) Took() int64 { return s.took }

func (s *submit) RunEach(uint64, *kit.Histogram) {}

func (s *submit) Reset() {
	s.lots = 0
	s.token.Store(0)
	for i := range s.tasks {
		s.tasks[i].turns, s.tasks[i].sameCPU = 0, 0
	}
}

func (s *submit) Claim() (turns kit.Turns, token uint64, broken bool) {
	for i := range s.tasks {
		turns.Count(s.tasks[i].turns)
	}
	return turns, s.token.Load(), false
}

func (s *submit) Counts() map[string]int64 {
	var same int64
	for i := range s.tasks {
		same += s.tasks[i].sameCPU
	}
	if s.within {
		same *= cpuLooks
	}
	return map[string]int64{"on_submitters_cpu": same}
}
