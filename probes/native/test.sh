#!/bin/sh
# Runs what only this probe's kit has, and before it every mechanism x experiment x timing of a built probe with a tiny plan. Refusals are in
# protocol/plans.toml, values of parameters in tests/tests/parameters.rs.
#   test.sh [--own] PATH/TO/probe [WORD...]
# By --own only the former, as the gate does.
# Plans with a WORD (a pattern, say 'mechanism=container/*') are left out: what an emulator cannot do. So are the plans below of
# mechanisms that this build of the probe does not have. Each transcript is read and judged by the host, where that has been built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
own=''
if [ "${1:-}" = --own ]; then own=yes && shift; fi
probe=${1:?usage: test.sh [--own] PATH/TO/probe [WORD...]}
shift
without=$*
host=${SWITCHCOST:-$here/../../target/release/switchcost}
[ -x "$host" ] || echo "test.sh: $host is not built: evidence is not judged" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
plans=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# applies key=value... : this build has the mechanism, and the plan is not to be left out
applies() (
    set -f
    for word; do
        for left_out in $without; do
            # shellcheck disable=SC2254
            case $word in $left_out) return 1 ;; esac
        done
        case $word in
            mechanism=*) grep -q "^${word#mechanism=} " "$work/mechanisms" || return 1 ;;
        esac
    done
)

# run_plan EXPECTED_STATUS EXPECTED_EXIT PATTERN mechanism=... key=value...
run_plan() {
    status=$1 exit_status=$2 pattern=$3
    shift 3
    applies "$@" || return 0
    plans=$((plans + 1))
    code=0
    # shellcheck disable=SC2046
    timeout 300 "$probe" run $("$here/../words" "$@" <"$work/list") >"$work/transcript" 2>"$work/stderr" || code=$?
    [ "$code" = "$exit_status" ] || fail "$* exits with $code, not $exit_status"
    tail -n 1 "$work/transcript" | grep -q "^{\"t\":\"end\",\"status\":\"$status\"" || fail "$* ends with $(tail -n 1 "$work/transcript")"
    grep -q "$pattern" "$work/transcript" || fail "$* does not say $pattern: $(cat "$work/transcript")"
    [ ! -s "$work/stderr" ] || fail "$* prints: $(cat "$work/stderr")"
    [ -x "$host" ] || return 0
    "$host" check-probe --transcript "$work/transcript" --mechanism "${1#mechanism=}" >"$work/judged" 2>&1 && return 0
    # Switches, CPUs and calls in vain of so few units depend on who else runs.
    grep -qE 'conforms.*(the kernel counted|stayed on one CPU|yields: |nobody counted it)' "$work/judged" || fail "$*: $(cat "$work/judged")"
}

"$probe" describe >"$work/list"
sed -n 's/^{"t":"mechanism","id":"\([^"]*\)","experiments":\[\([^]]*\)\].*"available":\(true\|false\).*/\1 \2 \3/p' "$work/list" >"$work/mechanisms"
[ -s "$work/mechanisms" ] || fail "describe lists nothing"
cut -d' ' -f1 "$work/mechanisms" | LC_ALL=C sort -c || fail "the list is not sorted"

