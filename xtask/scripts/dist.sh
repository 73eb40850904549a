#!/bin/sh
# What a person would upload, in target/dist, after programs that know nothing else were built from it and run.
set -eu
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
dist=$CARGO_TARGET_DIR/dist
work=$CARGO_TARGET_DIR/dist-work
fail() {
    echo "$1"
    exit 1
}

# The archive holds what is committed.
git status --short
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed: commit them, stash them (git stash -u), or remove them, first"
grep -q "^## \[$version\] - " CHANGELOG.md || fail "CHANGELOG.md has no entry with a date for $version"
grep -qF "drowse $version: a pool" docs/guide/migrating-from-rayon.md ||
    fail "docs/guide/migrating-from-rayon.md shows another version than $version"

for lock in Cargo.lock shim/Cargo.lock xtask/platforms/wasm/Cargo.lock; do
    grep -A 1 '^name = "drowse"$' $lock | grep -qF "\"$version\"" || fail "$lock has another version than $version: cargo check there"
done

sh xtask/scripts/package.sh
rm -rf "$dist" "$work"
mkdir -p "$dist" "$work"
for name in drowse-sync drowse-sleep drowse; do
    cp "$CARGO_TARGET_DIR/package/$name-$version.crate" "$dist"
done
git archive --format=tar.gz --prefix="drowse-$version/" --output "$dist/drowse-$version.tar.gz" HEAD

# A program on rayon, with nothing but the archive beside it.
tar xzmf "$dist/drowse-$version.tar.gz" -C "$work"
mkdir -p "$work/program/src"
cat >"$work/program/Cargo.toml" <<END
[package]
name = "program"
version = "0.0.0"
edition = "2021"

[workspace]

[dependencies]
rayon = "1"

[patch.crates-io]
rayon-core = { path = "../drowse-$version/shim/rayon-core" }
END
cat >"$work/program/src/main.rs" <<'END'
use rayon::prelude::*;

fn main() {
    println!("{}", (1..=1000_u64).into_par_iter().map(|x| x * x).sum::<u64>());
}
END
said=$(cd "$work/program" && DROWSE_LOG=1 CARGO_TARGET_DIR=$work/target "$CARGO" run --quiet 2>&1) || fail "the program does not run: $said"
for words in 333833500 "drowse $version: a pool"; do
    case $said in *"$words"*) ;; *) fail "the program does not say \`$words\`: $said" ;; esac
done
rm -rf "$work"
(cd "$dist" && sha256sum -- * >SHA256SUMS)
ls -l "$dist"
grep -q '^repository' Cargo.toml ||
    echo "not to be published yet: Cargo.toml has no repository, so the README's links would be dead (docs/internals/releasing.md, step 0)"
echo "drowse $version: 3 crates and the archive, in $dist"
