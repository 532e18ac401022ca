#!/bin/sh
# Builds the probe for Linux on another architecture, aarch64 or riscv64, and tests it under qemu-user. Correctness only: what an emulator times is the
# emulator, and neither the probe nor a figure of it is kept where the host could find it.
#   test-emulated.sh ARCHITECTURE [BUILD-FOLDER]
# Exit 0: passed; 1: failed; 3: not tested, for want of what is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
architecture=${1:?usage: test-emulated.sh ARCHITECTURE [BUILD-FOLDER]}
build=${2:-$here/../../target/cross/native-$architecture}
emulator=qemu-$architecture-static

for tool in cmake "$architecture-linux-gnu-g++" "$emulator"; do
    command -v "$tool" >/dev/null 2>&1 && continue
    echo "test-emulated: $tool is missing (Debian and Ubuntu: cmake g++-$architecture-linux-gnu qemu-user-static); the native probe is not tested on $architecture" >&2
    exit 3
done

generator=''
if command -v ninja >/dev/null 2>&1; then generator='-GNinja'; fi
mkdir -p "$build"
build=$(cd "$build" && pwd)
# With Boost if it can be had: Debian's archive has none for riscv64.
boost=OFF
set --
if [ "$architecture" = aarch64 ] && "$here/boost-aarch64.sh" "$build/boost"; then
    boost=ON
    set -- -DBoost_NO_BOOST_CMAKE=ON -DBoost_NO_SYSTEM_PATHS=ON -DBOOST_INCLUDEDIR="$build/boost/include" -DBOOST_LIBRARYDIR="$build/boost/lib"
else
    echo "test-emulated: stack/fcontext and fiber/boost are not tested on $architecture" >&2
fi
{
    cmake ${generator:+"$generator"} -S "$here" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$architecture" \
        -DCMAKE_C_COMPILER="$architecture-linux-gnu-gcc" -DCMAKE_CXX_COMPILER="$architecture-linux-gnu-g++" -DCMAKE_EXE_LINKER_FLAGS=-static \
        -DPROBE_WITH_BOOST=$boost "$@" && cmake --build "$build"
} >"$build/log" 2>&1 || { tail -n 30 "$build/log" >&2; exit 1; }

# Threads that yield move between CPUs, between whose counters an emulator keeps no order.
cpu=$(awk '/^Cpus_allowed_list/ { split($2, first, /[-,]/); print first[1] }' /proc/self/status)
cat >"$build/emulated" <<EOF
#!/bin/sh
case " \$* " in *' mechanism=thread/yield '*) exec taskset -c $cpu $emulator "$build/probe" "\$@" ;; esac
exec $emulator "$build/probe" "\$@"
EOF
chmod +x "$build/emulated"

# qemu-user has no clone3, seccomp, ptrace, io_uring or futex_waitv, and what an emulated program executes is not emulated unless the system knows how
# (binfmt_misc).
set -- 'mechanism=container/*' 'mechanism=sandbox/*' 'mechanism=thread/io-uring-*' mechanism=thread/futex-waitv by=posix_spawn by=fork-exec
[ "$boost" = ON ] || set -- "$@" mechanism=stack/fcontext mechanism=fiber/boost
"$here/test.sh" "$build/emulated" "$@"

"$here/test-registers.sh" "$architecture-linux-gnu-g++" "$architecture" "$emulator"

# What fork-exec would have started, by hand: it adds one to the first word behind the descriptor it is given.
rm -f "$build/word"
truncate -s 4096 "$build/word"
for _ in 1 2 3; do "$emulator" "$build/enter_once" 5 5<>"$build/word"; done
counted=$(od -An -N8 -tu8 "$build/word")
[ "$counted" -eq 3 ] || { echo "enter_once counted $counted of 3" >&2; exit 1; }
echo "ok: enter_once, $architecture"
