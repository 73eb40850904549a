#!/bin/sh
# Unpacks Debian's rustc-web, with the sources of its std, into the directory $1, for
# ThreadSanitizer, which must see into std or it cries wolf. Nothing is installed.
set -eu
kit=$1
triple=x86_64-unknown-linux-gnu

# The lists may be there already, and only root may refresh them: so this may fail.
apt-get update -qq || true
if ! apt-cache show rustc-web rust-web-src >/dev/null; then
    echo "apt knows no rustc-web and rust-web-src: they are in Debian's rust-web sources"
    exit 77
fi
# Debian does not ship the runtime. Its name holds the channel of the toolchain.
for runtime in "$(rustc --print sysroot)/lib/rustlib/$triple/lib"/librustc-*_rt.tsan.a; do
    test -f "$runtime" || { echo "this toolchain has no ThreadSanitizer runtime: is it rustup's?"; exit 1; }
done

# A kit that was not finished is started again.
rm -rf "$kit"
mkdir -p "$kit/debs" "$kit/root" "$kit/bin"
cd "$kit/debs"

version=$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: *//p')
series=$(echo "$version" | cut -d. -f1,2)
llvm=$(apt-cache show "rustc-web=$version" "libstd-rust-web-$series=$version" | grep -o 'libllvm[0-9]*' | head -n 1)
apt-get download "rustc-web=$version" "rust-web-src=$version" "libstd-rust-web-$series=$version" \
    "libstd-rust-web-dev=$version" "$llvm"

for deb in rustc-web_*.deb libstd-rust-web-*.deb libllvm*.deb; do
    dpkg -x "$deb" "$kit/root"
done
# Of the sources, std's are enough.
dpkg --fsys-tarfile rust-web-src_*.deb |
    tar x -C "$kit/root" --wildcards './usr/lib/rustlib/src/*' './usr/src/rustc-*/library'

for tool in rustc rustdoc; do
    cat >"$kit/bin/$tool" <<END
#!/bin/sh
LD_LIBRARY_PATH='$kit/root/usr/lib/x86_64-linux-gnu' exec '$kit/root/usr/bin/$tool' "\$@"
END
    chmod +x "$kit/bin/$tool"
done

cp "$runtime" "$kit/root/usr/lib/rustlib/$triple/lib/librustc-stable_rt.tsan.a"
"$kit/bin/rustc" --version
test -f "$("$kit/bin/rustc" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock"
rm -r "$kit/debs"
touch "$kit/complete"
