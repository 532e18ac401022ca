#!/bin/sh
# Fetches the arm64 libraries of Boost.Context and Boost.Fiber from this Debian's own archive, in the version whose headers are installed here,
# and unpacks them: nothing of the system changes. Some seconds and 30 MB, once.
#   boost-aarch64.sh FOLDER        afterwards FOLDER/include/boost and FOLDER/lib/*.a are there
# Exit 0: they are; 3: they cannot be had, and why.
set -eu
mkdir -p "${1:?usage: boost-aarch64.sh FOLDER}"
folder=$(cd "$1" && pwd)
if [ -e "$folder/lib/libboost_fiber.a" ] && [ -e "$folder/include/boost/version.hpp" ]; then exit 0; fi

refuse() {
    echo "boost-aarch64: $1" >&2
    exit 3
}
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg >/dev/null 2>&1; then refuse "no apt-get and dpkg here"; fi
version=$(sed -n 's/^#define BOOST_LIB_VERSION "\([0-9]*\)_\([0-9]*\).*/\1.\2/p' /usr/include/boost/version.hpp 2>/dev/null) || true
[ -n "$version" ] || refuse 'no headers of Boost in /usr/include; install libboost-fiber-dev'

fetched=$folder/fetched
rm -rf "$fetched"
mkdir -p "$fetched/lists/partial" "$fetched/cache/archives/partial" "$fetched/packages"
# Lists of its own, so that the system goes on knowing its own architecture only.
archive() {
    (cd "$fetched/packages" && apt-get -qq -o Acquire::Retries=2 -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State::Lists="$fetched/lists" -o Dir::Cache="$fetched/cache" -o Dir::State::status=/dev/null \
        -o APT::Sandbox::User="$(id -un)" "$@") >"$fetched/log" 2>&1 </dev/null
}
archive update || true  # a part of the lists may be all that is needed
archive download "libboost-context$version-dev" "libboost-fiber$version-dev" || refuse "Boost $version for arm64 is not to be had: $(tail -n 1 "$fetched/log")"
for package in "$fetched"/packages/*.deb; do dpkg -x "$package" "$fetched/unpacked"; done

# The headers are the same for every architecture. A folder that holds nothing else, because /usr/include also has this machine's C library.
mkdir -p "$folder/include" "$folder/lib"
ln -sfn /usr/include/boost "$folder/include/boost"
cp "$fetched"/unpacked/usr/lib/aarch64-linux-gnu/libboost_*.a "$folder/lib/"
rm -rf "$fetched"
