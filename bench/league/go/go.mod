// The side of Go's testing; `run` tells cgo where the work's library is.
module switchcost/bench/league

go 1.22
