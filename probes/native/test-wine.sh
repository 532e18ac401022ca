#!/bin/sh
# The probe for Windows under wine: every plan that it has, and what happens where wine or its prefix is not as it should be.
#   test-wine.sh FOLDER/OF/THE/STAGED/PROBE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "${1:?usage: test-wine.sh FOLDER/OF/THE/STAGED/PROBE}" && pwd)
probe=$folder/probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"

"$here/test.sh" "$probe"

fail() {
    echo "FAILED: $1" >&2
    exit 1
}
"$probe" describe >"$work/list"
# words WORD... : all words of a plan, of which some are given
words() { "$here/../words" mechanism=stack/winfiber batch_ns=20000 "$@" <"$work/list"; }
plan="run $(words)"
endless="run $(words batches=1000000)"
# within SECONDS COMMAND... : true as soon as the command is, false if it is not by then
within() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        [ $tries -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 0.05
    done
}
nothing_left() { [ -z "$(ls "$TMPDIR")" ]; }
# answers WHAT PATTERN COMMAND... : the transcript has PATTERN
answers() {
    what=$1 pattern=$2
    shift 2
    "$@" >"$work/transcript" 2>"$work/stderr" || true
    grep -q "$pattern" "$work/transcript" || fail "$what: $(cat "$work/transcript" "$work/stderr")"
}

# start_endless : in a group of its own, as the host does
start_endless() {
    : >"$work/transcript" # the shell behind & may empty it later than we look
    # shellcheck disable=SC2086
    setsid "$probe" $endless >"$work/transcript" 2>&1 &
    group=$!
    within 20 grep -q '"plan"' "$work/transcript" || fail "no plan: $(cat "$work/transcript")"
}

# Word splitting is wanted: a plan is several words.
# shellcheck disable=SC2046,SC2086
{
    answers 'the kernel below wine counts our switches' '"kernel":{"voluntary":[0-9]*,"involuntary":[0-9]*,"tasks":1' "$probe" $plan
    answers 'the row says whose implementation it is' '"note","text":"wine [0-9.]*.s implementation' "$probe" $plan
    for float_switch in on off; do
        answers "float_switch=$float_switch" '"end","status":"ok"' "$probe" run $(words float_switch=$float_switch)
    done
    answers 'a prefix of somebody else is not touched' '"end","status":"ok"' env WINEPREFIX="$work/nowhere" "$probe" $plan
    [ ! -e "$work/nowhere" ] || fail 'a prefix was made'
    mkdir "$work/broken"
    echo 'no registry' >"$work/broken/system.reg"
    answers 'a broken prefix is not used' '"end","status":"ok"' env WINEPREFIX="$work/broken" "$probe" $plan
    answers 'wine is missing' '"unsupported".*"missing_library".*which is not a program.*install wine' env SWITCHCOST_WINE=/nowhere/wine "$probe" $plan
    answers 'wine is missing, list' '"available":false,"code":"missing_library"' env SWITCHCOST_WINE=/nowhere/wine "$probe" describe
    answers 'wine is broken' '"missing_library".*ntdll.dll was not found in /nowhere' env SWITCHCOST_WINE_LIBRARIES=/nowhere "$probe" $plan
    answers 'no room' '"set_up_failed".*/nowhere.*set TMPDIR' env TMPDIR=/nowhere "$probe" $plan

    # Several at once, each in a world of its own.
    for run in 1 2 3; do "$probe" $plan >"$work/run$run" & done
    wait
    for run in 1 2 3; do grep -q '"end","status":"ok"' "$work/run$run" || fail "side by side: $(cat "$work/run$run")"; done

    # Killed as the host kills, the whole group at once: the prefix goes all the same.
    start_endless
    kill -KILL "-$group"
    wait "$group" 2>/dev/null || true
    within 5 nothing_left || fail "left behind: $(ls "$TMPDIR")"

    # While it starts, at any moment: a guardian is there before the prefix is. Three kills of 480 left an empty one, which goes with the next start.
    for wait in 0 0.005 0.01 0.015 0.02 0.025 0.03 0.035 0.04 0.045 0.05 0.06 0.08; do
        setsid "$probe" $endless >"$work/transcript" 2>&1 &
        group=$!
        sleep $wait
        kill -KILL "-$group" 2>/dev/null || kill -KILL "$group"
        wait "$group" 2>/dev/null || true
        within 5 nothing_left && continue
        touch -d '1 hour ago' "$TMPDIR"/switchcost-wine-*
        answers "after one that was killed after $wait s" '"end","status":"ok"' "$probe" $plan
        within 5 nothing_left || fail "killed after $wait s, left behind: $(ls "$TMPDIR")"
    done

    # Without its guardian it removes the prefix itself.
    start_endless
    kill -KILL "$(pgrep -f "guardian $TMPDIR/switchcost-wine-" | head -n 1)"
    pkill -KILL -g "$group" -f 'probe[.]exe'
    wait "$group" 2>/dev/null || true
    within 5 nothing_left || fail "the guardian was killed, left behind: $(ls "$TMPDIR")"

    # Killed together with the guardian: the next start sweeps, if nobody is in there and it is not just being made.
    start_endless
    touch -d '1 hour ago' "$TMPDIR"/switchcost-wine-*
    answers 'beside another' '"end","status":"ok"' "$probe" $plan
    [ -p "$(echo "$TMPDIR"/switchcost-wine-*/alive)" ] || fail 'the prefix of a living probe was swept'
    sockets=$(readlink "$TMPDIR"/switchcost-wine-*/sockets || true)
    # shellcheck disable=SC2046  # while a guardian starts there are two processes of its name
    kill -KILL $(pgrep -f "guardian $TMPDIR/switchcost-wine-")
    kill -KILL "-$group"
    wait "$group" 2>/dev/null || true
    touch "$TMPDIR"/switchcost-wine-*
    answers 'just made, perhaps' '"end","status":"ok"' "$probe" $plan
    if nothing_left; then fail 'nothing is left although the guardian was killed: the sweep is not tested'; fi
    # Beside it folders of the user's, of which only the name looks like a prefix.
    mkdir -m 700 "$TMPDIR/switchcost-wine-cellar00" "$TMPDIR/switchcost-wine-list"
    touch -d '1 hour ago' "$TMPDIR"/switchcost-wine-*
    answers 'after a killed one' '"end","status":"ok"' "$probe" $plan
    rmdir "$TMPDIR/switchcost-wine-cellar00" "$TMPDIR/switchcost-wine-list" || fail "a folder of the user's was swept"
    [ ! -e "$sockets" ] || fail "$sockets is left"
}
within 5 nothing_left || fail "left behind: $(ls "$TMPDIR")"
echo "ok: wine, $probe"
