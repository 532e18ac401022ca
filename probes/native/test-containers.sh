#!/bin/sh
# Runs the container mechanisms of a built probe and kills them in every way; nothing of them may remain.
#   test-containers.sh PATH/TO/probe
# Works without root, too: then there may be no control groups to look for, and the test says so.
set -eu
built=${1:?usage: test-containers.sh PATH/TO/probe}
work=$(mktemp -d)
# Under a name of its own the probe's processes are told from those of anybody else.
probe=$work/probe-under-test
cp "$built" "$probe"
chmod 755 "$work" "$probe"
pid=
failures=0

processes() {
    ps -eo pid=,stat=,args= | awk -v probe="$probe" '$3 == probe && $2 !~ /^Z/ { print $1 }'
}

groups_of() {
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts | while read -r mount; do
        find "$mount" -type d -name "switchcost-$1-*" 2>/dev/null || true
    done
}

clean_up() {
    for process in $(processes); do kill -9 "$process" 2>/dev/null || true; done
    rm -rf "$work"
}
trap clean_up EXIT

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# start KEY=VALUE... begins a run in a process group of its own, as the host does.
start() {
    : >"$work/transcript"  # the shell behind & may empty it later than the caller looks
    setsid "$probe" run "$@" >"$work/transcript" 2>"$work/stderr" &
    pid=$!
}

# nothing_left CASE: within two seconds of the probe's end its processes and groups are gone.
nothing_left() {
    for _ in $(seq 20); do
        [ -z "$(processes)$(groups_of "$pid")" ] && return
        sleep 0.1
    done
    fail "$1 leaves processes ($(processes | tr '\n' ' ')) or groups ($(groups_of "$pid" | tr '\n' ' '))"
}

# expect STATUS EXIT_STATUS KEY=VALUE... carries out a short run.
expect() {
    status=$1 exit_status=$2
    shift 2
    start batch_ns=20000 batches=3 warmup_batches=1 "$@"
    code=0
    wait "$pid" || code=$?
    [ "$code" = "$exit_status" ] || fail "$* exits with $code, not $exit_status"
    tail -n 1 "$work/transcript" | grep -q "^{\"t\":\"end\",\"status\":\"$status\"" || fail "$* ends with $(tail -n 1 "$work/transcript")"
    [ -s "$work/stderr" ] && fail "$* prints: $(cat "$work/stderr")"
    [ -z "$(processes)$(groups_of "$pid")" ] || fail "$* leaves something at its own end"
}

count_is() {
    grep -q "\"$1\":$2[,}]" "$work/transcript" || fail "count $1 is not $2: $(grep -o "\"$1\":[0-9-]*" "$work/transcript")"
}

# A run that goes on until it is ended. Sets launcher, guardian (empty without groups), driver and partner.
start_endless() {
    start batch_ns=1000000 batches=1000000 mechanism=container/pipe
    launcher=$pid guardian='' driver='' partner=''
    for _ in $(seq 50); do
        grep -q '^{"t":"plan"' "$work/transcript" && break
        sleep 0.1
    done
    for child in $(ps -eo pid=,ppid= | awk -v parent="$launcher" '$2 == parent { print $1 }' | sort -n); do
        if [ "$(ps -o pgid= -p "$child" | tr -d ' ')" = "$child" ]; then guardian=$child
        elif [ -z "$driver" ]; then driver=$child
        else partner=$child
        fi
    done
    [ -n "$partner" ] || fail "the endless run has no two containers: $(cat "$work/transcript" "$work/stderr")"
}

# after WHAT: waits for the end of the endless run and looks round.
after() {
    wait "$launcher" 2>/dev/null || true
    nothing_left "$1"
}

