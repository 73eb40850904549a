#!/bin/sh
# The oldest compiler that is promised builds what users get, the shim too, and runs a part of the tests: msrv.sh [--install]
set -eu
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
kit=$CARGO_TARGET_DIR/rust-$version

if rustc "+$version" --version >/dev/null 2>&1; then
    export RUSTC="$(rustup which --toolchain "$version" rustc)" RUSTDOC="$(rustup which --toolchain "$version" rustdoc)"
else
    sh xtask/scripts/debian_kit.sh "$kit" "$version" || { echo "rustup toolchain install $version gets it"; exit 77; }
    export RUSTC="$kit/bin/rustc" RUSTDOC="$kit/bin/rustdoc"
fi
target=$CARGO_TARGET_DIR/msrv
export CARGO_TARGET_DIR="$target"
"$CARGO" test --quiet --package drowse-sync --package drowse-sleep --lib
"$CARGO" test --quiet --package drowse --lib --test join --test scope --test tasks
(cd shim && "$CARGO" test --quiet --package rayon-core --lib --tests)
echo "drowse, drowse-sleep, drowse-sync and the drop-in on $("$RUSTC" --version | cut -d" " -f1,2)"
