package kit

import "os"

// Main is the whole of a probe with these mechanisms, sorted by id. It does not return after a fault.
func Main(name, version string, mechanisms []Mechanism) {
	words := os.Args[1:]
	w := NewWriter(ReportFd(words))
	SendHello(w, name, version, os.Getpid())
	refusal := carryOut(w, words, mechanisms)
	if refusal == nil {
		return
	}
	SendEnd(w, refusal)
	if refusal.Status != "unsupported" {
		os.Exit(1)
	}
}

func carryOut(w *Writer, words []string, mechanisms []Mechanism) *Refusal {
	if len(words) == 0 {
		return Refuse("bad_value", "the first word must be `describe` or `run`")
	}
	switch words[0] {
	case "describe":
		if refusal := CheckDescribe(words[1:]); refusal != nil {
			return refusal
		}
		SendMechanisms(w, mechanisms)
		SendEnd(w, nil)
		return nil
	case "run":
		plan, refusal := ParsePlan(words[1:], mechanisms)
		if refusal != nil {
			return refusal
		}
		return Measure(w, plan)
	}
	return Refuse("bad_value", "the first word must be `describe` or `run`, not `%s`", words[0])
}
