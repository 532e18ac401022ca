# Sourced by ../test.sh. A folder for temporary files that others write to as well, as /tmp: what they make there is neither used nor followed nor
# removed.
# shellcheck shell=sh disable=SC2034,SC2046,SC2086,SC2154,SC2317

short_run() {
    "$probe" run $(words "mechanism=$mechanism" batch_ns=20000 batches=3) >"$work/transcript" 2>&1 || true
    last_line | grep -q '"status":"ok"' || fail "$1: $(last_line)"
}

# What is in folders, contents included.
picture() {
    find "$@" -printf '%p %y %m %u %l\n' | sort
    find "$@" -type f -exec cksum {} + | sort
}

shared_folder() {
    TMPDIR=$work/shared
    mkdir -m 1777 "$TMPDIR"
    folders_of_others
    folder_with_a_mount
    probe_of_another_pid_namespace
    if as_root && find_python; then
        folder_that_was_there_first
        attack
    else
        echo 'not root, or no setpriv or Python here: an attack of another user is not tested'
    fi
}

folders_of_others() {
    # Everybody's own folders: names that only look like a probe's, and some that are exactly like it but have no such lock file.
    for name in switchcost-2024-results switchcost-2024-12-oci switchcost-oci-results switchcost-oci-longer switchcost-oci-ABC123; do
        mkdir -m 700 "$TMPDIR/$name"
        echo 'three weeks of work' >"$TMPDIR/$name/data.csv"
        mkfifo "$TMPDIR/$name/fifo"
    done
    touch "$TMPDIR/switchcost-oci-results/lock" "$TMPDIR/switchcost-2024-results/lock"
    mkfifo "$TMPDIR/switchcost-oci-ABC123/lock"
    mkdir -m 755 "$TMPDIR/switchcost-oci-open00"
    touch "$TMPDIR/switchcost-oci-open00/lock"
    # Where links lead: a folder that is as a dead probe's in all but its name.
    mkdir -m 700 "$work/victim"
    touch "$work/victim/lock" "$work/victim/data"
    ln -s "$work/victim" "$TMPDIR/switchcost-oci-linked"
    # One of a dead probe goes, and no link in it is followed.
    mkdir -m 700 "$TMPDIR/switchcost-oci-dead00"
    touch "$TMPDIR/switchcost-oci-dead00/lock"
    mkfifo "$TMPDIR/switchcost-oci-dead00/fifo"
    ln -s "$work/victim" "$TMPDIR/switchcost-oci-dead00/below"
    picture "$TMPDIR" "$work/victim" | grep -v /switchcost-oci-dead00 >"$work/before"
    short_run 'beside folders of others'
    picture "$TMPDIR" "$work/victim" | diff "$work/before" - >"$work/changes" || fail "folders of others are changed: $(cat "$work/changes")"
}

# Nobody may enter what was mounted in the folder of a dead probe.
folder_with_a_mount() {
    folder=$TMPDIR/switchcost-oci-mount0
    mkdir -m 700 "$folder"
    mkdir "$folder/below"
    touch "$folder/lock"
    if as_root && can unshare -m; then
        # shellcheck disable=SC2016
        under '"status":"ok"' unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$work/victim" "$folder/below" \
            "$probe" run $(words "mechanism=$mechanism" batches=3)
        [ -e "$work/victim/data" ] || fail 'the sweep crosses a mount point'
        [ -e "$folder/lock" ] || fail 'what could not be removed has lost its lock'
    fi
    short_run 'after the mount'
    [ ! -e "$folder" ] || fail 'a folder that was once mounted to is never swept'
}

