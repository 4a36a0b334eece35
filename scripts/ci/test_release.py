#!/usr/bin/env python3
"""Tests what scripts/release.py has made in target/publish/.

Builds it again from a clone of the commit, in another directory, with another cargo home and time zone, and
wants the same bytes. Then unpacks each archive and runs the program in it under qemu-user, on the least CPU
that it is for: --version, engines, and a sweep with closed accounting. The container image has to hold the same
programs. Prints what came of it.

Needs what scripts/release.py needs, qemu-user-static, and room for a second build: 300 MB for each target.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT, rows
from tools.release import source
from tools.release.image import PLATFORMS, digest
from tools.targets import RELEASED, cargo_home, output_of

EXAMPLES = """\
examples:
  scripts/ci/test_release.py                                        builds all of it again
  scripts/ci/test_release.py --again x86_64-unknown-linux-musl      only this target, and runs all
  scripts/ci/test_release.py --no-again                             builds nothing, and runs all

exit codes: 0 all is well, 1 it is not, 2 bad input"""

PUBLISH = ROOT / "target/publish"
IMAGE = f"udpbench-{source.version()}-oci.tar"
# The oldest CPU of each kind: any x86-64, a Raspberry Pi 3, a BeagleBone Black, and a Pi 1, Zero and Zero W.
CPUS = {"x86_64": "qemu64", "aarch64": "cortex-a53", "armv7": "cortex-a8", "arm": "arm1176"}
WANTED = ["udpbench", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"]
WANTED += ["man/udpbench.1", "man/udpbench-plan.1", "completions/udpbench", "completions/_udpbench"]
SWEEP = "--engine std --threads 1 --payload 300 --duration 50ms --rounds 6 --output"


def main():
    args = arguments()
    archives = {target: PUBLISH / f"udpbench-{source.version()}-{target}.tar.gz" for target in RELEASED}
    made = {target: path for target, path in archives.items() if path.exists()}
    if not made:
        sys.exit(f"error: there is no archive in {PUBLISH.relative_to(ROOT)}: scripts/release.py makes them")
    again = args.again or ([] if args.no_again else list(made))
    for target in set(again) - set(made):
        sys.exit(f"error: --again {target}: there is no {archives[target].name}: scripts/release.py makes it")
    second = build_again(again, whole=set(again) == set(made)) if again else {}
    problems = differing(listed(PUBLISH), "not what SHA256SUMS says")
    problems += differing(second, "another in a second build")
    lines = []
    for target, path in made.items():
        cpu, outcome, found = run(RELEASED[target], path)
        problems += [f"{path.name}: {problem}" for problem in found]
        lines.append([path.name, f"{path.stat().st_size:,}", cpu, outcome])
    rows.print_table(["archive", "bytes", "emulated", "outcome"], lines)
    if second:
        print()
        lines = [[name, sha256(PUBLISH / name), checksum] for name, checksum in second.items()]
        rows.print_table(["file", "SHA-256", "of a second build"], lines)
    problems += [f"{IMAGE}: {problem}" for problem in image_problems(PUBLISH / IMAGE, made)]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    some = f"build only this one again, of {', '.join(RELEASED)}; may be repeated"
    parser.add_argument("--again", action="append", choices=RELEASED, metavar="TARGET", help=some)
    parser.add_argument("--no-again", action="store_true", help="build nothing again")
    return parser.parse_args()


def build_again(targets, whole):
    """The checksums of a second build by file name. Only that of all targets has the same notes and image."""
    with tempfile.TemporaryDirectory() as directory:
        clone, home = Path(directory) / "another/clone", Path(directory) / "home"
        git(["clone", "--quiet", "--shared", "--no-checkout", ROOT, clone])
        git(["-C", clone, "checkout", "--quiet", "--detach", source.commit()])
        # Downloads are shared, under another path.
        home.mkdir()
        for path in cargo_home().iterdir():
            (home / path.name).symlink_to(path)
        environment = {**os.environ, "CARGO_HOME": str(home), "TZ": "Pacific/Kiritimati"}
        command = [clone / "scripts/release.py", *(word for target in targets for word in ["--target", target])]
        if subprocess.run(command, env=environment).returncode:
            sys.exit("error: the second build failed; see above")
        checksums = listed(clone / "target/publish")
    return {name: checksum for name, checksum in checksums.items() if whole or name not in [IMAGE, "NOTES.md"]}


def git(words):
    subprocess.run(["git", *words], check=True)


def image_problems(path, archives):
    """Checks the OCI archive: each blob is what its name says, each platform's program is that of an archive."""
    with tarfile.open(path) as archive:
        files = {entry.name: archive.extractfile(entry).read() for entry in archive}
        if {entry.mtime for entry in archive} != {source.committed()}:
            yield "its files have other times than the commit"

    def blob(descriptor):
        content = files.pop(f"blobs/{descriptor['digest'].replace(':', '/')}", b"")
        if digest(content) != descriptor["digest"] or len(content) != descriptor["size"]:
            raise ValueError(f"{descriptor['digest']} is missing, or not what its name says")
        return content

    try:
        [whole] = json.loads(files.pop("index.json"))["manifests"]
        manifests = {platform_of(it): json.loads(blob(it)) for it in json.loads(blob(whole))["manifests"]}
        configs = {platform: json.loads(blob(it["config"])) for platform, it in manifests.items()}
        layers = {platform: gzip.decompress(blob(*it["layers"])) for platform, it in manifests.items()}
    except (KeyError, ValueError) as problem:
        yield str(problem)
        return
    if set(files) != {"oci-layout"}:
        yield f"nothing names {', '.join(sorted(set(files) - {'oci-layout'}))}"
    for target, archive in archives.items():
        platform = " ".join(PLATFORMS[target].values())
        program = f"{archive.name.removesuffix('.tar.gz')}/udpbench"
        if platform not in manifests:
            yield f"there is no {platform}"
        elif configs[platform]["rootfs"]["diff_ids"] != [digest(layers[platform])]:
            yield f"{platform}: diff_ids are not of its layer"
        elif configs[platform]["config"]["Entrypoint"] != ["/udpbench"]:
            yield f"{platform}: another entrypoint"
        elif in_tar(layers[platform], "udpbench") != in_tar(gzip.decompress(archive.read_bytes()), program):
            yield f"{platform}: another program than in {archive.name}"


