# Sourced by ../test.sh, which says what is tested: `built` is the probe, `kind` says whose containers it makes. Set-up, clean-up and counting stand
# here once.
# shellcheck shell=sh disable=SC2034,SC2086,SC2154,SC2317

# ---- Set-up, clean-up, counting ------------------------------------------------------------------------------------------------------------------

work=$(mktemp -d)
probe=$work/bin/probe # under a path of its own, by which its processes are known
export TMPDIR="$work/tmp"
mkdir "$work/bin" "$TMPDIR"
mkdir -m 1777 "$work/open"
chmod 711 "$work"
chmod 755 "$work/bin"
cp "$built" "$work/bin"
[ $kind = own ] || cp "$(dirname "$built")/inside" "$work/bin"
: >"$work/names"
: >"$work/transcript"
"$probe" describe >"$work/list"
# words WORD... : all words of a plan, of which some are given, in one line
words() { "$here/../words" "$@" <"$work/list" | tr '\n' ' '; }

as_root() { [ "$(id -u)" = 0 ]; }
can() { "$@" true 2>/dev/null; }
as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# Processes whose arguments name the test's folder: probes, and runtimes, which get their state there.
processes() { ps -eo pid=,stat=,args= | awk -v folder="$work/" '$2 !~ /^Z/ && index($0, folder) && $3 != "awk" { print $1 }'; }

# The control groups with a name that begins like one of the given.
groups() {
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/self/mounts | while read -r mount; do
        for name; do find "$mount" -type d -name "$name*" 2>/dev/null || true; done
    done
}

# Folders are named at random, and a runtime may call groups after them.
remember_folders() { (cd "$TMPDIR" && ls -d switchcost-oci-?????? 2>/dev/null >>"$work/names") || true; }

left() {
    ls "$TMPDIR"
    processes
    # shellcheck disable=SC2046
    groups $(sort -u "$work/names")
    grep -F "$work/" /proc/self/mounts || true
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

# within SECONDS COMMAND... : true as soon as the command is. However busy the machine, that is long enough.
within() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        [ $tries -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 0.05
    done
}

is_clean() { [ -z "$(left)" ]; }

nothing_left() {
    within 60 is_clean || fail "$1 leaves $(left | tr '\n' ' ')"
    : >"$work/names"
}

# ---- Starting and looking ------------------------------------------------------------------------------------------------------------------------

# start WORD... begins a run in a process group of its own, as the host does.
start() {
    : >"$work/transcript" # the shell behind & may empty it later than the caller looks
    plan=$(words "mechanism=$mechanism" "$@") # before the start, which others time
    setsid "$probe" run $plan >"$work/transcript" 2>"$work/stderr" &
    pid=$!
    echo "switchcost-$pid-" >>"$work/names"
}

is_over() {
    remember_folders
    ! kill -0 "$pid" 2>/dev/null
}

last_line() { tail -n 1 "$work/transcript"; }
said() { grep -qE "$1" "$work/transcript"; }
must_say() { said "$2" || fail "$1 does not say $2: $(cat "$work/transcript" "$work/stderr")"; }

short_batch=20000
[ $kind != sandbox ] || short_batch=1000000

# expect STATUS EXIT_STATUS PATTERN KEY=VALUE... carries out a short run.
expect() {
    status=$1 exit_status=$2 pattern=$3
    shift 3
    start batch_ns=$short_batch batches=3 warmup_batches=1 "$@"
    while ! is_over; do sleep 0.02; done
    code=0
    wait "$pid" || code=$?
    [ "$code" = "$exit_status" ] || fail "$mechanism $* exits with $code, not $exit_status"
    last_line | grep -q "^{\"t\":\"end\",\"status\":\"$status\"" || fail "$mechanism $* ends with $(last_line)"
    must_say "$mechanism $*" "$pattern"
    [ ! -s "$work/stderr" ] || fail "$mechanism $* prints: $(cat "$work/stderr")"
    [ $kind != own ] || is_clean || fail "$mechanism $* leaves something at its own end: $(left)"
    nothing_left "$mechanism $*"
}

# under PATTERN COMMAND... : the command ends by itself with status 0, and its last line has PATTERN.
under() {
    pattern=$1
    shift
    code=0
    timeout 120 "$@" >"$work/transcript" 2>"$work/stderr" || code=$?
    [ "$code" = 0 ] || fail "$*: exit status $code: $(last_line) $(cat "$work/stderr")"
    last_line | grep -qE "$pattern" || fail "$*: $(last_line)"
    # A crash of the runtime must not become the reason.
    if said '0x[0-9a-f]|goroutine'; then fail "$*: a crash is the reason: $(last_line)"; fi
}

no_processes() { [ -z "$(processes)" ]; }

has_plan() { grep -q '^{"t":"plan"' "${1:-$work/transcript}"; }
# Of the probe itself: a runtime's are not among them.
probes_of() { ps -eo pid=,ppid=,pgid=,args= | awk -v parent="$1" -v probe="$probe" '$2 == parent && $4 == probe { print $1, $3 }' | sort -n; }
family_of() {
    ps -eo pid=,ppid= | awk -v parent="$1" '$2 == parent { print $1 }' | while read -r child; do
        echo "$child"
        family_of "$child"
    done
}

# A run that goes on until it is ended. Sets guardians, of groups and folder, and contexts, the driver first: a sandbox's has none outside.
start_endless() {
    start batch_ns=1000000 batches=1000000
    within 60 has_plan || fail "the endless run has no plan: $(cat "$work/transcript" "$work/stderr")"
    remember_folders
    guardians=$(probes_of "$pid" | awk '$1 == $2 { print $1 }')
    contexts=$(probes_of "$pid" | awk '$1 != $2 { print $1 }')
    family=$(family_of "$pid")
}

kill_group() { kill -s "${1:-KILL}" -- "-$pid" 2>/dev/null || kill -9 "$pid" 2>/dev/null || true; }

# ended WHAT : waits for the end of what start() began and looks round.
ended() {
    remember_folders
    wait "$pid" 2>/dev/null || true
    nothing_left "$1"
}
