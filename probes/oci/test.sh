#!/bin/sh
# Carries out the plans of a built probe that makes containers, kills it at every moment and lets others interfere: nothing of it may remain, and
# nothing of anybody else's may be touched. For the native probe, whose containers are its own, and those of runc, crun and runsc.
#   test.sh PATH/TO/probe
# Where no container can be made, the probe must say so in its own words, and the test says which. Works without root too, and then says what it
# does not test. It counts only what its own probes have made: other runs of switchcost may go on beside it.
# Functions are called by name, and word splitting is wanted where a variable holds several words.
# shellcheck disable=SC1091,SC2046,SC2086,SC2154,SC2317
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(realpath "${1:?usage: test.sh PATH/TO/probe}")
runtime=$(basename "$(dirname "$built")")
case $runtime in
    runc | crun) kind=runtime mechanisms='container/futex container/pipe container/unix-socket' experiments='switch create' ;;
    runsc) kind=sandbox mechanisms=container/sandbox-pipe experiments=switch ;;
    *) kind=own mechanisms='container/futex container/pipe container/unix-socket' experiments='switch create footprint' ;;
esac
mechanism=container/pipe
[ $kind != sandbox ] || mechanism=$mechanisms
failures=0

# What the cases below share: set-up, clean-up, counting; starting and looking.
. "$here/tests/helpers.sh"

# ---- Plans ---------------------------------------------------------------------------------------------------------------------------------------

all_own_plans() {
    for mechanism in $mechanisms; do
        for more in timing=batch timing=each contexts=5 cgroup_depth=0 cgroup_depth=3 seccomp=on namespaces=none verify_units=0; do
            case $more in namespaces=none) count=1 ;; contexts=5) count=5 ;; *) count=2 ;; esac
            expect ok 0 "\"distinct_cgroup_ns\":$count,.*_ipc_ns\":$count,.*_mnt_ns\":$count,.*_net_ns\":$count,.*_pid_ns\":$count,.*_user_ns\":$count,.*_uts_ns\":$count," "$more"
        done
        expect ok 0 '"seccomp_filters":2' seccomp=on
        expect refused 1 bad_value cgroup=own cgroup_depth=0
    done
    mechanism=container/pipe
    for more in timing=batch timing=each cgroup_depth=0 cgroup_depth=3 seccomp=on namespaces=none; do expect ok 0 '' experiment=create "$more"; done
    for more in verify_units=0 cgroup_depth=0 cgroup_depth=3 seccomp=on namespaces=none; do
        expect ok 0 '"turns":\{"total":80,"min":1,"max":1,"contexts":20\}' experiment=footprint contexts=20 "$more"
    done
}

all_runtime_plans() {
    # A quota needs the controller, which a hybrid keeps in the hierarchies that are then out of sight.
    quota=cpu_quota=200
    [ -z "${only_unified:-}" ] || quota=cpu_quota=none
    for mechanism in $mechanisms; do
        for more in timing=batch timing=each contexts=3 cgroup_depth=2 $quota; do
            case $more in contexts=3) count=3 ;; *) count=2 ;; esac
            expect ok 0 "\"distinct_pid_ns\":$count,\"distinct_user_ns\":$count" "$more"
        done
        expect ok 0 '"seccomp_filters":2' seccomp=on
    done
    mechanism=container/pipe
    expect unsupported 0 'namespaces=none is not possible' namespaces=none
    expect unsupported 0 'cgroup_depth=0 is not possible' cgroup_depth=0
    for more in timing=batch timing=each cgroup_depth=2 $quota; do
        expect ok 0 '"turns":\{"total":4,"min":4,"max":4,"contexts":1\},"token":4,' experiment=create batch_units=1 "$more"
    done
    expect unsupported 0 'leave seccomp out' experiment=create seccomp=on
}

