#!/bin/sh
# Unpacks one of Debian's Rust compilers into a directory, with the sources of its std: debian_kit.sh DIRECTORY SERIES
# SERIES is like 1.85, or `newest`. Nothing is installed. A kit that is complete is left as it is.
set -eu
kit=$1
series=$2
triple=x86_64-unknown-linux-gnu
[ ! -f "$kit/complete" ] || exit 0
[ -z "${CARGO_NET_OFFLINE:-}" ] || { echo "offline: $kit is not there"; exit 77; }
[ "$(uname -sm)" = 'Linux x86_64' ] || { echo "Debian's compilers are tried on $triple only"; exit 77; }
command -v apt-cache >/dev/null || { echo "there is no apt here: Debian's compilers are not to be had"; exit 77; }

# The lists may be there already, and only root may refresh them: so this may fail.
apt-get update -qq || true
case $series in
newest) version=$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: *//p') ;;
*) version=$(apt-cache madison rustc-web | sed -n "s/^[^|]*| *\($series\.[^ ]*\) *|.*/\1/p" | head -n 1) ;;
esac
if [ -z "$version" ] || [ "$version" = '(none)' ]; then
    echo "apt knows no rustc-web $series: it is in Debian's rust-web sources"
    exit 77
fi
series=$(echo "$version" | cut -d. -f1,2)

# A kit that was not finished is started again.
rm -rf "$kit"
mkdir -p "$kit/debs" "$kit/root" "$kit/bin"
cd "$kit/debs"
llvm=$(apt-cache show "rustc-web=$version" "libstd-rust-web-$series=$version" | grep -o 'libllvm[0-9]*' | head -n 1)
apt-get download -qq "rustc-web=$version" "rust-web-src=$version" "libstd-rust-web-$series=$version" \
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
"$kit/bin/rustc" --version
rm -r "$kit/debs"
touch "$kit/complete"
