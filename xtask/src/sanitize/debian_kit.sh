#!/bin/sh
# Unpacks Debian's rustc-web, with the sources of its std, into the directory $1. Nothing is installed.
# $2 is a ThreadSanitizer runtime, which Debian does not ship.
set -eu
kit=$1
runtime=$2
triple=x86_64-unknown-linux-gnu

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
