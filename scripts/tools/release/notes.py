"""The text of a release's page. Used by scripts/release.py."""

import re

from tools.release import source
from tools.release.linked import rust
from tools.targets import ROOT

MACHINES = {
    "x86_64-unknown-linux-musl": "PCs and servers",
    "aarch64-unknown-linux-musl": "boards with a 64-bit system: Raspberry Pi 3, 4, 5, ROCK 5B and more",
    "armv7-unknown-linux-musleabihf": "boards with a 32-bit system from the Pi 2 on, BeagleBone Black",
    "arm-unknown-linux-musleabihf": "Pi Zero, Zero W, Pi 1 (ARMv6)",
}


def notes(archives, packages, container):
    """`archives`: file name by target; `packages`: file names; `container`: that of the image."""
    version = source.version()
    title, changes = section((ROOT / "CHANGELOG.md").read_text(), version)
    files = [f"| `{name}` | {MACHINES[target]} |" for target, name in archives.items()]
    files += [f"| `{name}` | Debian and its like: `sudo apt install ./{name}` |" for name in packages]
    files += [f"| `{container}` | containers: `podman load --input {container}` |"]
    compilers = [f"- Rust {rust(target)} for {target}" for target in archives]
    return "\n".join(
        [
            f"# udpbench {title}\n",
            "Each program is static: one file, for any Linux. An archive has it with manual pages, completions for",
            "bash, zsh and fish, and the licences of what is linked in, which the `.spdx.json` beside it lists.\n",
            "| file | for |\n|---|---|",
            *files,
            "\n`sha256sum --check --ignore-missing SHA256SUMS` says whether a download is complete.\n",
            f"Built from commit {source.commit()}; `scripts/release.py` makes the same bytes of it with",
            "",
            *compilers,
            "",
            changes,
        ]
    )


def section(changelog, version):
    """A heading, and what CHANGELOG.md says of the version; of what is not released yet if it says nothing."""
    sections = dict(re.findall(r"^## \[(.+?)\].*?\n(.*?)(?=^## |\Z)", changelog, re.M | re.S))
    if version in sections:
        return version, sections[version]
    if "Unreleased" not in sections:
        raise SystemExit(f"error: CHANGELOG.md has neither a section [{version}] nor [Unreleased]: add one")
    return f"{version}, not released yet", sections["Unreleased"]
