#!/bin/sh
# Carries out the plans of a built probe of an OCI runtime and kills it at every moment; nothing of it may remain.
#   test.sh PATH/TO/probe
# Where the runtime is missing or cannot make containers here, the probe must say so in its own words, and the test says which.
set -eu
probe=${1:?usage: test.sh PATH/TO/probe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
failures=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# What a probe with this id has left: groups and folders that bear its name, and in the groups lie the containers' processes.
left_by() {
    ls "$TMPDIR"
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts | while read -r mount; do
        find "$mount" -type d -name "switchcost-$1-*" 2>/dev/null || true
    done
}

nothing_left() {
    for _ in $(seq 20); do
        [ -z "$(left_by "$1")" ] && return
        sleep 0.1
    done
    fail "$2 leaves $(left_by "$1" | tr '\n' ' ')"
}

# expect STATUS EXIT_STATUS PATTERN KEY=VALUE...
expect() {
    status=$1 exit_status=$2 pattern=$3
    shift 3
    code=0
    setsid "$probe" run batch_ns=20000 batches=3 warmup_batches=1 "$@" >"$work/transcript" 2>"$work/stderr" &
    pid=$!
    wait "$pid" || code=$?
    [ "$code" = "$exit_status" ] || fail "$* exits with $code, not $exit_status"
    tail -n 1 "$work/transcript" | grep -q "^{\"t\":\"end\",\"status\":\"$status\"" || fail "$* ends with $(tail -n 1 "$work/transcript")"
    grep -q "$pattern" "$work/transcript" || fail "$* does not say $pattern: $(cat "$work/transcript")"
    [ -s "$work/stderr" ] && fail "$* prints: $(cat "$work/stderr")"
    nothing_left "$pid" "$*"
}

PATH=/nowhere "$probe" describe >"$work/transcript"
if grep -q '"available":true' "$work/transcript"; then
    echo "the runtime lies outside of PATH, too: its absence is not tested"
else
    grep -q '"code":"missing_library","reason":".* was not found in PATH","install":"the package ' "$work/transcript" ||
        fail "a missing runtime is not reported: $(cat "$work/transcript")"
fi

"$probe" describe >"$work/transcript"
if ! grep -q '"available":true' "$work/transcript"; then
    echo "not run: $(grep -o '"reason":"[^"]*"' "$work/transcript" | head -n 1)"
    exit 0
fi
"$probe" run mechanism=container/pipe batches=3 >"$work/transcript" 2>&1 || fail "a short run exits with $?"
if grep -q '"status":"unsupported"' "$work/transcript"; then
    grep -q 'could not make container 1: [^;]*[a-z].*; ' "$work/transcript" || fail "no reason: $(cat "$work/transcript")"
    echo "not run: $(grep -o '"detail":"[^"]*"' "$work/transcript")"
    [ "$failures" = 0 ]
    exit
fi

for mechanism in container/futex container/pipe container/unix-socket; do
    for more in timing=batch timing=each contexts=3 cgroup_depth=2 cpu_quota=200; do
        case $more in contexts=3) containers=3 ;; *) containers=2 ;; esac
        expect ok 0 "\"distinct_pid_ns\":$containers,\"distinct_user_ns\":$containers" mechanism="$mechanism" "$more"
    done
    expect ok 0 '"seccomp_filters":2' mechanism="$mechanism" seccomp=on
done
expect unsupported 0 'namespaces=none is not possible' mechanism=container/pipe namespaces=none
expect unsupported 0 'cgroup_depth=0 is not possible' mechanism=container/pipe cgroup_depth=0
expect refused 1 unknown_key mechanism=container/pipe bogus=1

# A view of the unified hierarchy alone, and of none, in a mount namespace of the test's own.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    for mounts in 'mount -t cgroup2 none /sys/fs/cgroup' 'mount -t tmpfs none /sys/fs/cgroup'; do
        unshare -m sh -c "$mounts && exec \"$probe\" run mechanism=container/pipe batches=3" >"$work/transcript" 2>&1 || fail "$mounts: exit status $?"
        tail -n 1 "$work/transcript" | grep -qE '"status":"ok"|could not make container 1: .*; ' || fail "$mounts: $(tail -n 1 "$work/transcript")"
    done
fi

# Killed before anything was set up, half-way through it, and after.
for delay in 0.002 0.005 0.010 0.020 0.030 0.050 0.070 0.100 0.150 0.300; do
    for whom in group launcher; do
        setsid "$probe" run batches=1000000 mechanism=container/pipe >/dev/null 2>&1 &
        pid=$!
        sleep "$delay"
        if [ $whom = launcher ]; then kill -9 "$pid"; else kill -s KILL -- "-$pid" 2>/dev/null || kill -9 "$pid"; fi
        wait "$pid" 2>/dev/null || true
        nothing_left "$pid" "SIGKILL of the $whom after $delay s"
    done
done

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "ok: containers of $probe, nothing left behind"
