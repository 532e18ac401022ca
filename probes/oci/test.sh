#!/bin/sh
# Carries out the plans of a built probe of an OCI runtime and kills it at every moment; nothing of it may remain.
#   test.sh PATH/TO/probe
# Where the runtime is missing or cannot make containers here, the probe must say so in its own words, and the test says which.
set -eu
probe=${1:?usage: test.sh PATH/TO/probe}
here=$(cd "$(dirname "$0")" && pwd)
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
        find "$mount" -type d \( -name "switchcost-$1-*" -o -name "switchcost-oci-*" \) 2>/dev/null || true
    done
}

nothing_left() {
    for _ in $(seq 100); do
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

# The runtime is absent wherever it lies: in a mount namespace of the test's own something that cannot be executed stands in its place.
runtime=$(basename "$(dirname "$(realpath "$probe")")")
cat >"$work/hide" <<'END'
runtime=$1 probe=$2
echo "$PATH:/usr/sbin:/sbin:/usr/local/sbin" | tr ':' '\n' | sort -u | while read -r folder; do
    if [ -x "$folder/$runtime" ]; then mount --bind /dev/null "$folder/$runtime" || exit 9; fi
done
"$probe" describe
exec "$probe" run mechanism=container/pipe
END
alone='unshare -m'
[ "$(id -u)" = 0 ] || alone='unshare -rm'
if $alone true 2>/dev/null; then
    $alone sh "$work/hide" "$runtime" "$(realpath "$probe")" >"$work/transcript" 2>&1 || fail "a missing runtime: exit status $?: $(cat "$work/transcript")"
    said="\"code\":\"missing_library\",\"reason\":\"$runtime was not found in PATH\",\"install\":\"the package $runtime\""
    [ "$(grep -c "$said" "$work/transcript")" = 3 ] || fail "a missing runtime is not reported: $(cat "$work/transcript")"
    tail -n 1 "$work/transcript" | grep -q '"status":"unsupported","samples":0,"code":"missing_library"' ||
        fail "a missing runtime is run: $(tail -n 1 "$work/transcript")"
else
    echo "no mount namespace can be made here: the absence of $runtime is not tested"
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
    # crun refuses a hybrid of control groups versions 1 and 2: once more where only version 2 is in sight.
    if [ "$failures" = 0 ] && [ -z "${only_unified:-}" ] && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
        env -u TMPDIR only_unified=yes unshare -m sh -c 'mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' sh "$0" "$probe"
        exit
    fi
    [ "$failures" = 0 ]
    exit
fi

# A quota needs the controller, which a hybrid keeps in the hierarchies that are then out of sight.
quota=cpu_quota=200
[ -z "${only_unified:-}" ] || quota=cpu_quota=none
for mechanism in container/futex container/pipe container/unix-socket; do
    for more in timing=batch timing=each contexts=3 cgroup_depth=2 $quota; do
        case $more in contexts=3) containers=3 ;; *) containers=2 ;; esac
        expect ok 0 "\"distinct_pid_ns\":$containers,\"distinct_user_ns\":$containers" mechanism="$mechanism" "$more"
    done
    expect ok 0 '"seccomp_filters":2' mechanism="$mechanism" seccomp=on
done
expect unsupported 0 'namespaces=none is not possible' mechanism=container/pipe namespaces=none
expect unsupported 0 'cgroup_depth=0 is not possible' mechanism=container/pipe cgroup_depth=0
expect refused 1 unknown_key mechanism=container/pipe bogus=1
for more in timing=batch timing=each cgroup_depth=2 $quota; do
    expect ok 0 '"turns":{"total":4,"min":4,"max":4,"contexts":1},"token":4,' mechanism=container/pipe experiment=create batch_units=1 "$more"
done
expect unsupported 0 'leave seccomp out' mechanism=container/pipe experiment=create seccomp=on

code=0
TMPDIR=/nowhere "$probe" run mechanism=container/pipe >"$work/transcript" 2>&1 || code=$?
if [ "$code" != 0 ] || ! grep -q '"status":"unsupported".*set TMPDIR to one that may be written to' "$work/transcript"; then
    fail "TMPDIR=/nowhere: $(cat "$work/transcript")"
fi

