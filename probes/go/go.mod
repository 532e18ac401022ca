module switchcost/probes/go

go 1.21
