# To be sourced: runs the tests of the runtime's crates under a sanitizer. The rest of the workspace
# has no unsafe code and no threads of its own.

triple=x86_64-unknown-linux-gnu
[ "$(uname -sm)" = 'Linux x86_64' ] || { echo "sanitizers are tried on $triple only"; exit 77; }
# rustup fetches nothing by itself, and chooses the cargo.
export RUSTUP_AUTO_INSTALL=0
unset CARGO

# Runs the tests: run_tests SANITIZER CARGO... With the options in $options, if any.
run_tests() {
    # cargo ignores the second variable where the first is set.
    if [ -n "${CARGO_ENCODED_RUSTFLAGS:-}" ]; then
        export CARGO_ENCODED_RUSTFLAGS="$CARGO_ENCODED_RUSTFLAGS$(printf '\037')-Zsanitizer=$1"
    else
        export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=$1"
    fi
    shift
    # Frames are several times as big, and everything takes several times as long.
    export RUST_MIN_STACK=33554432 DROWSE_TEST_PATIENCE=6
    if cargo nextest --version >/dev/null 2>&1; then
        set -- "$@" nextest run --profile sanitize
    else
        set -- "$@" test --no-fail-fast
    fi
    "$@" --package drowse --package drowse-sleep --package drowse-sync --target $triple \
        --lib --bins --tests --examples ${options:-}
}
