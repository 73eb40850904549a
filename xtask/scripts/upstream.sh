#!/bin/sh
# Prepares and builds $upstream/patched: a workspace with rayon and tokio-rayon as they were published, the
# published integration tests of rayon-core, and the shim in rayon-core's place; and $upstream/async: the
# published tests of futures, with our `block_on` and our pool in the place of its own.
set -eu
. xtask/scripts/rayon.sh
patched=$upstream/patched

write "$patched/Cargo.toml" <<END
[workspace]
resolver = "2"
members = ["rayon", "core-tests", "tokio-rayon"]

[patch.crates-io]
rayon-core = { path = "$shim" }

$profile
END
# The sources are pinned: they never change.
[ -d "$patched/rayon" ] || cp -rp "$upstream/sources/rayon-$rayon" "$patched/rayon"
[ -d "$patched/tokio-rayon" ] || cp -rp "$upstream/sources/tokio-rayon-$tokio_rayon" "$patched/tokio-rayon"
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

async=$upstream/async
write "$async/Cargo.toml" <<END
[package]
name = "on-drowse"
edition = "2018"

[workspace]

[dependencies]
drowse = { path = "$root/crates/drowse" }
futures = { version = "=$futures", features = ["bilock", "thread-pool", "unstable", "write-all-vectored"] }

[dev-dependencies]
assert_matches = "1.3"
futures-channel = "0.3"
futures-core = "0.3"
futures-sink = "0.3"
futures-task = "0.3"
futures-test = "0.3"
futures-util = "0.3"
pin-project = "1.0.11"
static_assertions = "1"

$profile
END
write "$async/src/lib.rs" <xtask/scripts/on_drowse.rs
# Without the tests of what is not run by an executor, of other versions of futures, and of types that the
# executor has besides these two.
if ! [ -d "$async/tests" ]; then
    cp -rp "$upstream/sources/futures-$futures/tests" "$async/tests.new"
    (
        cd "$async/tests.new"
        rm -r _require_features.rs auto_traits.rs compat.rs compat_miri.rs object_safety.rs
        for test in *.rs; do
            sed -i -e 's/futures::executor/on_drowse/g' -e 's/futures_executor/on_drowse/g' "$test"
            grep -q on_drowse "$test" || rm "$test"
        done
    )
    mv "$async/tests.new" "$async/tests"
fi

demand_our_core "$patched"
cd "$patched"
"$CARGO" test --package rayon --tests --no-run
"$CARGO" test --package core-tests --tests --no-run
"$CARGO" test --package tokio-rayon --lib --no-run
cd "$upstream/original"
"$CARGO" test --tests --no-run
cd "$async"
"$CARGO" test --tests --no-run
echo "ready"
