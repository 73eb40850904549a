#!/bin/sh
# Each program of shim/old-locks has a lock file of its year. It gets our core by the two lines and
# the one command that the migration page names, and keeps the rest of what it has locked.
set -eu
. xtask/scripts/rayon.sh

fail() {
    echo "$name: $1"
    exit 1
}

# The names and versions in a lock file, of what cargo must not change.
locked() {
    awk -F'"' '/^name = /{ name = $2 } /^version = / && name { print name, $2 }' "$1" |
        grep -E '^(rayon|crossbeam-queue|libc|portable-atomic) ' | sort
}

names=
for program in "$root"/shim/old-locks/*/; do
    name=$(basename "$program")
    copy=$upstream/old-locks/$name
    mkdir -p "$copy/src"
    cp -p "$program"/src/* "$copy/src"
    printf '%s\n\n[patch.crates-io]\nrayon-core = { path = "%s" }\n' "$(cat "$program/Cargo.toml")" "$shim" |
        write "$copy/Cargo.toml"
    cp "$program/Cargo.lock" "$copy/Cargo.lock"

    cd "$copy"
    "$CARGO" update --package rayon-core
    demand_our_core "$copy"
    locked "$program/Cargo.lock" >before
    locked Cargo.lock >after
    gone=$(comm -23 before after)
    [ -z "$gone" ] || fail "$gone, which it had locked, is gone"

    output=$(DROWSE_LOG=1 "$CARGO" run --quiet --locked 2>&1) || fail "it does not run: $output"
    for words in 500500 ': a pool of '; do
        case $output in *"$words"*) ;; *) fail "it does not say \`$words\`: $output" ;; esac
    done
    names="$names $name"
done
[ -n "$names" ] || { echo "there are no programs with old lock files"; exit 1; }
echo "old lock files on drowse:$names"
