#!/bin/sh
# The tests under ThreadSanitizer, with a std that it can see into, or it cries wolf: tsan.sh [--install]
# It does not understand fences: those are loom's to check.
set -eu
. xtask/scripts/sanitize.sh
kit=$CARGO_TARGET_DIR/rust-newest

toolchain=+nightly
if ! [ -f "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
    if ! [ -f "$kit/complete" ]; then
        if [ "${1:-}" != --install ]; then
            echo "no toolchain has the sources of its std: rustup component add rust-src --toolchain" \
                "nightly; or, on Debian: cargo xtask tsan --install (unpacks packages under target/)"
            exit 77
        fi
        sh xtask/scripts/debian_kit.sh "$kit" newest
    fi
    # Debian does not ship the runtime. Its name holds the channel of the toolchain.
    for runtime in "$(rustc --print sysroot)/lib/rustlib/$triple/lib"/librustc-*_rt.tsan.a; do
        test -f "$runtime" || { echo "this toolchain has no ThreadSanitizer runtime: is it rustup's?"; exit 1; }
        cp "$runtime" "$kit/root/usr/lib/rustlib/$triple/lib/librustc-stable_rt.tsan.a"
    done
    toolchain=
    export RUSTC="$kit/bin/rustc" RUSTDOC="$kit/bin/rustdoc" RUSTC_BOOTSTRAP=1
fi
# Workers of a global pool are alive at exit: waiting for them would cost every test a second. And
# symbolizing the backtrace of an expected panic takes half a second. A forked child may start threads.
export TSAN_OPTIONS="suppressions=\"$PWD/xtask/scripts/tsan.supp\":history_size=4:atexit_sleep_ms=0:die_after_fork=0:${TSAN_OPTIONS:-}"
export RUST_BACKTRACE=0
export CARGO_TARGET_DIR="$CARGO_TARGET_DIR/tsan"
options=-Zbuild-std
run_tests thread cargo $toolchain
