#!/usr/bin/env bash
# Proves that `cross build` and `cross test` work for this project, with nothing but Debian and crates.io:
# starts a Docker daemon of its own, makes an image like cross's out of Debian packages, builds and tests for
# aarch64-unknown-linux-gnu in it, checks the binary, and stops the daemon again.
#
#   scripts/ci/prove_cross.sh [--keep] [-- ARGUMENTS OF THE TEST PROGRAMS]
#
#   --keep    leave the image's file system in target/prove-cross for the next time
#
# Runs as root on Debian, about 6 minutes on two cores. Needs the packages docker.io, debootstrap and binutils;
# installs cross 0.2.5 below target/ if there is none. The container has no network: what it builds is fetched
# before. Exit code 77: something that it needs cannot be had here, and it says what.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=aarch64-unknown-linux-gnu
image=udpbench/cross-aarch64:local
cache=$PWD/target/prove-cross

say() { printf 'prove-cross: %s\n' "$*"; }
cannot() { say "SKIPPED: $*" >&2; exit 77; }

keep=
while [ $# -gt 0 ]; do
    case $1 in
        --keep) keep=yes ;;
        --) shift; break ;;
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/ci/prove_cross.sh; exit ;;
        *) say "$1 is no option of this; see --help" >&2; exit 2 ;;
    esac
    shift
done

[ "$(id -u)" = 0 ] || cannot "needs root, to start a Docker daemon and to run debootstrap"
for command in dockerd docker debootstrap readelf apt-get; do
    command -v "$command" >/dev/null || cannot "there is no $command (apt-get install docker.io debootstrap binutils)"
done

scratch=$(mktemp -d)
daemon=
# Whatever happens, the daemon ends (and its containerd with it) and nothing of it is left.
clean_up() {
    if [ -n "$daemon" ] && kill "$daemon" 2>/dev/null; then
        wait "$daemon" 2>/dev/null || true
    fi
    [ -n "$keep" ] || rm -rf "$cache/rootfs"
    umount "$scratch"/exec/netns/* "$scratch"/data/overlay2/*/merged 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT

# The tool.
mkdir -p "$cache"
if ! command -v cross >/dev/null && ! [ -x "$cache/bin/cross" ]; then
    say "installing cross 0.2.5"
    cargo install cross --version 0.2.5 --locked --quiet --root "$cache" ||
        cannot "cargo install cross failed"
fi
PATH=$cache/bin:$PATH

# cross 0.2.5 cannot read "(active, default)" in the list that rustup 1.28 and newer print, and then downloads
# the toolchain on every call (cross-rs/cross #1645): hide it.
rustup=$(command -v rustup)
cat >"$scratch/rustup" <<SHIM
#!/bin/sh
if [ "\$1 \$2" = "toolchain list" ]; then
    "$rustup" "\$@" | sed 's/ (active, default)//; s/ (active)//; s/ (default)//'
else
    exec "$rustup" "\$@"
fi
SHIM
chmod +x "$scratch/rustup"
PATH=$scratch:$PATH

# A daemon of our own: own socket, own data, no bridge, no rules in the firewall.
export DOCKER_HOST=unix://$scratch/docker.sock
dockerd --host "$DOCKER_HOST" --data-root "$scratch/data" --exec-root "$scratch/exec" \
    --pidfile "$scratch/dockerd.pid" --iptables=false --ip6tables=false --bridge=none \
    >"$scratch/dockerd.log" 2>&1 &
daemon=$!
for _ in $(seq 120); do
    docker info >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.5
done
docker info >/dev/null 2>&1 || cannot "dockerd does not start: $(tail -n 1 "$scratch/dockerd.log")"

# The image: what cross's own has, out of Debian packages. The older the release, the older the glibc that the
# binary needs; an old one leaves the mirrors some day.
make_image() { # RELEASE
    local mirror packages=gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,gcc,libc6-dev,qemu-user-static
    # shellcheck disable=SC2016  # apt fills that in
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | sort -u | grep -v security | head -n 1)
    say "making the image out of Debian $1"
    rm -rf "$cache/rootfs"
    debootstrap --variant=minbase --include="$packages" "$1" "$cache/rootfs" "$mirror" >"$scratch/debootstrap.log" 2>&1
}
if ! [ -e "$cache/rootfs/made" ]; then
    make_image bullseye || make_image bookworm ||
        cannot "debootstrap failed: $(tail -n 1 "$scratch/debootstrap.log")"
    touch "$cache/rootfs/made"
fi
prefix=CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU
tar -C "$cache/rootfs" -c . | docker import \
    --change "ENV ${prefix}_LINKER=aarch64-linux-gnu-gcc" \
    --change "ENV ${prefix}_RUNNER=/usr/bin/qemu-aarch64-static" \
    --change "ENV QEMU_LD_PREFIX=/usr/aarch64-linux-gnu" \
    --change "ENV RUST_TEST_THREADS=1" - "$image" >"$scratch/import.log" ||
    cannot "docker import failed: $(tail -n 1 "$scratch/import.log")"

# This is how a user would override the image, too.
export CROSS_TARGET_AARCH64_UNKNOWN_LINUX_GNU_IMAGE=$image
export CROSS_CONTAINER_OPTS="--network none"
export CROSS_CUSTOM_TOOLCHAIN=1
# Not shared with builds of the host: what those link, the image's older glibc cannot run.
export CARGO_TARGET_DIR=$cache/target
rustup target add "$target" >/dev/null 2>&1 || cannot "rustup target add $target failed"
cargo fetch --locked --target "$target"
cargo fetch --locked

say "cross build --release --target $target"
started=$SECONDS
# Compiled in haste: how well, is not what is to be proved.
cross build --locked --offline --release --target "$target" --config profile.release.opt-level=0
binary=$CARGO_TARGET_DIR/$target/release/udpbench
readelf -h "$binary" | grep 'Machine: *AArch64' >/dev/null
glibc=$(readelf --version-info "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
say "built in $((SECONDS - started)) s: $(stat -c %s "$binary") B, needs $glibc"

# A few tests show that cross can test: test_under_qemu_user.py runs the whole suite, with a newer qemu-user. Of
# those that start thousands of threads, bullseye's, 5.2, died of SIGSEGV.
tests=(--no-default-features --features board --lib)
say "cross test --target $target ${tests[*]}"
started=$SECONDS
cross test --locked --offline --target "$target" "${tests[@]}" -- data:: plan:: row:: stats:: "$@"
say "tested in $((SECONDS - started)) s"
