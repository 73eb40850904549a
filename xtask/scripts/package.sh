#!/bin/sh
# What users get builds from what would be published, without the rest of this repository.
#
# cargo's own verification takes a sibling of a version that it has seen before from its cache,
# whatever has changed since. So it is left out, and done here with what was packed just now.
set -eu
packages='drowse-sync drowse-sleep drowse'
place=$CARGO_TARGET_DIR/packaged

# Crates that depend on each other and are not published yet are packaged together since 1.90.
minor=$("$CARGO" --version | sed 's/^cargo 1\.\([0-9]*\).*/\1/')
[ "$minor" -ge 90 ] || { echo "cargo 1.90 or later is needed"; exit 77; }

rm -f "$CARGO_TARGET_DIR"/package/drowse*.crate
package() {
    "$CARGO" package --no-verify --allow-dirty "$@" $(printf -- '--package %s ' $packages)
}
# Without a registry, what was fetched before must do.
package || package --offline

rm -rf "$place"/drowse*
mkdir -p "$place"
cp Cargo.lock "$place"
{
    printf '[workspace]\nresolver = "3"\nmembers = ["drowse*"]\n\n[patch.crates-io]\n'
    for name in $packages; do
        # With the date of today: cargo packs files with a date that is always the same.
        tar xzmf "$CARGO_TARGET_DIR/package/$name"-[0-9]*.crate -C "$place"
        echo "$name = { path = \"$(basename "$place/$name"-[0-9]*)\" }"
    done
} >"$place/Cargo.toml"
(cd "$place" && CARGO_TARGET_DIR=$place/target "$CARGO" build --offline --workspace)

# A program in a folder of its own, which knows nothing but what was packed.
program=$place/program
mkdir -p "$program/src"
cp "$place/Cargo.lock" "$program"
{
    printf '[package]\nname = "program"\nversion = "0.0.0"\nedition = "2021"\n\n[workspace]\n\n'
    printf '[dependencies]\ndrowse = "*"\n\n'
    sed -n '/^\[patch/,$ s/path = "/path = "..\//p' "$place/Cargo.toml" | sed '1i [patch.crates-io]'
} >"$program/Cargo.toml"
echo 'fn main() { assert_eq!(drowse::join(|| 6, || 7), (6, 7)); println!("{}", drowse::VERSION); }' >"$program/src/main.rs"
said=$(cd "$program" && CARGO_TARGET_DIR=$place/target "$CARGO" run --offline --quiet)
echo "$packages; a program on drowse $said"
