// The Go probe of switchcost; PROTOCOL.md says how it is spoken to.
package main

import (
	"os"

	"switchcost/probes/go/kit"
	"switchcost/probes/go/mechanisms"
)

const (
	name    = "go"
	version = "1"
)

func main() {
	words := os.Args[1:]
	w := kit.NewWriter(kit.ReportFd(words))
	kit.SendHello(w, name, version, os.Getpid())
	refusal := carryOut(w, words)
	if refusal == nil {
		return
	}
	kit.SendEnd(w, refusal)
	if refusal.Status != "unsupported" {
		os.Exit(1)
	}
}

func carryOut(w *kit.Writer, words []string) *kit.Refusal {
	if len(words) == 0 {
		return kit.Refuse("bad_value", "the first word must be `describe` or `run`")
	}
	switch words[0] {
	case "describe":
		if refusal := kit.CheckDescribe(words[1:]); refusal != nil {
			return refusal
		}
		kit.SendMechanisms(w, mechanisms.List)
		kit.SendEnd(w, nil)
		return nil
	case "run":
		plan, mechanism, refusal := kit.ParsePlan(words[1:], mechanisms.List)
		if refusal != nil {
			return refusal
		}
		return kit.Measure(w, plan, mechanism)
	}
	return kit.Refuse("bad_value", "the first word must be `describe` or `run`, not `%s`", words[0])
}