def platform_of(descriptor):
    return " ".join(descriptor["platform"].get(name, "") for name in ["architecture", "variant"]).strip()


def in_tar(content, name):
    """The content, mode and owner of this file."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        entry = archive.getmember(name)
        return archive.extractfile(entry).read(), entry.mode, entry.uid


def listed(directory):
    lines = (directory / "SHA256SUMS").read_text().splitlines()
    return {name: checksum for checksum, name in (line.split("  ", 1) for line in lines)}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"


def differing(checksums, problem):
    return [f"{name}: {problem}" for name, checksum in checksums.items() if sha256(PUBLISH / name) != checksum]


def run(target, path):
    """The CPU that the archive's program was tried on, what came of it, and what was wrong."""
    cpu = CPUS[target.triple.partition("-")[0]]
    with tempfile.TemporaryDirectory() as directory:
        with tarfile.open(path) as archive:
            archive.extractall(directory, filter="data")
        top = Path(directory) / path.name.removesuffix(".tar.gz")
        problems = [f"{name} is missing" for name in WANTED if not (top / name).is_file()]
        problems += not_listed(path, top / "udpbench")
        program, output = [*target.runner("-cpu", cpu).split(), top / "udpbench"], top / "rows.csv"
        try:
            version = output_of([*program, "--version"])
            engines = output_of([*program, "engines"])
            output_of([*program, *SWEEP.split(), output])
        except subprocess.CalledProcessError as error:
            return cpu, "failed", [*problems, str(error)]
        results = rows.read(output)
    problems += rows.problems(results)
    if version != f"udpbench {source.version()}":
        problems.append(f"--version says {version}")
    able = len(re.findall(r"^ [a-z].* yes ", engines, re.M))
    if not able:
        problems.append("engines says that none can run")
    ran = sum(row["status"] == "ok" for row in results)
    return cpu, f"{version}; {able} engines can run; sweep: {ran} of {len(results)} ok", problems


def not_listed(path, program):
    """The crates whose sources the program names, for a panic, and the list beside the archive does not."""
    packages = json.loads(path.with_name(path.name.replace(".tar.gz", ".spdx.json")).read_text())["packages"]
    known = {f"{package['name']}-{package['versionInfo']}" for package in packages}
    named = set(re.findall(r"/cargo/registry/src/[^/]+/([^/\0]+)/", program.read_bytes().decode("latin-1")))
    missing = [f"{crate} is in the program, and not in the list" for crate in sorted(named - known)]
    return missing if named else ["the program names no crate's source: the list cannot be checked"]


if __name__ == "__main__":
    sys.exit(main())