# No user namespaces: none may be made below a user namespace of the test's own.
if unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' 2>/dev/null; then
    for experiment in switch create; do
        unshare -Ur sh -c "echo 0 >/proc/sys/user/max_user_namespaces && exec timeout 20 \"$probe\" run mechanism=container/pipe experiment=$experiment" \
            >"$work/transcript" 2>&1 || fail "no user namespaces: exit status $?"
        tail -n 1 "$work/transcript" | grep -q '"status":"unsupported".*could not make container 1: [^;]*[a-z].*; .*user.max_user_namespaces = 0; raise it' ||
            fail "no user namespaces: $(tail -n 1 "$work/transcript")"
        echo "no user namespaces: $(grep -o '"detail":"[^"]*"' "$work/transcript")"
    done
fi

# Limits of the session: reached by the probe itself or by the runtime, whose crash must not become the reason.
for limit in $(seq -f nproc=%g 1 16) $(seq -f nofile=%g 5 24); do
    as=''
    if [ "$(id -u)" = 0 ] && [ "${limit%=*}" = nproc ]; then as='setpriv --reuid=65534 --regid=65534 --clear-groups'; fi
    mkdir -p "$work/open"
    chmod 711 "$work"
    chmod 1777 "$work/open"
    # shellcheck disable=SC2086
    TMPDIR="$work/open" timeout 20 $as prlimit "--$limit" "$probe" run mechanism=container/pipe batches=1 batch_units=2 >"$work/transcript" 2>"$work/stderr" ||
        fail "$limit: exit status $?: $(tail -n 1 "$work/transcript") $(cat "$work/stderr")"
    grep -qE '"status":"(ok|unsupported)"' "$work/transcript" || fail "$limit: $(cat "$work/transcript" "$work/stderr")"
    if grep -q '"status":"unsupported"' "$work/transcript"; then
        # crun makes its container with six tasks; to enter it then is refused with EPERM, which does not tell the limit.
        grep -qE '"code":"limit_reached".*(RLIMIT_NPROC|RLIMIT_NOFILE) = [0-9]*; raise|"code":"no_permission"' "$work/transcript" || fail "$limit is not named: $(tail -n 1 "$work/transcript")"
    fi
    if grep -qE '0x[0-9a-f]|goroutine' "$work/transcript"; then fail "$limit: a crash is the reason: $(tail -n 1 "$work/transcript")"; fi
done

# A view of the unified hierarchy alone, and of none, in a mount namespace of the test's own.
if [ "$(id -u)" = 0 ] && [ -z "${only_unified:-}" ] && unshare -m true 2>/dev/null; then
    for mounts in 'mount -t cgroup2 none /sys/fs/cgroup' 'mount -t tmpfs none /sys/fs/cgroup'; do
        unshare -m sh -c "$mounts && exec \"$probe\" run mechanism=container/pipe batches=3" >"$work/transcript" 2>&1 || fail "$mounts: exit status $?"
        tail -n 1 "$work/transcript" | grep -qE '"status":"ok"|could not make container 1: .*; ' || fail "$mounts: $(tail -n 1 "$work/transcript")"
    done
fi

# Killed while the runtime has made a container and not started it yet, when its init waits on a fifo.
for experiment in switch create; do
    setsid "$probe" run batches=1000000 mechanism=container/pipe contexts=8 experiment=$experiment >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 2000); do
        [ -z "$(find "$TMPDIR" -type p 2>/dev/null)" ] || break
    done
    kill -s KILL -- "-$pid"
    wait "$pid" 2>/dev/null || true
    nothing_left "$pid" "SIGKILL between making and starting of $experiment"
done

# Killed before anything was set up, half-way through it, and after.
for delay in 0.002 0.005 0.010 0.020 0.030 0.050 0.070 0.100 0.150 0.300; do
    for whom in group launcher; do
        for experiment in switch create; do
            setsid "$probe" run batches=1000000 mechanism=container/pipe experiment=$experiment >/dev/null 2>&1 &
            pid=$!
            sleep "$delay"
            if [ $whom = launcher ]; then kill -9 "$pid"; else kill -s KILL -- "-$pid" 2>/dev/null || kill -9 "$pid"; fi
            wait "$pid" 2>/dev/null || true
            nothing_left "$pid" "SIGKILL of the $whom after $delay s of $experiment"
        done
    done
done

# Killed together with its guardians: whoever starts next sweeps.
setsid "$probe" run batches=1000000 mechanism=container/pipe >"$work/transcript" 2>&1 &
dead=$!
for _ in $(seq 100); do
    grep -q '^{"t":"plan"' "$work/transcript" && break
    sleep 0.1
done
guardians=$(ps -eo pid=,ppid=,pgid= | awk -v parent="$dead" '$2 == parent && $1 == $3 { print $1 }')
# shellcheck disable=SC2086
kill -s KILL $guardians
kill -s KILL -- "-$dead"
wait "$dead" 2>/dev/null || true
[ -n "$(left_by "$dead")" ] || fail "nothing is left although the guardians were killed: the sweep is not tested"
expect ok 0 '"status":"ok"' mechanism=container/pipe
nothing_left "$dead" "the next start, of $dead,"

"$here/test-shared-folder.sh" "$probe" container/pipe 20 || failures=$((failures + 1))

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "ok: containers of $probe, nothing left behind"
