#!/bin/sh
# Are hops counted right from the changes of CPU that contexts note, and are drawn times what they should be?
#   test-hops.sh [COMPILER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
compiler=${1:-c++}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
build() { "$compiler" -std=c++20 -O1 -Wall -Wextra -Werror -I"$here" "$@" -o "$program"; }
build "$here/tests/hops.cpp" "$here/kit/ring/hops.cpp"
"$program"
build "$here/tests/times.cpp"
"$program"
echo "ok: hops and drawn times, $compiler"
