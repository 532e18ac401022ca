#!/bin/sh
# Holds the footprint of virtual machines against a second method: what the kernel charges to a control group of their own. Pages that the
# CPUs keep at hand, or that others take, do not show in that.
#
#   tests/memory-of-machines.sh PROBE      some seconds; exit status 0: they agree, 1: they do not, 77: something to compare with is missing
set -eu

probe=$1
machines=300
skip() { echo "memory-of-machines: $1" >&2; exit 77; }
[ -w /dev/kvm ] || skip 'no /dev/kvm to write to'
root=/sys/fs/cgroup/memory
[ -e $root/memory.kmem.usage_in_bytes ] || skip 'no memory controller of version 1 counts the kernel memory of a group'
# A name as probes use, so that the next probe that makes containers sweeps it should this be killed.
group=$root/switchcost-$$-1-0
mkdir "$group" 2>/dev/null || skip "no right to make $group"

pid=''
report=$(mktemp)
clean() {
    if [ -n "$pid" ]; then
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    rm -f "$report"
    # What machines leave is taken away some time after their end.
    for _ in 1 2 3 4 5 6 7 8 9 10; do rmdir "$group" 2>/dev/null && break; sleep 0.1; done
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

words=$("$probe" describe | "$(dirname "$0")/../../words" mechanism=vm/exit experiment=footprint contexts=$machines batches=3 warmup_batches=1)
# The shell enters the group and becomes the probe.
# shellcheck disable=SC2086 # words
sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" "$probe" run $words >"$report" &
pid=$!
most=0
while kill -0 "$pid" 2>/dev/null; do
    read -r now <"$group/memory.kmem.usage_in_bytes"
    if [ "$now" -gt "$most" ]; then most=$now; fi
    sleep 0.005
done
wait "$pid" || true
pid=''
case $(tail -n 1 "$report") in
    *'"status":"ok"'*) ;;
    *'"status":"unsupported"'*) skip "$(tail -n 1 "$report")" ;;
    *) tail -n 1 "$report" >&2; exit 1 ;;
esac
# The median: others take memory of the kernel now and then.
told=$(sed -n 's/.*"phase":"measure".*"ticks":\[\([0-9,-]*\)\].*"kernel_bytes".*/\1/p' "$report" | tr , '\n' | sort -n | sed -n 2p)
echo "memory-of-machines: $machines machines hold $told bytes of the kernel's memory; charged to their group $most"
# The group is looked at now and then, and misses what is charged to nobody.
if [ "$((told * 6))" -lt "$((most * 5))" ] || [ "$((told * 6))" -gt "$((most * 7))" ]; then
    echo 'memory-of-machines: the two differ by more than a sixth' >&2
    exit 1
fi