all_plans() {
    for mechanism in container/futex container/pipe container/unix-socket; do
        for more in timing=batch timing=each contexts=5 cgroup_depth=0 cgroup_depth=3 seccomp=on namespaces=none verify_units=0; do
            expect ok 0 mechanism="$mechanism" "$more"
            case $more in namespaces=none) continue ;; contexts=5) containers=5 ;; *) containers=2 ;; esac
            for kind in cgroup ipc mnt net pid user uts; do count_is "distinct_${kind}_ns" "$containers"; done
        done
        expect ok 0 mechanism="$mechanism" seccomp=on
        count_is seccomp_filters 2
        expect refused 1 mechanism="$mechanism" cgroup=own cgroup_depth=0
        expect refused 1 mechanism="$mechanism" cgroup_depth=9
    done
    for more in timing=batch timing=each cgroup_depth=0 cgroup_depth=3 seccomp=on namespaces=none; do
        expect ok 0 mechanism=container/pipe experiment=create "$more"
    done
    for more in verify_units=0 cgroup_depth=0 cgroup_depth=3 seccomp=on namespaces=none; do
        expect ok 0 mechanism=container/pipe experiment=footprint contexts=20 "$more"
        grep -q '"turns":{"total":80,"min":1,"max":1,"contexts":20}' "$work/transcript" || fail "not every container ran: $(cat "$work/transcript")"
    done
    expect unsupported 0 mechanism=container/pipe experiment=footprint contexts=20 cpu_quota=200
}

all_kills() {
    start_endless
    kill -9 "$launcher"
    after "SIGKILL of the launcher"

    start_endless
    kill -s KILL -- "-$launcher"
    after "SIGKILL of the process group"

    # Not INT: the shell makes those it starts in the background ignore it; below nohup all ignore HUP, signal 1.
    signals='TERM HUP'
    if grep -q '^SigIgn:.*[13579bdf]$' /proc/self/status; then signals=TERM; fi
    for signal in $signals; do
        start_endless
        kill -s "$signal" -- "-$launcher"
        after "SIG$signal of the process group"
    done

    start_endless
    kill -9 "$driver"
    after "SIGKILL of the driver"

    start_endless
    kill -9 "$partner"
    after "SIGKILL of a container"
    tail -n 1 "$work/transcript" | grep -q '"code":"partner_died"' || fail "a killed container is not reported: $(tail -n 1 "$work/transcript")"
}

# Killed before anything was set up, half-way through it, and after.
kills_at_any_moment() {
    for delay in 0.001 0.002 0.003 0.004 0.005 0.007 0.010 0.015 0.020 0.030; do
        for experiment in switch create footprint; do
            case $experiment in footprint) many=4000 ;; *) many=1000000 ;; esac
            start batches=$many mechanism=container/pipe contexts=8 experiment="$experiment"
            launcher=$pid
            sleep "$delay"
            kill -s KILL -- "-$launcher" 2>/dev/null || kill -9 "$launcher"
            after "SIGKILL after $delay s of $experiment"
        done
    done
}

with_groups() {
    expect ok 0 mechanism=container/pipe cgroup=own cgroup_depth=2
    count_is cgroups 2
    expect ok 0 mechanism=container/pipe cpu_quota=200
    count_is throttled_periods 0

    start_endless
    dead=$launcher
    [ "$(groups_of "$dead" | wc -l)" -ge 2 ] || fail "the running containers have no groups"
    kill -9 "$guardian" "$launcher"
    wait "$launcher" 2>/dev/null || true
    sleep 0.2
    [ -n "$(groups_of "$dead")" ] || fail "groups are gone although the guardian was killed: the sweep is not tested"
    expect ok 0 mechanism=container/pipe
    [ -z "$(groups_of "$dead")" ] || fail "the next start did not sweep $(groups_of "$dead")"
    groups_of_others
}

