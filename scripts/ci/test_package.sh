#!/usr/bin/env bash
# Tests the packages that scripts/package.py has made: installs the one for this machine's architecture, uses what
# it brings, and removes it again; unpacks the others and runs them under qemu-user-static.
#
# usage: scripts/ci/test_package.sh [DEB...]      all of target/debian/ without any
#
# Installs into a copy-on-write view of this machine (an overlay in a mount namespace of its own), so that a
# real dpkg works on a real system and nothing of it is left. Needs root, and a kernel with overlayfs; man-db,
# bash-completion, lintian and qemu-user-static are used where they are installed, and missed aloud.
# Exit codes: 0 all is well, 1 it is not, 2 bad input.
set -euo pipefail
cd "$(dirname "$0")/../.."

case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' scripts/ci/test_package.sh; exit 0 ;; esac

fail() { echo "FAILED: $*" >&2; exit 1; }
ok() { echo "ok: $*"; }
skipped() { echo "skipped: $*"; }

# Runs as root in the overlay, so it may do as it pleases.
inside() { # DEB
    local version
    version=$(dpkg-deb -f "$1" Version)
    dpkg -i "$1"
    [ "$(/usr/bin/udpbench --version)" = "udpbench ${version%-*}" ] || fail "the installed program says its version"
    ok "installed, and says its version"
    # Debian's minimal images leave manual pages out (path-exclude in /etc/dpkg/dpkg.cfg.d).
    if command -v man >/dev/null && [ -e /usr/share/man/man1/udpbench.1.gz ]; then
        man udpbench | col -b | grep -- '--threads' >/dev/null || fail "man udpbench"
        man udpbench-plan >/dev/null || fail "man udpbench-plan"
        ok "man udpbench renders"
    else
        skipped "man udpbench: there is no man, or dpkg is told to leave pages out"
    fi
    bash_completes
    for file in copyright changelog.gz changelog.Debian.gz README.md THIRD-PARTY.txt docs/RESULTS.md; do
        [ -s "/usr/share/doc/udpbench/$file" ] || skipped "$file: dpkg is told to leave documents out"
    done
    dpkg -r udpbench
    [ ! -e /usr/bin/udpbench ] || fail "removing it removes the program"
    ok "removed"
}

# For a person: bash-completion finds the file by the program's name.
bash_completes() {
    if [ ! -e /usr/share/bash-completion/bash_completion ]; then
        skipped "completion: there is no bash-completion"
        return
    fi
    local completed
    completed=$(bash -c '
        source /usr/share/bash-completion/bash_completion
        _load_comp udpbench 2>/dev/null || __load_completion udpbench
        COMP_WORDS=(udpbench --thr) COMP_CWORD=1
        _udpbench udpbench --thr udpbench
        echo "${COMPREPLY[*]}"')
    [ "$completed" = --threads ] || fail "bash completes --thr to '$completed'"
    ok "bash completes --thr to --threads"
}

overlay() { # DEB
    local room
    if [ "$(id -u)" != 0 ]; then
        skipped "$1: to install it needs root"
        return
    fi
    room=$(mktemp -d)
    # Its mounts go with the namespace.
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -euo pipefail -c '
        mount -t tmpfs tmpfs "$1"
        mkdir "$1/upper" "$1/work" "$1/root"
        mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
        mkdir -p "$1/root/packages"
        cp "$2" scripts/ci/test_package.sh "$1/root/packages/"
        mount -t proc proc "$1/root/proc" 2>/dev/null || mount --rbind /proc "$1/root/proc"
        mount --rbind /dev "$1/root/dev"
        exec chroot "$1/root" /packages/test_package.sh --inside "/packages/$(basename "$2")"
    ' overlay "$room" "$1" || { rmdir "$room"; fail "$1"; }
    rmdir "$room"
}

emulated() { # DEB ARCH
    local emulator room
    case $2 in
    arm64) emulator=(qemu-aarch64-static) ;;
    # The CPU of a Pi 1, Zero and Zero W: the least that Raspberry Pi OS calls armhf.
    armhf) emulator=(qemu-arm-static -cpu arm1176) ;;
    *) fail "$1: nothing is known about $2" ;;
    esac
    if ! command -v "${emulator[0]}" >/dev/null; then
        skipped "$1: there is no ${emulator[0]}; on Debian: apt-get install qemu-user-static"
        return
    fi
    room=$(mktemp -d)
    dpkg-deb -x "$1" "$room"
    if ! "${emulator[@]}" "$room/usr/bin/udpbench" --engine null --no-reference --quick --ip v4 -o "$room/rows.csv"; then
        rm -r "$room"
        fail "$1 under ${emulator[*]}"
    fi
    rm -r "$room"
    ok "$1 runs under ${emulator[*]}"
}

if [ "${1:-}" = --inside ]; then
    inside "$2"
    exit
fi
[ $# -gt 0 ] || set -- target/debian/*.deb
for deb in "$@"; do
    [ -f "$deb" ] || { echo "error: $deb: there is no such file; scripts/package.py makes the packages" >&2; exit 2; }
done
for deb in "$@"; do
    arch=$(dpkg-deb -f "$deb" Architecture)
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error,warning "$deb" || fail "lintian has complaints about $deb"
        ok "lintian has no complaints about $deb"
    else
        skipped "lintian: not installed"
    fi
    if [ "$arch" = "$(dpkg --print-architecture)" ]; then
        overlay "$deb"
    else
        emulated "$deb" "$arch"
    fi
done
