module switchcost/probes/go/bench

go 1.19