all_sandbox_plans() {
    expect unsupported 0 'two sandboxes share none; use timing=batch' timing=each
    for more in batch_units=0 contexts=3 cpus=0 "cpus=0,$(($(nproc --all) - 1))" verify_units=0; do
        case $more in contexts=3) count=3 ;; *) count=2 ;; esac
        expect ok 0 "\"contexts\":$count\\},\"token\":.*\"address_spaces\":$count,.*\"clock_inside_ns\":[1-9].*\"distinct_user_ns\":$count," "$more"
    done
    # Turns are counted inside, switches outside: eight laps of three.
    expect ok 0 '"units":96,"turns":\{"total":96,"min":32,"max":32,"contexts":3\},"token":96,' contexts=3 batch_units=24
    # Those before the middle of 2023 do not know it.
    under '"status":"ok"|could not make container 1: unknown platform: systrap; ' "$probe" run $(words mechanism=$mechanism platform=systrap batches=3)
    # A platform that hangs: the runtime begins and is never heard of again.
    mkdir "$work/hanging"
    cp "$(command -v sleep)" "$work/hanging/sleep" # by whose path it is known
    printf '#!/bin/sh\nexec "%s/hanging/sleep" 1000\n' "$work" >"$work/hanging/runsc"
    chmod +x "$work/hanging/runsc"
    path=$PATH
    export PATH="$work/hanging:$PATH"
    expect unsupported 0 'runsc did not start a sandbox within 20 s on platform=kvm; use another platform' platform=kvm
    export PATH="$path"
}

# ---- Missing, forbidden and limited --------------------------------------------------------------------------------------------------------------

# The runtime is absent wherever it lies: in a mount namespace of the test's own something that cannot be executed stands in its place.
without_the_runtime() {
    alone='unshare -m'
    as_root || alone='unshare -rm'
    can $alone || { echo "no mount namespace can be made here: the absence of $runtime is not tested"; return 0; }
    # shellcheck disable=SC2016
    under '"status":"unsupported","samples":0,"code":"missing_library"' $alone sh -c '
        echo "$PATH:/usr/sbin:/sbin:/usr/local/sbin" | tr ":" "\n" | sort -u | while read -r folder; do
            if [ -x "$folder/$1" ]; then mount --bind /dev/null "$folder/$1" || exit 9; fi
        done
        "$2" describe && exec "$2" run $3' sh "$runtime" "$probe" "$(words mechanism=$mechanism)"
    missing="\"code\":\"missing_library\",\"reason\":\"$runtime was not found in PATH\",\"install\":\"the package $runtime\""
    [ "$(grep -c "$missing" "$work/transcript")" = "$(echo "$mechanisms" | wc -w)" ] || fail "a missing runtime is not reported: $(cat "$work/transcript")"
}

without_a_folder() {
    for folder in /nowhere "$work/replaceable"; do
        [ "$folder" = /nowhere ] || mkdir -m 777 "$folder" # where everybody may replace what others make, nothing is made
        under '"status":"unsupported".*(set TMPDIR to one that may be written to|everybody may replace)' env TMPDIR="$folder" "$probe" run $(words mechanism=$mechanism)
    done
}

# No user namespaces: none may be made below a user namespace of the test's own.
without_namespaces() {
    unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' 2>/dev/null || return 0
    reason='"code":"limit_reached".*sysctl user.max_user_namespaces = 0; raise it with sysctl -w'
    [ $kind = own ] || reason='"status":"unsupported".*could not make container 1: [^;]*[a-z].*; .*user.max_user_namespaces = 0; raise it'
    for experiment in $experiments; do
        under "$reason" unshare -Ur sh -c "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$probe\" run $(words mechanism=$mechanism experiment=$experiment)"
    done
}

# limited LIMIT WORD... : reached by the probe itself, at any step of its set-up, or by the runtime; none may put it down to something else.
limited() {
    limit=$1
    shift
    as=''
    case $limit in nproc=*) if as_root; then as=$as_nobody; fi ;; esac
    if [ $kind = sandbox ] && as_root; then as=$as_nobody; fi
    # crun makes its container with six tasks; to enter it then is refused with EPERM, which does not tell the limit.
    reason='"status":"ok"|"code":"limit_reached".*(RLIMIT_NPROC|RLIMIT_NOFILE) = [0-9]*; raise'
    [ "$runtime" != crun ] || reason="$reason|\"code\":\"no_permission\""
    under "$reason" env TMPDIR="$work/open" $as prlimit "--$limit" "$probe" run $(words "$@")
}

all_limits() {
    case $kind in
        own)
            for count in $(seq 5 24); do
                limited "nofile=$count:$count" mechanism=container/unix-socket batches=1 batch_units=2
                limited "nofile=$count:$count" mechanism=container/pipe experiment=footprint contexts=3 batches=1
            done
            ;;
        runtime) for limit in $(seq -f nproc=%g 1 16) $(seq -f nofile=%g 5 24); do limited "$limit" mechanism=$mechanism batches=1 batch_units=2; done ;;
        sandbox)
            for limit in nproc=1 nproc=6 nproc=40 nproc=100 nofile=8 nofile=16 nofile=24 nofile=64 nofile=200 nofile=1024; do
                limited $limit mechanism=$mechanism batches=1 batch_units=2
            done
            ;;
    esac
    TMPDIR=$work/open
    nothing_left 'a run under limits'
    TMPDIR=$work/tmp
}

