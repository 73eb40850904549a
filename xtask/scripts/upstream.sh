#!/bin/sh
# Prepares and builds $upstream/patched: a workspace with rayon as it was published, the published
# integration tests of rayon-core, and the shim in rayon-core's place.
set -eu
. xtask/scripts/rayon.sh
patched=$upstream/patched

write "$patched/Cargo.toml" <<END
[workspace]
resolver = "2"
members = ["rayon", "core-tests"]

[patch.crates-io]
rayon-core = { path = "$shim" }

$profile
END
# The sources are pinned: they never change.
[ -d "$patched/rayon" ] || cp -rp "$upstream/sources/rayon-$rayon" "$patched/rayon"
mkdir -p "$patched/core-tests"
[ -d "$patched/core-tests/tests" ] || cp -rp "$upstream/sources/rayon-core-$core/tests" "$patched/core-tests/tests"
write "$patched/core-tests/src/lib.rs" </dev/null
{
    cat <<END
[package]
name = "core-tests"
$(grep '^edition = ' "$upstream/sources/rayon-core-$core/Cargo.toml")

[dependencies]
rayon-core = "$core"
END
    # What the tests and the original core depend on: the tests use that too.
    awk '/^\[/{ wanted = /dependencies/ } wanted' "$upstream/sources/rayon-core-$core/Cargo.toml"
} | write "$patched/core-tests/Cargo.toml"

demand_our_core "$patched"
cd "$patched"
"$CARGO" test --package rayon --tests --no-run
"$CARGO" test --package core-tests --tests --no-run
cd "$upstream/original"
"$CARGO" test --tests --no-run
echo "ready"
