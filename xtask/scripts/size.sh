#!/bin/sh
# Prepares the workspaces $size/rayon-core and $size/drop-in, which differ only in the core under rayon: the programs of
# shim/size and shim/programs. With --full also $size/rayon-core-tests and $size/drop-in-tests: rayon as it was published,
# with its tests.
set -eu
size=$CARGO_TARGET_DIR/size
. xtask/scripts/rayon.sh

# Prints the profiles, and the patch if $1 is the drop-in.
ending() {
    cat <<END

[profile.release]
strip = "debuginfo"

[profile.z]
inherits = "release"
opt-level = "z"
lto = true
codegen-units = 1
panic = "abort"
END
    if [ "$1" = drop-in ]; then
        printf '\n[patch.crates-io]\nrayon-core = { path = "%s" }\n' "$shim"
    fi
}

# Prints the lock file $2, without its rayon-core if $1 is the drop-in, which has another version.
lock() {
    if [ "$1" = drop-in ]; then
        awk 'BEGIN { RS = ""; ORS = "\n\n" } !/name = "rayon-core"/' "$2"
    else
        cat "$2"
    fi
}

# Fetches the dependencies of the directory $2, and demands that $1 is the one core in its graph.
resolve() {
    (cd "$2" && "$CARGO" fetch --quiet)
    if [ "$1" = drop-in ]; then
        demand_our_core "$2"
    elif ! (cd "$2" && "$CARGO" tree --workspace --edges all --prefix none) | grep -q "^rayon-core v$core\( (\*)\)*\$"; then
        echo "the core under rayon in $2 is not rayon-core $core"
        exit 1
    fi
}

for which in rayon-core drop-in; do
    place=$size/$which
    mkdir -p "$place"
    {
        cat <<END
[package]
name = "size"
edition = "2024"

[workspace]

[dependencies]
libc = "0.2"
rayon = "=$rayon"

[[bin]]
name = "programs"
path = "$root/shim/programs/src/main.rs"
END
        for program in "$root"/shim/size/src/bin/*.rs; do
            printf '\n[[bin]]\nname = "%s"\npath = "%s"\n' "$(basename "$program" .rs)" "$program"
        done
        ending $which
    } | write "$place/Cargo.toml"
    lock $which "$root/Cargo.lock" >"$place/Cargo.lock"
    resolve $which "$place"
done

if [ "${1:-}" = --full ]; then
    # The tests have dependencies that our lock file lacks: the drop-in takes the versions that cargo chose for rayon-core.
    seed=$root/Cargo.lock
    for which in rayon-core drop-in; do
        place=$size/$which-tests
        mkdir -p "$place"
        { printf '[workspace]\nresolver = "2"\nmembers = ["rayon"]\n'; ending $which; } | write "$place/Cargo.toml"
        [ -d "$place/rayon" ] || cp -rp "$upstream/sources/rayon-$rayon" "$place/rayon"
        lock $which "$seed" >"$place/Cargo.lock"
        resolve $which "$place"
        seed=$place/Cargo.lock
    done
fi
echo "ready"
