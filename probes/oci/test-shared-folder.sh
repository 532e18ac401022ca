#!/bin/sh
# A folder for temporary files that others write to, too, as /tmp: what they make there is neither used nor followed nor removed.
#   test-shared-folder.sh PATH/TO/probe MECHANISM RUNS
set -eu
probe=$(realpath "${1:?usage: test-shared-folder.sh PATH/TO/probe MECHANISM RUNS}")
mechanism=${2:?}
runs=${3:?}
work=$(mktemp -d)
attacker=''
other=''
clean_up() {
    touch "$work/stop"
    for started in $attacker $other; do
        kill "$started" 2>/dev/null || true
        wait "$started" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
chmod 711 "$work"
export TMPDIR="$work/tmp"
mkdir -m 1777 "$TMPDIR"
failures=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

short_run() {
    "$probe" run "mechanism=$mechanism" batch_ns=20000 batches=3 >"$work/transcript" 2>&1 || true
    tail -n 1 "$work/transcript" | grep -q '"status":"ok"' || fail "$1: $(tail -n 1 "$work/transcript")"
}

# What is in folders, contents included.
picture() {
    find "$@" -printf '%p %y %m %u %l\n' | sort
    find "$@" -type f -exec cksum {} + | sort
}

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
before=$(picture "$TMPDIR" "$work/victim" | grep -v /switchcost-oci-dead00)
short_run 'beside folders of others'
after=$(picture "$TMPDIR" "$work/victim")
[ "$before" = "$after" ] || fail "folders of others are changed:
$(printf '%s\n' "$before" >"$work/before"; printf '%s\n' "$after" | diff "$work/before" - || true)"

# Nobody may enter what was mounted in the folder of a dead probe.
mkdir -m 700 "$TMPDIR/switchcost-oci-mount0"
mkdir "$TMPDIR/switchcost-oci-mount0/below"
touch "$TMPDIR/switchcost-oci-mount0/lock"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$work/victim" "$TMPDIR/switchcost-oci-mount0/below" \
        "$probe" run "mechanism=$mechanism" batches=3 >"$work/transcript" 2>&1 || fail "with a mount: exit status $?"
    [ -e "$work/victim/data" ] || fail 'the sweep crosses a mount point'
    [ -e "$TMPDIR/switchcost-oci-mount0/lock" ] || fail 'what could not be removed has lost its lock'
fi
short_run 'after the mount'
[ ! -e "$TMPDIR/switchcost-oci-mount0" ] || fail 'a folder that was once mounted to is never swept'

# A probe in another pid namespace, of which only its lock tells that it lives.
if unshare -pf --mount-proc --kill-child true 2>/dev/null; then
    experiment=create
    [ "$mechanism" = container/pipe ] || experiment=switch
    : >"$work/other"  # the shell behind & may make it later than the loop looks
    unshare -pf --mount-proc --kill-child "$probe" run "mechanism=$mechanism" experiment=$experiment batch_ns=50000000 batches=40 >"$work/other" 2>&1 &
    other=$!
    for _ in $(seq 200); do
        ! grep -q '^{"t":"plan"' "$work/other" || break
        sleep 0.1
    done
    kept=$(find "$TMPDIR" -maxdepth 1 -name 'switchcost-oci-??????' -newer "$work/transcript" -user "$(id -u)" -perm 700)
    [ -n "$kept" ] || fail 'the probe in a pid namespace has no folder'
    for _ in 1 2 3; do short_run 'beside a pid namespace'; done
    for folder in $kept; do [ -d "$folder" ] || fail "the folder of a living probe was swept: $folder"; done
    wait "$other" || fail "in a pid namespace: exit status $?"
    other=''
    tail -n 1 "$work/other" | grep -q '"status":"ok"' || fail "in a pid namespace: $(tail -n 1 "$work/other")"
else
    echo 'no pid namespace can be made here: a probe in another one is not tested'
fi

# Where everybody may replace what others make, nothing is made.
mkdir -m 777 "$work/open"
TMPDIR="$work/open" "$probe" run "mechanism=$mechanism" >"$work/transcript" 2>&1 || true
grep -q '"status":"unsupported".*everybody may replace' "$work/transcript" || fail "without a sticky bit: $(tail -n 1 "$work/transcript")"

# Somebody else is there first: under the name that can be told from the process (once ours), and at whatever appears.
as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
python=''
for candidate in python3 /usr/bin/python3; do  # the first in PATH may lie where nobody gets at it
    if [ "$(id -u)" = 0 ] && $as_nobody "$candidate" -c '' 2>/dev/null; then python=$candidate; fi
done
if [ -n "$python" ]; then
    mkdir -m 755 "$work/victims"
    # shellcheck disable=SC2016
    sh -c 'kill -STOP $$; exec "$@"' sh "$probe" run "mechanism=$mechanism" batches=3 >"$work/transcript" 2>&1 &
    other=$!
    for _ in $(seq 100); do
        case $(cut -d ' ' -f 3 "/proc/$other/stat") in T) break ;; esac
        sleep 0.05
    done
    predicted="$TMPDIR/switchcost-$other-$(cut -d ' ' -f 22 "/proc/$other/stat")-oci"
    # shellcheck disable=SC2016
    $as_nobody sh -c 'umask 0; mkdir "$1" "$1/0" && ln -s "$2" "$1/root" && echo theirs >"$1/0/config.json"' sh "$predicted" "$work/victims"
    before=$(picture "$predicted" "$work/victims")
    kill -CONT "$other"
    wait "$other" || fail "beside a folder of nobody's: exit status $?"
    other=''
    tail -n 1 "$work/transcript" | grep -q '"status":"ok"' || fail "beside a folder of nobody's: $(tail -n 1 "$work/transcript")"
    [ "$before" = "$(picture "$predicted" "$work/victims" 2>&1)" ] || fail "a folder of nobody's is used: $(picture "$predicted" "$work/victims" 2>&1)"

    cat >"$work/attack.py" <<'END'
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


while not os.path.exists(stop):
    for name in set(os.listdir(top)) - theirs:
        folder = os.path.join(top, name)
        seen.add(name)
        attempt("link to the root", os.symlink, victims, folder + "/root")
        attempt("folder of a bundle", os.mkdir, folder + "/0")
        attempt("lock of its own", os.mkfifo, folder + "/lock")
        attempt("lock", lambda: fcntl.flock(os.open(folder + "/lock", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB))
        attempt("another name", os.rename, folder, folder + "-taken")
        attempt("removal", os.rmdir, folder)
print(len(seen), *won, sep=", ")
END
    $as_nobody "$python" "$work/attack.py" "$TMPDIR" "$work/victims" "$work/stop" >"$work/won" 2>&1 &
    attacker=$!
    sleep 0.3
    for _ in $(seq "$runs"); do short_run 'under attack'; done
    touch "$work/stop"
    wait "$attacker" || true
    attacker=''
    grep -qE '^[1-9][0-9]*$' "$work/won" || fail "the attacker saw (and won): $(cat "$work/won")"
    [ -z "$(ls "$work/victims")" ] || fail "a link was followed: $(ls "$work/victims")"
else
    echo 'not root, or no setpriv or Python here: an attack of another user is not tested'
fi

[ "$failures" = 0 ] || { echo "$failures failures in a shared folder"; exit 1; }
