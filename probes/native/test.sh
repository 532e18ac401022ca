#!/bin/sh
# Runs every mechanism x experiment x timing of a built probe with a tiny plan, and a few plans that must be refused.
#   test.sh PATH/TO/probe [WORD...]
# Plans with a WORD (a pattern, say 'mechanism=container/*') are left out: what an emulator cannot do. So are the plans below of
# mechanisms that this build of the probe does not have.
# Transcripts are checked strictly by the host's tests; this is the quick check after a change here.
set -eu
probe=${1:?usage: test.sh PATH/TO/probe [WORD...]}
shift
without=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
plans=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# applies key=value... : this build has the mechanism, and the plan is not to be left out
applies() {
    set -f
    for word; do
        for left_out in $without; do
            # shellcheck disable=SC2254
            case $word in $left_out) set +f; return 1 ;; esac
        done
        case $word in
            mechanism=no/such) ;;
            mechanism=*) grep -q "^${word#mechanism=} " "$work/mechanisms" || { set +f; return 1; } ;;
        esac
    done
    set +f
}

# run_plan EXPECTED_STATUS EXPECTED_EXIT key=value...
run_plan() {
    status=$1 exit_status=$2
    shift 2
    applies "$@" || return 0
    plans=$((plans + 1))
    code=0
    timeout 60 "$probe" run "$@" >"$work/transcript" 2>"$work/stderr" || code=$?
    [ "$code" = "$exit_status" ] || fail "$* exits with $code, not $exit_status"
    tail -n 1 "$work/transcript" | grep -q "^{\"t\":\"end\",\"status\":\"$status\"" || fail "$* ends with $(tail -n 1 "$work/transcript")"
    head -n 1 "$work/transcript" | grep -q '^{"t":"hello","protocol":1,' || fail "$* does not begin with hello"
    [ -s "$work/stderr" ] && fail "$* prints: $(cat "$work/stderr")"
    check_json "$*"
}

