#!/bin/sh
# Do the preserved registers survive stack/asm's switch?
#   test-registers.sh [COMPILER [ARCHITECTURE [EMULATOR]]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
compiler=${1:-c++}
architecture=${2:-$(uname -m)}
emulator=${3:-}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"$compiler" -std=c++20 -O2 -Wall -Wextra -Werror -static -I"$here" "$here/tests/preserved_registers.cpp" "$here"/asm/stack_switch_"$architecture"_*.S -o "$program"
$emulator "$program"
echo "ok: preserved registers, $architecture, $compiler"
