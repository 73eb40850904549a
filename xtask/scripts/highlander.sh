#!/bin/sh
# A crate that depends on rayon-core and on the shim does not resolve, and cargo says why: the two
# share one `links` key.
set -eu
. xtask/scripts/rayon.sh
crate=$upstream/highlander

write "$crate/Cargo.toml" <<END
[package]
name = "highlander"
edition = "2024"

[workspace]

[dependencies]
rayon-core = "=$core"
ours = { package = "rayon-core", path = "$shim" }
END
write "$crate/src/lib.rs" </dev/null
rm -f "$crate/Cargo.lock"

cd "$crate"
if message=$("$CARGO" generate-lockfile 2>&1); then
    echo "rayon-core and the shim resolve together: a program would have two pools"
    exit 1
fi
echo "$message"
if ! reason=$(echo "$message" | grep 'links = "rayon-core"'); then
    echo "cargo refuses, but does not say that it is for \`links\`"
    exit 1
fi
echo "cargo: ${reason%%. *}"
