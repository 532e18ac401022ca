#!/bin/sh
# Carries out the plans of a built probe of gVisor's runsc and kills it at every moment; nothing of it may remain.
#   test-sandboxes.sh PATH/TO/probe
# Where runsc is missing or cannot make sandboxes here, the probe must say so in one sentence, and the test says which.
set -eu
probe=$(realpath "${1:?usage: test-sandboxes.sh PATH/TO/probe}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
mechanism=container/sandbox-pipe
failures=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# Files, processes of runsc (their arguments name the folder, the launcher's own do not) and mounts.
left() {
    ls "$TMPDIR"
    pgrep -af -- "$TMPDIR/" || true
    grep -F "$TMPDIR/" /proc/self/mounts || true
}

nothing_left() {
    for _ in $(seq 100); do
        [ -z "$(left)" ] && return
        sleep 0.1
    done
    fail "$1 leaves $(left | tr '\n' ' ')"
    rm -rf "${TMPDIR:?}"/*
}

# expect STATUS EXIT_STATUS PATTERN KEY=VALUE...
expect() {
    status=$1 exit_status=$2 pattern=$3
    shift 3
    code=0
    "$probe" run mechanism=$mechanism batch_ns=1000000 batches=3 warmup_batches=1 "$@" >"$work/transcript" 2>"$work/stderr" || code=$?
    [ "$code" = "$exit_status" ] || fail "$* exits with $code, not $exit_status"
    tail -n 1 "$work/transcript" | grep -q "^{\"t\":\"end\",\"status\":\"$status\"" || fail "$* ends with $(tail -n 1 "$work/transcript")"
    grep -qE "$pattern" "$work/transcript" || fail "$* does not say $pattern: $(cat "$work/transcript")"
    [ -s "$work/stderr" ] && fail "$* prints: $(cat "$work/stderr")"
    nothing_left "$*"
}

# The runtime is absent wherever it lies: in a mount namespace of the test's own something that cannot be executed stands in its place.
cat >"$work/hide" <<'END_OF_HIDE'
probe=$1 mechanism=$2
echo "$PATH:/usr/sbin:/sbin:/usr/local/sbin" | tr ':' '\n' | sort -u | while read -r folder; do
    if [ -x "$folder/runsc" ]; then mount --bind /dev/null "$folder/runsc" || exit 9; fi
done
"$probe" describe
exec "$probe" run "mechanism=$mechanism"
END_OF_HIDE
alone='unshare -m'
[ "$(id -u)" = 0 ] || alone='unshare -rm'
if $alone true 2>/dev/null; then
    $alone sh "$work/hide" "$probe" "$mechanism" >"$work/transcript" 2>&1 || fail "a missing runtime: exit status $?: $(cat "$work/transcript")"
    grep -q '"code":"missing_library","reason":"runsc was not found in PATH","install":"the package runsc"' "$work/transcript" ||
        fail "a missing runtime is not reported: $(cat "$work/transcript")"
    tail -n 1 "$work/transcript" | grep -q '"status":"unsupported","samples":0,"code":"missing_library"' ||
        fail "a missing runtime is run: $(tail -n 1 "$work/transcript")"
else
    echo "no mount namespace can be made here: the absence of runsc is not tested"
fi

"$probe" describe >"$work/transcript"
if ! grep -q '"available":true' "$work/transcript"; then
    echo "not run: $(grep -o '"reason":"[^"]*"' "$work/transcript" | head -n 1)"
    [ "$failures" = 0 ]
    exit
fi
expect refused 1 unknown_key bogus=1
expect refused 1 'platform=other is not one of' platform=other
expect unsupported 0 'two sandboxes share none; use timing=batch' timing=each

"$probe" run mechanism=$mechanism batches=3 >"$work/transcript" 2>&1 || fail "a short run exits with $?: $(tail -n 1 "$work/transcript")"
if grep -q '"status":"unsupported"' "$work/transcript"; then
    grep -qE 'could not make container [12]: [^;]*[a-z].*; |did not start a sandbox' "$work/transcript" || fail "no reason: $(cat "$work/transcript")"
    echo "not run: $(grep -o '"detail":"[^"]*"' "$work/transcript")"
    nothing_left 'a refusal'
    [ "$failures" = 0 ]
    exit
fi

nothing_left 'a short run'
last_cpu=$(($(nproc --all) - 1))
for more in batch_units=0 contexts=3 cpus=0 "cpus=0,$last_cpu" verify_units=0; do
    case $more in contexts=3) sandboxes=3 ;; *) sandboxes=2 ;; esac
    expect ok 0 "\"contexts\":$sandboxes\\},\"token\":.*\"address_spaces\":$sandboxes,.*\"clock_inside_ns\":[1-9].*\"distinct_user_ns\":$sandboxes," "$more"
done
# Turns are counted inside, hops are told from outside: eight laps of three.
expect ok 0 '"units":96,"turns":\{"total":96,"min":32,"max":32,"contexts":3\},"token":96,' contexts=3 batch_units=24

code=0
TMPDIR=/nowhere "$probe" run mechanism=$mechanism >"$work/transcript" 2>&1 || code=$?
if [ "$code" != 0 ] || ! grep -q '"status":"unsupported".*set TMPDIR to one that may be written to' "$work/transcript"; then
    fail "TMPDIR=/nowhere: $(cat "$work/transcript")"
fi

# Limits of the session and another user: reached by the probe itself or by the runtime, whose crash must not become the reason.
mkdir -m 1777 "$work/open"
chmod 711 "$work"
as=''
[ "$(id -u)" != 0 ] || as='setpriv --reuid=65534 --regid=65534 --clear-groups'
for limit in nproc=1 nproc=6 nproc=40 nproc=100 nofile=8 nofile=16 nofile=24 nofile=64 nofile=200 nofile=1024; do
    # shellcheck disable=SC2086
    TMPDIR="$work/open" timeout 60 $as prlimit "--$limit" "$probe" run mechanism=$mechanism batches=1 batch_units=2 >"$work/transcript" 2>"$work/stderr" ||
        fail "$limit: exit status $?: $(tail -n 1 "$work/transcript") $(cat "$work/stderr")"
    grep -qE '"status":"(ok|unsupported)"' "$work/transcript" || fail "$limit: $(cat "$work/transcript" "$work/stderr")"
    if grep -q '"status":"unsupported"' "$work/transcript"; then
        grep -qE '"code":"limit_reached".*(RLIMIT_NPROC|RLIMIT_NOFILE) = [0-9]*; raise' "$work/transcript" || fail "$limit is not named: $(tail -n 1 "$work/transcript")"
    fi
    if grep -qE '0x[0-9a-f]|goroutine' "$work/transcript"; then fail "$limit: a crash is the reason: $(tail -n 1 "$work/transcript")"; fi
    echo "$limit: $(tail -n 1 "$work/transcript" | cut -c1-300)"
done
TMPDIR=$work/open
nothing_left 'a run under limits'
TMPDIR=$work/tmp

# Every process that descends from the given one.
descendants() {
    for child in $(ps -eo pid=,ppid= | awk -v parent="$1" '$2 == parent { print $1 }'); do
        echo "$child"
        descendants "$child"
    done
}

# Killed in the middle of it: the sandboxes have sessions of their own, and pid namespaces.
for whom in group launcher sandbox; do
    : >"$work/transcript"  # the shell behind & may empty it later than the loop looks
    setsid "$probe" run batches=1000000 mechanism=$mechanism >"$work/transcript" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        grep -q '^{"t":"plan"' "$work/transcript" && break
        sleep 0.1
    done
    family=$(descendants "$pid")
    [ "$(echo "$family" | wc -w)" -ge 7 ] || fail "two sandboxes are only the processes $family"
    case $whom in
        group) kill -s KILL -- "-$pid" ;;
        launcher) kill -9 "$pid" ;;
        sandbox) kill -9 "$(cat "$TMPDIR"/*/1/pid)" ;;
    esac
    wait "$pid" 2>/dev/null || true
    nothing_left "SIGKILL of the $whom"
    # Nor any of the processes that bear no name of ours, the stubs; whoever adopted them may take its time to reap.
    for _ in $(seq 100); do
        # shellcheck disable=SC2086
        living=$(ps -o pid=,stat=,args= -p "$(echo $family | tr ' ' ',')" | awk '$2 !~ /^Z/' || true)
        [ -n "$living" ] || break
        sleep 0.1
    done
    [ -z "$living" ] || fail "SIGKILL of the $whom leaves $living"
done
grep -q '"code":"partner_died"' "$work/transcript" || fail "a dead sandbox is not reported: $(tail -n 1 "$work/transcript")"

# Killed before anything was set up, half-way through it, and after.
for delay in 0.005 0.020 0.040 0.060 0.080 0.100 0.130 0.160 0.200 0.300 0.500 0.800; do
    for whom in group launcher; do
        setsid "$probe" run batches=1000000 mechanism=$mechanism >/dev/null 2>&1 &
        pid=$!
        sleep "$delay"
        if [ $whom = launcher ]; then kill -9 "$pid"; else kill -s KILL -- "-$pid" 2>/dev/null || kill -9 "$pid"; fi
        wait "$pid" 2>/dev/null || true
        nothing_left "SIGKILL of the $whom after $delay s"
    done
done

# Killed together with its guardian: whoever starts next sweeps.
: >"$work/transcript"
setsid "$probe" run batches=1000000 mechanism=$mechanism >"$work/transcript" 2>&1 &
dead=$!
for _ in $(seq 100); do
    grep -q '^{"t":"plan"' "$work/transcript" && break
    sleep 0.1
done
guardian=$(ps -eo pid=,ppid=,pgid= | awk -v parent="$dead" '$2 == parent && $1 == $3 { print $1 }')
kill -s KILL "$guardian"
kill -s KILL -- "-$dead"
wait "$dead" 2>/dev/null || true
[ -n "$(ls "$TMPDIR")" ] || fail "nothing is left although the guardian was killed: the sweep is not tested"
expect ok 0 '"status":"ok"'

# Those before the middle of 2023 do not know it.
code=0
"$probe" run mechanism=$mechanism platform=systrap batches=3 >"$work/transcript" 2>"$work/stderr" || code=$?
[ "$code" = 0 ] || fail "platform=systrap exits with $code: $(tail -n 1 "$work/transcript")"
tail -n 1 "$work/transcript" | grep -qE '"status":"ok"|could not make container 1: unknown platform: systrap; ' || fail "platform=systrap: $(tail -n 1 "$work/transcript")"
nothing_left 'platform=systrap'

# A platform that hangs: the runtime begins and is never heard of again.
mkdir "$work/hanging"
printf '#!/bin/sh\nexec sleep 1000\n' >"$work/hanging/runsc"
chmod +x "$work/hanging/runsc"
path=$PATH
export PATH="$work/hanging:$PATH"
expect unsupported 0 'runsc did not start a sandbox within 20 s on platform=kvm; use another platform' platform=kvm
export PATH="$path"
if pgrep -fx 'sleep 1000' >"$work/sleeping"; then fail "a runtime that hangs is left: $(cat "$work/sleeping")"; fi

"$here/test-shared-folder.sh" "$probe" $mechanism 4 || failures=$((failures + 1))

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "ok: sandboxes of $probe, nothing left behind"