as_somebody_else() {
    as_root && command -v setpriv >/dev/null || return 0
    for more in batches=3 'experiment=footprint contexts=20 batches=1'; do
        under '"status":"(ok|unsupported)"' $as_nobody "$probe" run $(words mechanism=$mechanism $more)
        echo "unprivileged, $more: $(last_line)"
    done
}

# A view of the unified hierarchy alone, and of none, in a mount namespace of the test's own.
with_other_hierarchies() {
    as_root && [ -z "${only_unified:-}" ] && can unshare -m || return 0
    for type in cgroup2 tmpfs; do
        under '"status":"ok"|could not make container 1: .*; ' unshare -m sh -c "mount -t $type none /sys/fs/cgroup && exec \"$probe\" run $(words mechanism=$mechanism batches=3)"
    done
}

# ---- Killed --------------------------------------------------------------------------------------------------------------------------------------

all_kills() {
    # Not INT: the shell makes those it starts in the background ignore it; below nohup all ignore HUP, signal 1.
    signals='KILL TERM HUP'
    if grep -q '^SigIgn:.*[13579bdf]$' /proc/self/status; then signals='KILL TERM'; fi
    for signal in $signals; do
        start_endless
        kill_group "$signal"
        ended "SIG$signal of the process group"
    done

    start_endless
    [ $kind != sandbox ] || [ "$(echo "$family" | wc -w)" -ge 7 ] || fail "two sandboxes are only the processes $family"
    kill -9 "$pid"
    ended 'SIGKILL of the launcher'
    nobody_of_the_family 'SIGKILL of the launcher'

    start_endless
    if [ $kind = sandbox ]; then
        kill -9 "$(cat "$TMPDIR"/*/1/pid)"
    else
        [ "$(echo "$contexts" | wc -w)" -ge 2 ] || fail "the endless run has no two containers: $(cat "$work/transcript")"
        kill -9 "$(echo "$contexts" | head -n 1)"
        ended 'SIGKILL of the driver'
        start_endless
        kill -9 "$(echo "$contexts" | tail -n 1)"
    fi
    ended 'SIGKILL of a container'
    must_say 'a killed container' '"code":"partner_died"'
    nobody_of_the_family 'SIGKILL of a container'
}

# Nor any of the processes that bear no name of ours, as a sandbox's stubs; whoever adopted them may take its time to reap.
nobody_of_the_family() { within 60 family_is_gone || fail "$1 leaves $living"; }
family_is_gone() {
    living=$(ps -o pid=,stat=,args= -p "$(echo $family | tr ' ' ',')" | awk '$2 !~ /^Z/' || true)
    [ -z "$living" ]
}

# Killed before anything was set up, half-way through it, and after.
kills_at_any_moment() {
    case $kind in
        own) delays='0.001 0.002 0.003 0.004 0.005 0.007 0.010 0.015 0.020 0.030' ;;
        runtime) delays='0.002 0.005 0.010 0.020 0.030 0.050 0.070 0.100 0.150 0.300' ;;
        sandbox) delays='0.005 0.020 0.040 0.060 0.080 0.100 0.130 0.160 0.200 0.300 0.500 0.800' ;;
    esac
    for delay in $delays; do
        for experiment in $experiments; do
            for whom in group launcher; do
                many=1000000 some=contexts=2
                [ $kind != own ] || some=contexts=8
                [ "$experiment" != footprint ] || many=4000
                start batches=$many $some experiment="$experiment"
                sleep "$delay"
                if [ $whom = launcher ]; then kill -9 "$pid"; else kill_group; fi
                ended "SIGKILL of the $whom after $delay s of $experiment"
            done
        done
    done
    [ $kind = runtime ] || return 0
    # While the runtime has made a container and not started it yet, when its init waits on a fifo.
    for experiment in $experiments; do
        start batches=1000000 contexts=8 experiment="$experiment"
        for _ in $(seq 2000); do
            [ -z "$(find "$TMPDIR" -type p 2>/dev/null)" ] || break
        done
        kill_group
        ended "SIGKILL between making and starting of $experiment"
    done
}

# Killed together with its guardians: whoever starts next sweeps.
kills_of_guardians() {
    start_endless
    kill -9 $guardians "$pid"
    kill_group
    wait "$pid" 2>/dev/null || true
    within 60 no_processes || fail "SIGKILL of all leaves $(processes | tr '\n' ' ')"
    if is_clean; then fail 'nothing is left although the guardians were killed: the sweep is not tested'; fi
    expect ok 0 '"status":"ok"'
}

