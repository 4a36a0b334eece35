#!/usr/bin/env bash
# Installs a QEMU with the machine raspi4b, which came with QEMU 9: from the backports of this Debian, if its own is
# older. Leaves apt's list of sources as it is.
#
#   scripts/ci/install_qemu.sh
#
# Root. Exit code 1: there is none.
set -euo pipefail

has_raspi4b() { qemu-system-aarch64 -M help | grep '^raspi4b ' >/dev/null; }

has_raspi4b && exit
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016  # apt fills that in
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release" | head -n 1)
sources=$(mktemp -d)
trap 'rm -r "$sources"' EXIT
cp /etc/apt/sources.list.d/* "$sources/"
echo "deb $mirror $release-backports main" >"$sources/backports.list"
apt=(apt-get -o "Dir::Etc::SourceParts=$sources" -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install --yes --no-install-recommends --target-release "$release-backports" qemu-system-arm qemu-system-data
has_raspi4b
