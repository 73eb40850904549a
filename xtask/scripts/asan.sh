#!/bin/sh
# The tests under AddressSanitizer and LeakSanitizer: jobs live on stacks, and somebody else holds
# the pointer.
set -eu
. xtask/scripts/sanitize.sh

if ! cargo +nightly --version; then
    echo "a nightly toolchain is missing: rustup toolchain install nightly"
    exit 77
fi
# The last option counts: so the user's come after ours.
export ASAN_OPTIONS="detect_stack_use_after_return=1:${ASAN_OPTIONS:-}"
export CARGO_TARGET_DIR="$CARGO_TARGET_DIR/asan"
run_tests address cargo +nightly
