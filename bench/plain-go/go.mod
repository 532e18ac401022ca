module switchcost/bench/plain-go

go 1.19