# each_mechanism : in every experiment and timing, in rings of other sizes, with a working set
each_mechanism() {
    while read -r mechanism experiments available; do
        # Its rings are on one CPU, and the kernel's thread needs another.
        [ "$mechanism" != thread/io-uring-sqpoll ] || continue
        status=ok
        [ "$available" = true ] || status=unsupported
        for experiment in $(echo "$experiments" | tr -d '"' | tr ',' ' '); do
            for timing in batch each; do
                if [ "$experiment" = footprint ]; then
                    [ "$timing" = each ] || run_plan "$status" 0 '' mechanism="$mechanism" experiment=footprint contexts=50 batches=2 warmup_batches=1
                    continue
                fi
                # Below, on CPUs that it takes.
                [ "$experiment" != gap ] || continue
                # What is paced, or is of a whole batch: no host asks for the time of each by the counter. Turns of computing tasks are longer than this batch.
                case "$experiment $timing" in
                    'wakeup each' | 'serve each' | 'submit each' | 'contend each' | 'preempt each' | rotate*) continue ;;
                esac
                if [ "$experiment" = count ]; then
                    # Nobody counts here: the transcript alone is held against the protocol.
                    [ "$timing" = each ] || run_plan "$status" 0 kernel_switches mechanism="$mechanism" experiment=count batch_units=96 batches=2 warmup_batches=1
                    continue
                fi
                run_plan "$status" 0 '' mechanism="$mechanism" experiment="$experiment" timing="$timing" batch_ns=20000 batches=3 warmup_batches=1
            done
        done
        case $mechanism in control/* | sandbox/notify | sandbox/ptrace | sandbox/sigsys | sandbox/syscall | sandbox/userfaultfd) continue ;; esac
        case $experiments in *switch*) ;; *) continue ;; esac
        run_plan "$status" 0 '' mechanism="$mechanism" contexts=7 batch_units=100 batches=2
        run_plan "$status" 0 '' mechanism="$mechanism" contexts=3 working_set=100 batch_units=30 batches=2
        run_plan "$status" 0 '' mechanism="$mechanism" contexts=3 timing=each working_set=30000 batch_units=30 batches=2
        if grep -q "\"id\":\"$mechanism\".*\"layout\"" "$work/list"; then
            run_plan "$status" 0 '' mechanism="$mechanism" layout=in_order contexts=1000 batch_units=1000 batches=2
            run_plan "$status" 0 '' mechanism="$mechanism" layout=scattered contexts=9 working_set=100 batch_units=90 batches=2
        fi
    done <"$work/mechanisms"
}
[ -n "$own" ] || each_mechanism

# Combinations that a mechanism does not have.
run_plan refused 1 bad_value mechanism=stack/asm cpus=0,1
run_plan refused 1 bad_value mechanism=thread/pthread experiment=switch
run_plan refused 1 bad_value mechanism=thread/pthread experiment=create cpus=0,1
# What is wrong with the arguments is said on the descriptor that they name, wherever it stands among them.
for wrong in 'batches=1 batches=1' nonsense; do
    # shellcheck disable=SC2086
    "$probe" run $wrong report_fd=3 3>"$work/transcript" >"$work/out" 2>&1 || true
    tail -n 1 "$work/transcript" | grep -q '"status":"refused"' || fail "$wrong is not refused on report_fd"
    [ ! -s "$work/out" ] || fail "$wrong is answered on standard output"
done
# What the machine lacks, with its code or cure.
run_plan unsupported 0 too_few_cpus mechanism=control/cache-line cpus=0
run_plan unsupported 0 too_few_cpus mechanism=thread/pipe cpus=0,1000
run_plan unsupported 0 too_few_cpus mechanism=thread/io-uring-sqpoll cpus=0
run_plan unsupported 0 too_few_cpus mechanism=thread/futex experiment=gap cpus=0
[ "$(nproc)" -lt 2 ] || run_plan ok 0 '' mechanism=thread/futex experiment=gap contexts=1 cpus=0,1 batch_ns=20000 batches=3 warmup_batches=1
for idle in busy poll; do run_plan unsupported 0 too_few_cpus mechanism=thread/futex idle=$idle cpus=0; done
for mechanism in stack/asm process/pipe; do
    run_plan unsupported 0 '"code":"limit_reached".*smaller working_set' mechanism=$mechanism contexts=1000 working_set=1073741824
done
# Below a word, beyond a buffer, not whole lines.
for payload in 1 7 65537 1048576; do
    for mechanism in thread/pipe thread/unix-socket process/pipe process/unix-socket process/tcp-loopback; do
        run_plan ok 0 '' mechanism=$mechanism experiment=message payload=$payload batch_units=5 batches=2 warmup_batches=0
    done
done
# A lap that is long by itself makes a batch: eight of them, three times over, would take ten seconds.
run_plan ok 0 '"batch_units":2[,}]' mechanism=stack/fcontext working_set=268435456 batch_ns=1000 batches=1 warmup_batches=0
for bytes in 1 64 4097 1000000; do run_plan ok 0 '' mechanism=control/touch working_set=$bytes batch_units=5 batches=2; done

# Real-time scheduling, where it is allowed, and the cure where it is not. Batches are long enough for what an emulator translates when it first runs.
fifo=unsupported
if chrt -f 1 true 2>/dev/null; then fifo=ok; fi
grep -E '^(thread|process)/.*"switch"' "$work/mechanisms" >"$work/scheduled" || true
while read -r mechanism _; do
    [ "$mechanism" != thread/io-uring-sqpoll ] || continue
    run_plan $fifo 0 '' mechanism="$mechanism" sched=fifo contexts=3 batch_units=600 batches=2
done <"$work/scheduled"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    as_is=$probe probe=$work/as_nobody
    printf '#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups --bounding-set=-all --inh-caps=-all %s "$@"\n' "$(realpath "$as_is")" >"$probe"
    chmod 755 "$work" "$probe"
    ! "$probe" describe >/dev/null 2>&1 || run_plan unsupported 0 '"code":"no_permission".*\(RLIMIT_RTPRIO\|cpu\.rt_runtime_us\)' mechanism=thread/pipe sched=fifo
    ! "$probe" describe >/dev/null 2>&1 || run_plan unsupported 0 '"code":"no_permission".*SCHED_FIFO' mechanism=thread/preempted experiment=preempt contexts=1 data=0
    probe=$as_is
fi

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "ok: $(wc -l <"$work/mechanisms") mechanisms, $plans plans of $probe"
