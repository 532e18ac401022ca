#!/bin/sh
# Are hops counted right from the changes of CPU that contexts note?
#   test-hops.sh [COMPILER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
compiler=${1:-c++}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"$compiler" -std=c++20 -O1 -Wall -Wextra -Werror -I"$here" "$here/tests/hops.cpp" "$here/kit/ring/hops.cpp" -o "$program"
"$program"
echo "ok: hops, $compiler"
