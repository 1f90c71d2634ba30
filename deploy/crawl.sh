#!/bin/bash
# Builds a release and fetches a list of URLs with it. `make crawl` calls this.
#
#   deploy/crawl.sh OUT [LIST [ARG...]]
#
# LIST: one URL a line. Without one (or with '') a small sample site is served on a free loopback port and fetched from there.
# Further arguments go to `trawl get`. The exit status is that of `trawl get`.
set -euo pipefail

if (($# < 1)); then
    sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
out=$1
list=${2-}
shift $(($# > 1 ? 2 : 1))

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
swift=${SWIFT:-swift}
bin=$root/.build/release
say() { printf 'crawl: %s\n' "$*" >&2; }

if [[ -n $list && ! -r $list ]]; then
    say "cannot read $list"
    exit 2
fi

build() {
    local log=$root/.build/crawl-build.log product
    mkdir -p "$root/.build"
    say 'building a release (the first time takes some minutes)'
    : >"$log"
    for product in "$@"; do
        if ! "$swift" build --package-path "$root" -c release --static-swift-stdlib --product "$product" \
            </dev/null >>"$log" 2>&1; then
            tail -n 40 "$log" >&2
            say "the build of $product failed; all of its output is in $log"
            exit 70
        fi
    done
}

scratch=$(mktemp -d)
origin=

# shellcheck disable=SC2317 # called by the trap
finish() {
    if [[ -n $origin ]]; then
        # The sample site ends when its standard input closes, which happens also when this script is killed.
        exec {origin_in}>&-
        read -r -t 5 -d '' -u "$origin_out" _ || true
        kill "$origin" 2>/dev/null || true
        wait "$origin" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Sets `address`. Both descriptors of a coprocess are close-on-exec, so trawl does not keep the site alive.
start_origin() {
    local word
    coproc ORIGIN { exec "$bin/loopback-origin"; }
    # shellcheck disable=SC2153 # set by coproc
    origin=$ORIGIN_PID origin_out=${ORIGIN[0]} origin_in=${ORIGIN[1]}
    if ! read -r -t 10 -u "$origin_out" word address || [[ $word != listening ]]; then
        say 'the sample site did not start'
        exit 70
    fi
}

if [[ -n $list ]]; then
    build trawl trawl-worker
else
    build trawl trawl-worker loopback-origin
    start_origin
    list=$scratch/urls.txt
    # Each page under its own path, so that files lie as the site does.
    "$bin/trawl" get --quiet "http://$address/site/urls.txt" |
        awk '{ path = $0; sub("^[a-z]+://[^/]*/", "", path); gsub("[?&]", "_", path)
               if (path ~ "/$") path = path "index.html"; print $0 "\t" path }' >"$list"
    say "sample site on $address"
fi

mkdir -p "$out"
touch "$scratch/started"
SECONDS=0
status=0
"$bin/trawl" get -i "$list" -O --output-dir "$out" --create-dirs "$@" || status=$?

urls=$(grep -cE '^[^#[:space:]]' "$list" || true)
read -r files bytes < <(find "$out" -type f -newer "$scratch/started" -printf '%s\n' |
    awk '{ bytes += $1 } END { printf "%d %.0f\n", NR, bytes }')
failures=$((urls > files ? urls - files : 0))
say "$urls URLs, $files files, $bytes bytes, $failures failures, ${SECONDS}s; files are in $out (trawl get ended with $status)"
exit "$status"
