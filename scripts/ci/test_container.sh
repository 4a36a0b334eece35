#!/usr/bin/env bash
# Runs the container image that scripts/release.py has made, in Podman, for each of its CPUs under qemu-user: its
# version, `engines`, and a quick sweep whose rows come to a volume.
#
#   scripts/ci/test_container.sh [IMAGE]      target/publish/udpbench-VERSION-oci.tar without any
#
# Root. Needs podman, crun, qemu-user-static, and Linux 6.7 for other CPUs than this one. Storage, control groups and
# the kernel's list of emulators (binfmt_misc) are in a directory and in namespaces that go away.
# Exit codes: 0 it works, 1 it does not, 77 skipped: there is no image, or no Podman that can run here.
set -euo pipefail
cd "$(dirname "$0")/../.."

case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/ci/test_container.sh; exit ;; esac

cannot() { echo "SKIPPED: $*" >&2; exit 77; }

# Has the kernel start programs of another CPU, told by the machine in their ELF header.
emulate() { # NAME CLASS MACHINE
    local magic="\x7f\x45\x4c\x46\x0$2\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x$3\x00"
    local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":$1:M::$magic:$mask:/usr/bin/$1-static:F" >/proc/sys/fs/binfmt_misc/register
}

# Inside the namespaces.
inside() { # IMAGE ROOM
    local image=$1 room=$2 platforms platform id rows
    mapfile -t platforms < <(tar -xOf "$image" | grep -ao '"platform":{[^}]*}' |
        sed -E 's/.*"architecture":"([^"]+)".*"os":"linux"(,"variant":"([^"]+)")?}/\1\/\3/; s/\/$//')
    mount -t cgroup2 none /sys/fs/cgroup
    if ! mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || ! emulate qemu-aarch64 2 b7 || ! emulate qemu-arm 1 28; then
        echo "not run on other CPUs than this one: the kernel has no binfmt_misc for namespaces"
        platforms=("$(dpkg --print-architecture)")
    fi
    printf '[containers]\ndefault_ulimits = []\n[engine]\nruntime = "crun"\ncgroup_manager = "cgroupfs"\n%s' \
        'events_logger = "none"' >"$room/containers.conf"
    export CONTAINERS_CONF=$room/containers.conf
    local podman=(podman --root "$room/root" --runroot "$room/runroot" --tmpdir "$room/tmp" --storage-driver vfs)
    # `podman load` takes this machine's platform, `podman pull` any.
    "${podman[@]}" load --quiet --input "$image"
    for platform in "${platforms[@]}"; do
        id=$("${podman[@]}" pull --quiet --platform "linux/$platform" "oci-archive:$image")
        mkdir "$room/results"
        local run=("${podman[@]}" run --rm --cgroups disabled --network none --volume "$room/results:/results" "$id")
        "${run[@]}" --version
        "${run[@]}" engines >"$room/engines"
        grep -q ' yes ' "$room/engines"
        "${run[@]}" --quick --quiet --engine std,mmsg --output rows.csv
        rows=$(grep -c ,ok, "$room/results/rows.csv")
        echo "ok: $platform: $(grep -c ' yes ' "$room/engines") engines can run, $rows cases did"
        rm -r "$room/results"
    done
}

if [ "${1:-}" = --inside ]; then
    inside "$2" "$3"
    exit
fi
image=$(realpath "${1:-$(echo target/publish/udpbench-*-oci.tar)}")
[ -f "$image" ] || cannot "there is no $image: scripts/release.py makes it"
for program in podman crun; do
    command -v "$program" >/dev/null || cannot "there is no $program: apt-get install podman crun"
done
[ "$(id -u)" = 0 ] || cannot "needs root"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkfifo "$room/up" "$room/go"
# shellcheck disable=SC2016  # the inner bash expands it
unshare --user --mount --cgroup --propagation private bash -c \
    'echo >"$2/up"; read -r _ <"$2/go"; exec scripts/ci/test_container.sh --inside "$1" "$2"' _ "$image" "$room" &
read -r -t 20 _ <>"$room/up" || cannot "no user namespace can be had"
echo "0 0 65536" | tee "/proc/$!/uid_map" >"/proc/$!/gid_map"
echo >"$room/go"
wait "$!"
