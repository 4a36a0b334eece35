#!/usr/bin/env python3
"""Makes what a release's page has, in target/publish/:

  udpbench-VERSION-TARGET.tar.gz    for each kind of CPU: a static program, manual pages, completions,
                                    documents and licences
  udpbench-VERSION-TARGET.spdx.json what is linked into that program (SPDX 2.3)
  udpbench_VERSION-1_ARCH.deb       what scripts/package.py makes
  udpbench-VERSION-oci.tar          a container image of these programs, for the CPU that it is run on
  NOTES.md                          what CHANGELOG.md says of this version, and which file is for whom
  SHA256SUMS                        of all of these

Of one commit it makes the same bytes each time, in any directory; scripts/ci/test_release.py tests that. Fails if a
file is not as it was committed, if a program is not as scripts/build_boards.py wants it, or if a file in an
archive names a directory of this machine.

Needs what scripts/build_boards.py and scripts/package.py need. No root.
"""

import argparse
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools import ROOT, rows
from tools.release import source, spdx
from tools.release.archive import pack
from tools.release.image import image
from tools.release.notes import notes
from tools.release.parts import PARTS, make_parts
from tools.release.third_party import third_party
from tools.targets import RELEASED, build, sources, toolchain

EXAMPLES = """\
examples:
  scripts/release.py                                       all of it
  scripts/release.py --target aarch64-unknown-linux-musl   only this archive, and its package

exit codes: 0 done, 1 something is missing or broke, 2 bad input"""

PUBLISH = ROOT / "target/publish"
PACKAGED = {
    "x86_64-unknown-linux-musl": "amd64",
    "aarch64-unknown-linux-musl": "arm64",
    "arm-unknown-linux-musleabihf": "armhf",
}
DOCUMENTS = ["README.md", "CHANGELOG.md", "docs/*"]


def main():
    targets = arguments().target or list(RELEASED)
    if source.changes():
        sys.exit(f"error: commit or stash what was changed, a release is of a commit:\n{source.changes()}")
    shutil.rmtree(PUBLISH, ignore_errors=True)
    PUBLISH.mkdir(parents=True)
    call("build_boards.py", "--no-run", *(word for target in targets for word in ["--target", target]))
    packages = make_packages([PACKAGED[target] for target in targets if target in PACKAGED])
    make_parts()
    archives = {target: make_archive(target) for target in targets}
    container = PUBLISH / f"udpbench-{source.version()}-oci.tar"
    container.write_bytes(image({target: layer(target) for target in targets}))
    (PUBLISH / "NOTES.md").write_text(notes(archives, packages, container.name))
    files = sorted(PUBLISH.iterdir())
    lines = [(path.name, f"{path.stat().st_size:,}", sha256(path)) for path in files]
    (PUBLISH / "SHA256SUMS").write_text("".join(f"{checksum}  {name}\n" for name, _, checksum in lines))
    rows.print_table([f"in {PUBLISH.relative_to(ROOT)}", "bytes", "SHA-256"], lines)


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    some = f"only this one, of {', '.join(RELEASED)}; may be repeated"
    parser.add_argument("--target", action="append", choices=RELEASED, metavar="TARGET", help=some)
    return parser.parse_args()


def call(script, *words):
    if subprocess.run([ROOT / "scripts" / script, *words]).returncode:
        sys.exit(f"error: scripts/{script} failed; see above")


def make_packages(architectures):
    if not architectures:
        return []
    shutil.rmtree(ROOT / "target/debian", ignore_errors=True)
    call("package.py", *architectures)
    made = sorted((ROOT / "target/debian").glob("*.deb"))
    for path in made:
        shutil.copy(path, PUBLISH)
    return [path.name for path in made]


def make_archive(target):
    """The archive for one target, and the list of what is inside. Returns the archive's name."""
    stem = f"udpbench-{source.version()}-{target}"
    path = PUBLISH / f"{stem}.tar.gz"
    files = {**layer(target), **matching(ROOT, DOCUMENTS), **matching(PARTS, ["*/*"])}
    for name, file in files.items():
        refuse_paths(f"{stem}/{name}", file if isinstance(file, bytes) else file.read_bytes(), target)
    pack(path, stem, files, source.committed())
    described = spdx.document(path.name, sha256(path), target)
    (PUBLISH / f"{stem}.spdx.json").write_text(json.dumps(described, indent=1) + "\n")
    return path.name


@functools.cache
def layer(target):
    """The program and its licences, by their names in archives and in the image."""
    licences = {"THIRD-PARTY.txt": third_party(target).encode(), **matching(ROOT, ["LICENSE-*"])}
    return {"udpbench": build(target), **licences}


def matching(directory, patterns):
    return {str(path.relative_to(directory)): path for pattern in patterns for path in directory.glob(pattern)}


def refuse_paths(name, content, target):
    """Ends the script if the content names a directory that is only on this machine."""
    for directory in [*sources(toolchain(target)), str(Path.home())]:
        found = re.search(re.escape(os.fsencode(directory)) + rb"\b[^\0\n]{0,80}", content)
        if found:
            path = os.fsdecode(found[0])
            sys.exit(f"error: {name} names a directory of this machine: {path}; is RUSTFLAGS set?")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
