#!/bin/bash
# Installs what the named purposes need, and nothing that is there already.
#
#   deploy/bootstrap.sh [build|lint|test|bench]...      (default: build)
#
# Silent and quick when nothing is missing. Exit status: 0 ready; 2 usage; 69 cannot be had on this system;
# 77 packages are missing and this user may not install them (the command to run is printed). SWIFT names the toolchain's
# `swift` where it is not on PATH.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
list=$root/deploy/packages.txt

# For systems whose packages are looked after in another way.
if [[ -n ${TRAWL_SKIP_BOOTSTRAP-} ]]; then exit 0; fi

say() { printf 'bootstrap: %s\n' "$*" >&2; }

# The sections of packages.txt to read; every purpose builds first.
sections=' build '
for purpose in "${@:-build}"; do
    case $purpose in
        build) ;;
        lint | test | bench) sections+="$purpose " ;;
        *)
            say "unknown purpose '$purpose'; one of: build lint test bench"
            exit 2
            ;;
    esac
done

# Alternatives are kept as a|b, without spaces.
wanted=()
section=
while read -r line; do
    line=${line%%#*}
    line=${line//[[:space:]]/}
    case $line in
        '') ;;
        '['*']') section=${line:1:-1} ;;
        *) [[ $sections == *" $section "* ]] && wanted+=("$line") ;;
    esac
done <"$list"

missing_packages() {
    local -A installed=()
    local name status entry
    while read -r name status; do
        if [[ $status == installed ]]; then installed[$name]=1; fi
    done < <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]//|*/}" \
        "${wanted[@]##*|}" 2>/dev/null || true)
    missing=()
    local -A seen=()
    for entry in "${wanted[@]}"; do
        if [[ -z ${installed[${entry%%|*}]-}${installed[${entry##*|}]-}${seen[$entry]-} ]]; then
            missing+=("${entry%%|*}")
        fi
        seen[$entry]=1
    done
}

# Debian starts some servers as they are installed. The tests start their own, on ports of their own choice, so a service
# that appears with this installation is stopped and kept from coming back at boot; one that was there before is left alone.
services=(nginx apache2 apache-htcacheclean squid krb5-kdc krb5-admin-server danted prometheus)
has_service() { [[ -e /lib/systemd/system/$1.service || -e /etc/init.d/$1 ]]; }

stop_new_service() {
    if [[ -d /run/systemd/system ]]; then
        "${as_root[@]}" systemctl --quiet disable --now "$1.service" || say "could not stop the new service $1"
    elif [[ -x /etc/init.d/$1 ]] && "/etc/init.d/$1" status >/dev/null 2>&1; then
        "${as_root[@]}" "/etc/init.d/$1" stop >/dev/null || say "could not stop the new service $1"
    fi
}

install_packages() {
    local install=(apt-get install --yes --quiet --no-install-recommends "${missing[@]}")
    as_root=()
    if [[ $EUID -ne 0 ]]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            say "missing: ${missing[*]}"
            say 'run this, then try again:'
            printf '    sudo apt-get update && sudo apt-get install --no-install-recommends %s\n' "${missing[*]}" >&2
            exit 77
        fi
    fi
    say "installing: ${missing[*]}"
    local service absent=()
    for service in "${services[@]}"; do
        has_service "$service" || absent+=("$service")
    done
    local log
    log=$(mktemp)
    if ! {
        "${as_root[@]}" apt-get update --quiet &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}"
    } </dev/null >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        rm -f "$log"
        say 'apt-get failed'
        exit 69
    fi
    rm -f "$log"
    for service in "${absent[@]}"; do
        if has_service "$service"; then stop_new_service "$service"; fi
    done
}

# Some servers and clients are no Debian 12 packages. What needs them says so itself when they could not be installed.
#
#   install_requirements PURPOSE VENV CONSEQUENCE
install_requirements() {
    local requirements=$root/deploy/requirements-$1.txt venv=$root/$2
    cmp -s "$requirements" "$venv/requirements.txt" && return
    say "installing the Python packages of deploy/requirements-$1.txt into $2"
    rm -rf "$venv"
    local python=/usr/bin/python3
    [[ -x $python ]] || python=python3
    local log
    log=$(mktemp)
    if "$python" -m venv "$venv" >"$log" 2>&1 &&
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-input --retries 1 --timeout 30 \
            --requirement "$requirements" </dev/null >>"$log" 2>&1; then
        cp "$requirements" "$venv/requirements.txt"
    else
        tail -n 5 "$log" >&2
        rm -rf "$venv"
        say "they could not be installed: $3"
    fi
    rm -f "$log"
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    missing_packages
    if ((${#missing[@]})); then install_packages; fi
else
    say 'not a Debian system: nothing was checked. The equivalents of these packages are needed:'
    printf '    %s\n' "${wanted[*]//|*/}" >&2
    say 'set TRAWL_SKIP_BOOTSTRAP=1 when they are there'
    exit 69
fi

if [[ $sections == *' test '* ]]; then
    install_requirements test .build-venv 'tests against httpbin and those of NTLM will be skipped'
fi
if [[ $sections == *' bench '* ]]; then
    install_requirements bench .build-bench-venv 'the Python programs will not be compared'
fi

if ! command -v "${SWIFT:-swift}" >/dev/null; then
    say 'the packages are there, but no swift is on PATH: Swift 6.3 comes from https://www.swift.org/install/linux/'
    exit 69
fi