# ---- Beside others -------------------------------------------------------------------------------------------------------------------------------

# Groups whose lock a process of this family holds.
groups_locked_by() {
    groups switchcost- | while read -r group; do
        inode=$(stat -c %i "$group" 2>/dev/null) || continue
        for process in $1; do
            if grep -q "FLOCK .* $process [0-9a-f:]*:$inode " /proc/locks; then echo "$group"; fi
        done
    done | sort -u
}
are_swept() {
    expect ok 0 '"status":"ok"'
    for group in $1; do [ ! -e "$group" ] || return 1; done
}

# Nobody has the id of the first one; the second is exactly like a probe's, but for its mode. What a probe of another pid namespace makes and
# removes all the time must be there when it needs it, and goes when that one has been killed with everybody in there, its guardian too.
groups_of_others() {
    start_endless
    parent=$(dirname "$(groups "switchcost-$pid-" | head -n 1)")
    kill_group
    ended 'SIGKILL of the process group'
    random=$(mktemp -u XXXXXX)
    set -- "$parent/switchcost-4194999-results-$random" "$parent/switchcost-4194999-$random" "$parent/switchcost-4194999-$random-0"
    mkdir "$@"
    expect ok 0 '"status":"ok"'
    rmdir "$@" || fail 'groups of others were swept'

    can unshare -pf --mount-proc --kill-child || return 0
    : >"$work/other"
    unshare -pf --mount-proc --kill-child "$probe" run $(words batch_ns=1000000 batches=1000000 mechanism=container/pipe experiment=create) >"$work/other" 2>&1 &
    other=$!
    within 60 has_plan "$work/other" || fail "in a pid namespace: $(cat "$work/other")"
    locked=$(groups_locked_by "$(family_of $other)")
    [ -n "$locked" ] || fail 'the probe in a pid namespace holds no lock on a group'
    for _ in $(seq 20); do
        under '"status":"ok"' "$probe" run $(words batch_ns=20000 batches=3 mechanism=container/pipe)
    done
    if grep -q '^{"t":"end"' "$work/other"; then fail "in a pid namespace: $(tail -n 1 "$work/other")"; fi
    kill -9 $other
    wait $other 2>/dev/null || true
    within 2 are_swept "$locked" || fail "the next starts did not sweep $locked"
}

# ---- All of it -----------------------------------------------------------------------------------------------------------------------------------

finish() {
    [ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
    echo "ok: containers of $built, $1"
    exit
}

[ $kind = own ] || without_the_runtime
if [ $kind != own ]; then
    under '"t":"end"' "$probe" describe
    if ! said '"available":true'; then finish "not made: $(grep -o '"reason":"[^"]*"' "$work/transcript" | head -n 1)"; fi
    under '"status":"(ok|unsupported)"' "$probe" run $(words mechanism=$mechanism batches=3)
    if said '"status":"unsupported"'; then
        must_say "$mechanism" 'could not make container [12]: [^;]*[a-z].*; |did not start a sandbox'
        nothing_left 'a refusal'
        # crun refuses a hybrid of control groups versions 1 and 2: once more where only version 2 is in sight.
        if [ $kind = runtime ] && [ $failures = 0 ] && [ -z "${only_unified:-}" ] && as_root && can unshare -m; then
            last_line
            env -u TMPDIR only_unified=yes unshare -m sh -c 'mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' sh "$here/test.sh" "$built"
            exit
        fi
        finish "not made: $(last_line)"
    fi
fi
"all_${kind}_plans"
[ $kind = own ] || without_a_folder
[ $kind = sandbox ] || without_namespaces
all_limits
all_kills
kills_at_any_moment
if [ $kind = own ]; then
    as_somebody_else
    expect ok 0 '"status":"ok"'
    if said '"cgroups":2'; then
        expect ok 0 '"cgroups":2' cgroup=own cgroup_depth=2
        expect ok 0 '"throttled_periods":0' cpu_quota=200
        kills_of_guardians
        groups_of_others
    else
        echo 'no control group can be made here: their removal is not tested'
        expect unsupported 0 '' cgroup=own
    fi
    finish 'nothing left behind'
fi
[ $kind = sandbox ] || with_other_hierarchies
kills_of_guardians
. "$here/tests/shared-folder.sh"
shared_folder
finish 'nothing left behind'
