module @name@

go 1.21

require switchcost/probes/go v0.0.0

// A link to the installed kit. In another checkout: ln -sfn "$(switchcost new-probe --kit go)" kit
replace switchcost/probes/go => ./kit
