#!/usr/bin/env bash
# Loads the container image that scripts/release.py has made into Podman, and runs it: `engines`, and a quick sweep whose
# rows come to a volume. For this machine's CPU, and for the others where the kernel can start their programs (binfmt_misc).
#
#   scripts/ci/test_container.sh
#
# Root. Needs podman, crun; for other CPUs qemu-user-static. Podman's storage is in a directory of its own, which goes
# away. Exit codes: 0 it works, 1 it does not, 77 skipped: Podman cannot run here, or there is no image.
set -euo pipefail
cd "$(dirname "$0")/../.."

case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/ci/test_container.sh; exit ;; esac

cannot() { echo "SKIPPED: $*" >&2; exit 77; }

image=$(echo target/publish/udpbench-*-oci.tar)
[ -f "$image" ] || cannot "there is no $image: scripts/release.py makes it"
command -v podman crun >/dev/null || cannot "there is no podman or no crun: apt-get install podman crun"
[ "$(id -u)" = 0 ] || cannot "needs root"

room=$(mktemp -d)
storage=(podman --root "$room/root" --runroot "$room/run" --tmpdir "$room/tmp" --storage-driver vfs --runtime crun
    --cgroup-manager cgroupfs --events-backend none)
clean_up() {
    "${storage[@]}" system reset --force >/dev/null 2>&1 || true
    umount "$room/root/vfs" 2>/dev/null || true
    rm -rf "$room"
}
trap clean_up EXIT

# Runs the image of one platform. Nothing but lo is in the container.
udpbench() { # ARCHITECTURE VARIANT WORDS...
    local platform=(--arch "$1")
    [ -z "$2" ] || platform+=(--variant "$2")
    shift 2
    "${storage[@]}" run --rm --network none --cgroups disabled --volume "$room/results:/results" \
        "${platform[@]}" "localhost/udpbench:$version" "$@"
}

version=${image#target/publish/udpbench-}
version=${version%-oci.tar}
here=$(dpkg --print-architecture)
for platform in amd64: arm64:v8 arm:v7 arm:v6; do
    architecture=${platform%:*} variant=${platform#*:}
    emulator=qemu-${architecture/arm64/aarch64}
    if [ "$architecture" != "$here" ] && ! grep -qs enabled "/proc/sys/fs/binfmt_misc/$emulator"; then
        echo "not run: $platform: the kernel starts no program of it here (binfmt_misc, qemu-user-static)"
        continue
    fi
    rm -rf "$room/results"
    mkdir "$room/results"
    # It takes the platform that it is told to out of the archive.
    "${storage[@]}" load --quiet --input "$image"
    [ "$(udpbench "$architecture" "$variant" --version)" = "udpbench $version" ]
    udpbench "$architecture" "$variant" engines
    udpbench "$architecture" "$variant" --quick --quiet --engine std,mmsg --output rows.csv
    [ "$(grep -c ,ok, "$room/results/rows.csv")" -gt 0 ]
    echo "ok: $platform: $(grep -c ,ok, "$room/results/rows.csv") cases"
done
