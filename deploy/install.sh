#!/bin/bash
# Installs the command with its man pages and completions, or removes them. `make install` and `make uninstall` call this.
#
#   [BUILT=.build/release] deploy/install.sh install|uninstall PREFIX
#
# BUILT is the folder with the built `trawl`. Exit status: 0 done; 2 usage; else what went wrong.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
built=${BUILT:-.build/release}
if (($# != 2)) || [[ $1 != install && $1 != uninstall || -z $2 ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
prefix=$2

bash_completion=share/bash-completion/completions/trawl
zsh_completion=share/zsh/site-functions/_trawl
fish_completion=share/fish/vendor_completions.d/trawl.fish
documents=share/doc/trawl

if [[ $1 == uninstall ]]; then
    rm -f "$prefix"/bin/{trawl,.trawl.new} "$prefix"/share/man/man1/trawl{,-*}.1 \
        "$prefix/$bash_completion" "$prefix/$zsh_completion" "$prefix/$fish_completion"
    rm -rf "${prefix:?}/$documents"
    exit
fi

[[ $built == /* ]] || built=$root/$built
trawl=$built/trawl
if [[ ! -x $trawl ]]; then
    printf 'install: %s is not built\n' "$trawl" >&2
    exit 66
fi

# Everything is made before anything is installed.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for shell in bash zsh fish; do
    "$trawl" --generate-completion-script "$shell" >"$scratch/$shell"
done
"$root/deploy/manpages.py" "$trawl" "$scratch/man"

put() { install -D -m "$1" "$2" "$prefix/$3"; }
# It takes its place at once: who starts it meanwhile starts the old one or the new one, as a whole.
install -s -m 755 "$trawl" "$scratch/trawl"
put 755 "$scratch/trawl" bin/.trawl.new
mv -f "$prefix/bin/.trawl.new" "$prefix/bin/trawl"
put 644 "$scratch/bash" "$bash_completion"
put 644 "$scratch/zsh" "$zsh_completion"
put 644 "$scratch/fish" "$fish_completion"
for page in "$scratch"/man/*.1; do
    put 644 "$page" "share/man/man1/${page##*/}"
done
for document in LICENSE CHANGELOG.md; do
    put 644 "$root/$document" "$documents/$document"
done
# All of them, since they name each other.
while IFS= read -r document; do
    put 644 "$root/docs/$document" "$documents/$document"
done < <(cd "$root/docs" && find . -name __pycache__ -prune -o -type f -printf '%P\n')