# Nobody has the id of the first one; the second is exactly like a probe's, but for its mode. What a probe of another pid namespace makes and
# removes all the time must be there when it needs it, and goes when that one has been killed with everybody in there, its guardian, too.
groups_of_others() {
    start_endless
    parent=$(dirname "$(groups_of "$launcher" | head -n 1)")
    kill -s KILL -- "-$launcher"
    after "SIGKILL of the process group"
    mkdir "$parent/switchcost-4194999-results" "$parent/switchcost-4194999-abcdef" "$parent/switchcost-4194999-abcdef-0"
    expect ok 0 mechanism=container/pipe
    rmdir "$parent/switchcost-4194999-results" "$parent/switchcost-4194999-abcdef-0" "$parent/switchcost-4194999-abcdef" || fail 'groups of others were swept'

    unshare -pf --mount-proc --kill-child true 2>/dev/null || return 0
    : >"$work/other"  # likewise
    unshare -pf --mount-proc --kill-child "$probe" run batch_ns=1000000 batches=1000000 mechanism=container/pipe experiment=create >"$work/other" 2>&1 &
    other=$!
    for _ in $(seq 50); do
        grep -q '^{"t":"plan"' "$work/other" && break
        sleep 0.1
    done
    for _ in $(seq 20); do
        "$probe" run batch_ns=20000 batches=3 mechanism=container/pipe >"$work/transcript" 2>&1 || true
        tail -n 1 "$work/transcript" | grep -q '"status":"ok"' || fail "beside a pid namespace: $(tail -n 1 "$work/transcript")"
    done
    if grep -q '^{"t":"end"' "$work/other"; then fail "in a pid namespace: $(tail -n 1 "$work/other")"; fi
    kill -9 "$other"
    wait "$other" 2>/dev/null || true
    for _ in $(seq 20); do
        expect ok 0 mechanism=container/pipe
        [ -n "$(groups_of 1)" ] || return 0
    done
    fail "the next starts did not sweep $(groups_of 1)"
}

# In a user namespace of the test's own, below which no more may be made.
without_namespaces() {
    unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' 2>/dev/null || return 0
    for more in experiment=switch experiment=create experiment=footprint; do
        unshare -Ur sh -c "echo 0 >/proc/sys/user/max_user_namespaces && exec timeout 20 \"$probe\" run mechanism=container/pipe $more" >"$work/transcript" 2>&1 ||
            fail "no user namespaces: exit status $?"
        tail -n 1 "$work/transcript" | grep -q '"code":"limit_reached".*sysctl user.max_user_namespaces = 0; raise it with sysctl -w' ||
            fail "no user namespaces: $(tail -n 1 "$work/transcript")"
    done
}

# Every step of making containers meets the limit once: none may put it down to something else.
few_descriptors() {
    for count in $(seq 5 24); do
        code=0
        timeout 20 prlimit "--nofile=$count:$count" "$probe" run mechanism=container/unix-socket batches=1 batch_units=2 >"$work/transcript" 2>&1 || code=$?
        if [ "$code" != 0 ] || ! tail -n 1 "$work/transcript" | grep -qE "\"status\":\"ok\"|\"code\":\"limit_reached\".*RLIMIT_NOFILE = $count; raise"; then
            fail "$count descriptors: exit status $code: $(tail -n 1 "$work/transcript")"
        fi
        timeout 20 prlimit "--nofile=$count:$count" "$probe" run mechanism=container/pipe experiment=footprint contexts=3 batches=1 >"$work/transcript" 2>&1 || true
        tail -n 1 "$work/transcript" | grep -qE "\"status\":\"ok\"|\"code\":\"limit_reached\".*RLIMIT_NOFILE = $count; raise" ||
            fail "$count descriptors, footprint: $(tail -n 1 "$work/transcript")"
    done
}

without_root() {
    command -v setpriv >/dev/null || return 0
    code=0
    timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$probe" run mechanism=container/pipe batches=3 >"$work/transcript" || code=$?
    [ "$code" = 0 ] || fail "unprivileged: exit status $code"
    echo "unprivileged: $(tail -n 1 "$work/transcript")"
    timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$probe" run mechanism=container/pipe experiment=footprint contexts=20 batches=1 >"$work/transcript" || true
    tail -n 1 "$work/transcript" | grep -qE '"status":"(ok|unsupported)"' || fail "unprivileged, footprint: $(tail -n 1 "$work/transcript")"
    echo "unprivileged, footprint: $(tail -n 1 "$work/transcript")"
}

all_plans
if grep -q '"cgroups":2' "$work/transcript" || { expect ok 0 mechanism=container/pipe; grep -q '"cgroups":2' "$work/transcript"; }; then
    with_groups
else
    echo "no control group can be made here: their removal is not tested"
    expect unsupported 0 mechanism=container/pipe cgroup=own
fi
without_namespaces
all_kills
kills_at_any_moment
few_descriptors
[ "$(id -u)" = 0 ] && without_root

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "ok: containers of $built, nothing left behind"
