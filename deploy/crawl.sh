#!/bin/bash
# Builds a release and fetches a list of URLs with it. `make crawl` calls this.
#
#   deploy/crawl.sh OUT [LIST [ARG...]]
#
# LIST: one URL a line, or any other list that `trawl batch` takes. Without one (or with '') a small sample site is served
# on a free loopback port and fetched from there. Bodies go to OUT/files, records to OUT/results.ndjson; what has a record
# there is not fetched again. Further arguments go to `trawl batch`; the exit status is its own.
set -euo pipefail

if (($# < 1)); then
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
out=$1
list=${2-}
shift $(($# > 1 ? 2 : 1))

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
swift=${SWIFT:-swift}
bin=$root/.build/release
say() { printf 'crawl: %s\n' "$*" >&2; }

if [[ -n $list && $list != - && ! -r $list ]]; then
    say "cannot read $list"
    exit 2
fi

build() {
    local log=$root/.build/crawl-build.log product
    mkdir -p "$root/.build"
    say 'building a release (the first time takes some minutes)'
    : >"$log"
    for product in "$@"; do
        # As `make build` does: this is the program that `make install-built` installs.
        if ! "$swift" build --package-path "$root" -c release --static-swift-stdlib --disable-local-rpath \
            --product "$product" </dev/null >>"$log" 2>&1; then
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
        read -r -t 5 -d '' -u "$origin_out" _ 2>/dev/null || true
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
    # In a session of its own: Ctrl-C must not take the site away from what trawl still finishes. It ends with its input.
    coproc ORIGIN { exec setsid "$bin/LoopbackOrigin"; }
    # shellcheck disable=SC2153 # set by coproc
    origin=$ORIGIN_PID origin_out=${ORIGIN[0]} origin_in=${ORIGIN[1]}
    if ! read -r -t 10 -u "$origin_out" word address || [[ $word != listening ]]; then
        say 'the sample site did not start'
        exit 70
    fi
}

# For the sample site no proxy of the environment has a part in it.
direct=()
if [[ -n $list ]]; then
    build trawl
else
    direct=(--noproxy '*')
    build trawl LoopbackOrigin
    start_origin
    list=$scratch/urls.ndjson
    # Each page under its own path, so that files lie as the site does. The port is another one each time, so requests are
    # told from those of an earlier run by their path.
    "$bin/trawl" get --silent --show-error --fail "${direct[@]}" "http://$address/site/urls.txt" |
        awk '{ path = $0; sub("^[a-z]+://[^/]*/", "", path); file = path
               if (file ~ "(^|/)$") file = file "index.html"
               printf "{\"id\":\"/%s\",\"url\":\"%s\",\"out\":\"%s\"}\n", path, $0, file }' >"$list"
    say "sample site on $address"
fi

mkdir -p "$out"
results=$out/results.ndjson
records() { if [[ -e $results ]]; then wc -l <"$results"; else echo 0; fi; }
before=$(records)
status=0
# Ctrl-C reaches trawl as well, which finishes what it has begun; its status is waited for.
trap : INT
"$bin/trawl" batch "$list" --out "$out/files" --results "$results" "${direct[@]}" "$@" || status=$?

if ((status != 2)) && [[ -e $results ]]; then
    say "files are in $out/files, a record of each request is in $results"
fi
if ((before > 0 && $(records) == before && status == 0)); then
    say "nothing was left to do: all of it was fetched before; to fetch it anew, remove $out or choose another OUT"
elif ((status == 75)); then
    say 'stopped; the same command goes on'
fi
exit "$status"
