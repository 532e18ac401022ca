module @name@

go 1.21

require switchcost/probes/go v0.0.0

replace switchcost/probes/go => @kit@
