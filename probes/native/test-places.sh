#!/bin/sh
# Do contexts on the heap lie where the seed says, and else where they always do?
#   test-places.sh [COMPILER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
compiler=${1:-c++}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"$compiler" -std=c++20 -O1 -Wall -Wextra -Werror -I"$here" "$here/tests/places.cpp" -o "$program"

# places VALUE EXPERIMENT : how many there are of eight seeds
places() { for seed in 1 2 3 4 5 6 7 8; do "$program" $seed "$1" "$2"; done | sort -u | wc -l; }

[ "$(places drawn switch)" -gt 4 ] || { echo "drawn: $(places drawn switch) places" >&2; exit 1; }
[ "$(places fixed switch) $(places drawn create)" = '1 1' ] || { echo "fixed: $(places fixed switch) places" >&2; exit 1; }
echo "ok: places, $compiler"
