#!/bin/sh
# Builds the probe for aarch64 Linux and tests it under qemu-user. Correctness only: what an emulator times is the emulator, and neither the
# probe nor a figure of it is kept where the host could find it.
#   test-aarch64.sh [BUILD-FOLDER]
# Exit 0: passed; 1: failed; 3: not tested, for want of what is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../target/cross/native-aarch64}

for tool in cmake aarch64-linux-gnu-g++ qemu-aarch64-static; do
    command -v $tool >/dev/null 2>&1 && continue
    echo "test-aarch64: $tool is missing (Debian and Ubuntu: cmake g++-aarch64-linux-gnu qemu-user-static); the native probe is not tested on aarch64" >&2
    exit 3
done

generator=''
if command -v ninja >/dev/null 2>&1; then generator='-GNinja'; fi
mkdir -p "$build"
build=$(cd "$build" && pwd)
# With Boost if it can be had.
set -- -DPROBE_WITH_BOOST=OFF
if "$here/boost-aarch64.sh" "$build/boost"; then
    set -- -DPROBE_WITH_BOOST=ON -DBoost_NO_BOOST_CMAKE=ON -DBoost_NO_SYSTEM_PATHS=ON -DBOOST_INCLUDEDIR="$build/boost/include" -DBOOST_LIBRARYDIR="$build/boost/lib"
else
    echo 'test-aarch64: stack/fcontext and fiber/boost are not tested on aarch64' >&2
fi
{
    cmake ${generator:+"$generator"} -S "$here" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static \
        "$@" && cmake --build "$build"
} >"$build/log" 2>&1 || { tail -n 30 "$build/log" >&2; exit 1; }

cat >"$build/emulated" <<EOF
#!/bin/sh
exec qemu-aarch64-static "$build/probe" "\$@"
EOF
chmod +x "$build/emulated"

# qemu-user has no clone3, and what an emulated program executes is not emulated unless the system knows how (binfmt_misc).
"$here/test.sh" "$build/emulated" 'mechanism=container/*' by=posix_spawn by=fork-exec

"$here/test-registers.sh" aarch64-linux-gnu-g++ aarch64 qemu-aarch64-static

# What fork-exec would have started, by hand: it adds one to the first word behind the descriptor it is given.
rm -f "$build/word"
truncate -s 4096 "$build/word"
for _ in 1 2 3; do qemu-aarch64-static "$build/enter_once" 5 5<>"$build/word"; done
counted=$(od -An -N8 -tu8 "$build/word")
[ "$counted" -eq 3 ] || { echo "enter_once counted $counted of 3" >&2; exit 1; }
echo 'ok: enter_once, aarch64'
