# To be sourced: fetches what rayon has published to $upstream/sources, and writes a crate
# $upstream/original, with the shim's tests of what rayon-core has too and the real rayon-core.
# Ends the script where there is no registry and nothing was fetched before.

# The rayon whose tests are run, and the rayon-core that the shim stands in for.
rayon=1.12.0
core=1.13.0
# Those whose tests are about what can be awaited.
tokio_rayon=2.1.0
futures=0.3.34
root=$PWD
upstream=$CARGO_TARGET_DIR/upstream
shim=$root/shim/rayon-core
export CARGO_TARGET_DIR="$upstream/build"

# Writes stdin to a file unless that is there already: cargo builds anew what has a new date.
write() {
    mkdir -p "$(dirname "$1")"
    cat >"$1.new"
    if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

profile='[profile.dev]
debug = 0
incremental = false'

{
    cat <<END
[package]
name = "original"
edition = "2024"

[workspace]

[dependencies]
rayon-core = "=$core"
# Never built: named, so that cargo fetches them.
rayon = { version = "=$rayon", optional = true }
tokio-rayon = { version = "=$tokio_rayon", optional = true }
futures = { version = "=$futures", optional = true }

$profile
END
    for test in "$shim"/tests/*.rs; do
        name=$(basename "$test" .rs)
        # Tests with this prefix are about what rayon-core does not have.
        case $name in drowse_*) continue ;; esac
        printf '\n[[test]]\nname = "%s"\npath = "%s"\n' "$name" "$test"
    done
} | write "$upstream/original/Cargo.toml"
write "$upstream/original/src/lib.rs" </dev/null

rm -f "$upstream/offline"
if ! (cd "$upstream/original" && "$CARGO" fetch); then
    export CARGO_NET_OFFLINE=true
    if ! (cd "$upstream/original" && "$CARGO" fetch); then
        echo "rayon's published sources are not to be had: they need cargo's registry"
        exit 77
    fi
    touch "$upstream/offline"
fi
if ! [ -d "$upstream/sources/rayon-$rayon" ] || ! [ -d "$upstream/sources/rayon-core-$core" ] \
    || ! [ -d "$upstream/sources/tokio-rayon-$tokio_rayon" ] || ! [ -d "$upstream/sources/futures-$futures" ]; then
    (cd "$upstream/original" && "$CARGO" vendor --quiet --versioned-dirs "$upstream/sources" >/dev/null)
fi

# Demands that the one core in the graph of this directory is the shim.
demand_our_core() {
    cores=$(cd "$1" && "$CARGO" tree --workspace --edges all --target all --prefix none |
        sed -n 's/^\(rayon-core v[^ ]*\( ([^)]*)\)*\).*/\1/p' | sort -u)
    case $cores in
    *"
"*) ;;
    "rayon-core v"*" ($shim)") return ;;
    esac
    echo "the core under rayon in $1 is not the shim: $cores"
    exit 1
}