# Of a probe in another pid namespace only its lock says that it lives.
probe_of_another_pid_namespace() {
    can unshare -pf --mount-proc --kill-child || { echo 'no pid namespace can be made here: a probe in another one is not tested'; return 0; }
    ls "$TMPDIR" >"$work/before"
    : >"$work/other" # the shell behind & may make it later than the loop looks
    unshare -pf --mount-proc --kill-child "$probe" run $(words "mechanism=$mechanism" batch_ns=1000000 batches=1000000) >"$work/other" 2>&1 &
    other=$!
    within 60 has_plan "$work/other" || fail "in a pid namespace: $(cat "$work/other")"
    kept=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vxFf "$work/before" || true)
    [ -n "$kept" ] || fail 'the probe in a pid namespace has no folder'
    for _ in 1 2 3; do short_run 'beside a pid namespace'; done
    for folder in $kept; do [ -d "$TMPDIR/$folder" ] || fail "the folder of a living probe was swept: $folder"; done
    if grep -q '^{"t":"end"' "$work/other"; then fail "in a pid namespace: $(tail -n 1 "$work/other")"; fi
    kill -9 $other
    wait $other 2>/dev/null || true
    within 60 no_processes || fail "a killed pid namespace leaves $(processes | tr '\n' ' ')"
    short_run 'after a killed pid namespace'
    for folder in $kept; do [ ! -e "$TMPDIR/$folder" ] || fail "a dead probe's folder was not swept: $folder"; done
}

# The first in PATH may lie where nobody gets at it.
find_python() {
    for python in python3 /usr/bin/python3; do
        if $as_nobody "$python" -c '' 2>/dev/null; then return 0; fi
    done
    return 1
}

is_stopped() { case $(cut -d ' ' -f 3 "/proc/$other/stat") in T) ;; *) return 1 ;; esac; }

# Somebody else's, under the name that follows from the process (once ours).
folder_that_was_there_first() {
    mkdir -m 755 "$work/victims"
    # shellcheck disable=SC2016
    sh -c 'kill -STOP $$; exec "$@"' sh "$probe" run $(words "mechanism=$mechanism" batches=3) >"$work/transcript" 2>&1 &
    other=$!
    within 60 is_stopped || fail 'a shell does not stop'
    predicted="$TMPDIR/switchcost-$other-$(cut -d ' ' -f 22 "/proc/$other/stat")-oci"
    # shellcheck disable=SC2016
    $as_nobody sh -c 'umask 0; mkdir "$1" "$1/0" && ln -s "$2" "$1/root" && echo theirs >"$1/0/config.json"' sh "$predicted" "$work/victims"
    before=$(picture "$predicted" "$work/victims")
    kill -CONT "$other"
    wait "$other" || fail "beside a folder of nobody's: exit status $?"
    last_line | grep -q '"status":"ok"' || fail "beside a folder of nobody's: $(last_line)"
    [ "$before" = "$(picture "$predicted" "$work/victims" 2>&1)" ] || fail "a folder of nobody's is used: $(picture "$predicted" "$work/victims" 2>&1)"
}

# Another user tries at whatever appears.
attack() {
    cat >"$work/attack.py" <<'END_OF_ATTACK'
import fcntl, os, sys

top, victims, stop = sys.argv[1:]
theirs = set(os.listdir(top))
seen, won = set(), set()


def attempt(what, action, *arguments):
    try:
        action(*arguments)
        won.add(what)
    except OSError:
        pass


print("begins", flush=True)
while not os.path.exists(stop):
    for name in set(os.listdir(top)) - theirs:
        folder = os.path.join(top, name)
        if not seen:
            print("sees", flush=True)
        seen.add(name)
        attempt("link to the root", os.symlink, victims, folder + "/root")
        attempt("folder of a bundle", os.mkdir, folder + "/0")
        attempt("lock of its own", os.mkfifo, folder + "/lock")
        attempt("lock", lambda: fcntl.flock(os.open(folder + "/lock", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB))
        attempt("another name", os.rename, folder, folder + "-taken")
        attempt("removal", os.rmdir, folder)
print("won:", *won)
END_OF_ATTACK
    runs=20
    [ $kind != sandbox ] || runs=4
    $as_nobody "$python" "$work/attack.py" "$TMPDIR" "$work/victims" "$work/stop" >"$work/won" 2>&1 &
    attacker=$!
    within 60 grep -q begins "$work/won" || fail "no attack: $(cat "$work/won")"
    for run in $(seq 200); do
        # On a busy machine the attacker may be late.
        if [ "$run" -gt $runs ] && grep -q sees "$work/won"; then break; fi
        short_run 'under attack'
    done
    touch "$work/stop"
    wait $attacker || true
    [ "$(tr '\n' ' ' <"$work/won")" = 'begins sees won: ' ] || fail "the attacker saw and won: $(cat "$work/won")"
    [ -z "$(ls "$work/victims")" ] || fail "a link was followed: $(ls "$work/victims")"
}