check_json() {
    command -v python3 >/dev/null || return 0
    python3 - "$work/transcript" <<'PYTHON' || fail "$1: malformed transcript"
import json, sys
messages = [json.loads(line) for line in open(sys.argv[1], encoding="ascii")]
assert [m["t"] for m in messages].count("hello") == 1 and messages[-1]["t"] == "end"
evidence = [m for m in messages if m["t"] == "evidence"]
if messages[-1]["status"] == "ok":
    plan = next(m for m in messages if m["t"] == "plan")
    assert len(evidence) == 1
    units = evidence[0]["units"]
    assert units == plan["batch_units"] * (plan["batches"] + plan["warmup_batches"])
    hand_offs = units * (2 if plan["experiment"] == "message" else 1)
    footprint = plan["experiment"] == "footprint"
    assert evidence[0]["token"] == (None if footprint else hand_offs), evidence
    turns = evidence[0]["turns"]
    assert turns is None or turns["total"] == hand_offs, evidence
    hops = evidence[0].get("hops")
    family, contexts = plan["mechanism"].split("/")[0], plan["contexts"]
    switches = plan["experiment"] == "switch" and family != "control"
    assert hops is not None or not switches, evidence
    assert hops is None or hops["in_order"] == hops["count"] == units and hops["timed"], evidence
    assert hops is None or hops["same_thread"] == (units if family in ("stack", "fiber", "coroutine") else 0), evidence
    if not footprint:
        apart = family in ("process", "container") and plan["experiment"] != "create"
        assert evidence[0]["address_spaces"] == (contexts if apart else 1), evidence
    own = {"stack": "distinct_stacks", "fiber": "distinct_stacks", "coroutine": "distinct_frames"}.get(family)
    assert not own or not switches or evidence[0]["counts"][own] == contexts, evidence
    made = plan["mechanism"] in ("thread/pthread", "process/fork", "container/pipe") and plan["experiment"] == "create"
    assert not made or evidence[0]["counts"]["distinct_tasks"] == units, evidence
    ticks = sum(len(m["ticks"]) for m in messages if m["t"] == "samples")
    intervals = sum(count for m in messages if m["t"] == "histogram" for _, count in m["buckets"])
    assert plan["timing"] == "batch" or intervals == units, evidence
    assert messages[-1]["samples"] == ticks + intervals > 0
    parameters, counts = plan["parameters"], evidence[0].get("counts", {})
    lines = -(-int(parameters.get("working_set", 0)) // 64)
    assert counts.get("touches", 0) == units * lines, evidence
    if "layout" in parameters and plan["experiment"] == "switch":
        far = counts["far_hops"]
        laps = units // contexts
        if parameters["layout"] == "scattered":
            assert (laps * (contexts - 1) if plan["mechanism"].startswith("stack/") else units // 2) <= far <= units, evidence
        elif plan["mechanism"].startswith("stack/"):
            assert far == 2 * laps, evidence  # the driver's stack lies apart
        else:  # as the allocator likes; after the first few holes are filled it goes upwards
            assert contexts < 1000 or far < units // 2, evidence
    if "sched" in parameters:
        assert counts["tasks_scheduled"] == plan["contexts"], evidence
    if "speculation" in parameters:
        assert counts["tasks_guarded"] == (plan["contexts"] if parameters["speculation"] == "guarded" else 0), evidence
PYTHON
}

"$probe" describe >"$work/list"
sed -n 's/^{"t":"mechanism","id":"\([^"]*\)","experiments":\[\([^]]*\)\].*"available":\(true\|false\).*/\1 \2 \3/p' "$work/list" >"$work/mechanisms"
[ -s "$work/mechanisms" ] || fail "describe lists nothing"
cut -d' ' -f1 "$work/mechanisms" | LC_ALL=C sort -c || fail "the list is not sorted"

while read -r mechanism experiments available; do
    status=ok
    [ "$available" = true ] || status=unsupported
    for experiment in $(echo "$experiments" | tr -d '"' | tr ',' ' '); do
        for timing in batch each; do
            if [ "$experiment" = footprint ]; then
                [ "$timing" = each ] || run_plan "$status" 0 mechanism="$mechanism" experiment=footprint contexts=50 batches=2 warmup_batches=1
                continue
            fi
            run_plan "$status" 0 mechanism="$mechanism" experiment="$experiment" timing="$timing" \
                batch_ns=20000 batches=3 warmup_batches=1 verify_units=20
        done
    done
    case $mechanism in control/*) continue ;; esac
    case $experiments in *switch*) ;; *) continue ;; esac
    run_plan "$status" 0 mechanism="$mechanism" contexts=7 batch_units=100 batches=2 verify_units=20
    run_plan "$status" 0 mechanism="$mechanism" contexts=3 working_set=100 batch_units=30 batches=2 verify_units=6
    run_plan "$status" 0 mechanism="$mechanism" contexts=3 timing=each working_set=30000 batch_units=30 batches=2 verify_units=6
    if grep -q "\"id\":\"$mechanism\".*\"layout\"" "$work/list"; then
        run_plan "$status" 0 mechanism="$mechanism" layout=scattered contexts=9 batch_units=90 batches=2 verify_units=18
        run_plan "$status" 0 mechanism="$mechanism" layout=in_order contexts=1000 batch_units=1000 batches=2 verify_units=20
        run_plan "$status" 0 mechanism="$mechanism" layout=scattered contexts=9 working_set=100 batch_units=90 batches=2 verify_units=18
    fi
    run_plan refused 1 mechanism="$mechanism" contexts=1
done <"$work/mechanisms"

run_plan refused 1 mechanism=no/such
run_plan refused 1 mechanism=control/call no_such_key=1
run_plan refused 1 mechanism=control/call batches=0
run_plan refused 1 mechanism=control/call batches=1 batches=1
run_plan refused 1 mechanism=control/call batches=1000001
run_plan refused 1 mechanism=control/call batch_units=1000000000001
# What is wrong with the arguments is said on the descriptor that they name, wherever it stands among them.
for wrong in 'batches=1 batches=1' 'nonsense'; do
    # shellcheck disable=SC2086
    "$probe" run $wrong report_fd=3 3>"$work/told" >"$work/out" 2>&1 || true
    tail -n 1 "$work/told" | grep -q '"status":"refused"' || fail "$wrong is not refused on report_fd"
    [ -s "$work/out" ] && fail "$wrong is told on standard output"
done
run_plan refused 1 mechanism=stack/asm cpus=0,1
run_plan refused 1 mechanism=thread/pthread
run_plan refused 1 mechanism=thread/pthread experiment=create cpus=0,1
run_plan refused 1 mechanism=thread/pipe experiment=message contexts=3
run_plan refused 1 mechanism=stack/asm experiment=footprint timing=each
run_plan refused 1 mechanism=stack/asm experiment=footprint batch_units=3 contexts=4
run_plan unsupported 0 mechanism=control/cache-line cpus=0
for payload in 1 7 65537 1048576; do
    for mechanism in thread/pipe thread/unix-socket process/pipe process/unix-socket process/tcp-loopback; do
        run_plan ok 0 mechanism=$mechanism experiment=message payload=$payload batch_units=5 batches=2 warmup_batches=0
    done
done
for by in pthread_create clone; do run_plan ok 0 mechanism=thread/pthread experiment=create by=$by batch_units=9 batches=2; done
for by in fork vfork posix_spawn fork-exec; do run_plan ok 0 mechanism=process/fork experiment=create by=$by batch_units=9 batches=2; done
run_plan unsupported 0 mechanism=thread/pipe cpus=0,1000
for bytes in 1 64 4097 1000000; do run_plan ok 0 mechanism=control/touch working_set=$bytes batch_units=5 batches=2; done
run_plan refused 1 mechanism=control/touch working_set=0
run_plan refused 1 mechanism=stack/asm experiment=create working_set=64
run_plan refused 1 mechanism=stack/asm experiment=create layout=scattered
run_plan refused 1 mechanism=stack/asm layout=random
for mechanism in stack/asm process/pipe; do
    if ! grep -q "^$mechanism " "$work/mechanisms"; then continue; fi
    run_plan refused 1 mechanism=$mechanism working_set=1073741825
    run_plan unsupported 0 mechanism=$mechanism contexts=1000 working_set=1073741824
    grep -q '"code":"limit_reached".*smaller working_set' "$work/transcript" || fail "$mechanism: too large a working set has no cure"
done
run_plan refused 1 mechanism=thread/pipe sched=idle
run_plan ok 0 mechanism=thread/pipe sched=batch contexts=3 batch_units=30 batches=2 verify_units=6

# What a waiting CPU does: a spinner that counts its turns, polls that the kernel counts, and the reason where the contexts share a CPU.
if grep -q "^thread/futex " "$work/mechanisms"; then
    for idle in busy poll; do
        run_plan unsupported 0 mechanism=thread/futex idle=$idle cpus=0
        grep -q '"code":"too_few_cpus"' "$work/transcript" || fail "idle=$idle on one CPU has no reason"
    done
    if [ "$(nproc)" -gt 1 ]; then
        run_plan ok 0 mechanism=thread/futex idle=busy cpus=0,1 batch_units=1000 batches=3
        grep -q '"spinner_turns":[1-9]' "$work/transcript" || fail "the spinners of idle=busy did not run"
    fi
fi

# A guard that the kernel grants stands in its evidence; one that it refuses has a reason.
if grep -q "^process/futex [^ ]* true" "$work/mechanisms"; then
    guarded=unsupported
    # qemu-user has no such prctl, whatever the kernel below it grants.
    if [ "$(uname)" = Linux ] && [ "${probe##*/}" != emulated ] && python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).prctl(53, 1, 4, 0, 0) != 0)'; then guarded=ok; fi
    for mechanism in process/futex process/pipe; do
        run_plan $guarded 0 mechanism=$mechanism speculation=guarded contexts=3 batch_units=30 batches=2 verify_units=6
        [ $guarded = ok ] || grep -qE '"code":"(no_permission|unsupported_here)".*spectre_v2' "$work/transcript" || fail "a refused speculation=guarded has no reason"
    done
fi

# Real-time scheduling, where it is allowed, and the cure where it is not.
fifo=unsupported
if chrt -f 1 true 2>/dev/null; then fifo=ok; fi
cut -d' ' -f1 "$work/mechanisms" | grep -E '^(thread|process)/' | grep -vE '/(pthread|fork)$' >"$work/scheduled" || true
while read -r mechanism; do
    run_plan $fifo 0 mechanism="$mechanism" sched=fifo contexts=3 batch_units=30 batches=2 verify_units=6
done <"$work/scheduled"
if [ -s "$work/scheduled" ] && [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    as_is=$probe probe=$work/as_nobody
    printf '#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all %s "$@"\n' "$(realpath "$as_is")" >"$probe"
    chmod 755 "$work" "$probe"
    if "$probe" describe >/dev/null 2>&1; then
        run_plan unsupported 0 mechanism=thread/pipe sched=fifo
        grep -q '"code":"no_permission".*RLIMIT_RTPRIO' "$work/transcript" || fail "a refused sched=fifo has no cure"
    fi
    probe=$as_is
fi

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "ok: $(wc -l <"$work/mechanisms") mechanisms, $plans plans of $probe"
