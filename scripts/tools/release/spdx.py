"""Lists the contents of an archive in SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/). Used by scripts/release.py."""

import re
import uuid
from datetime import UTC, datetime

from tools.release import source
from tools.release.linked import BROUGHT, checksums, crates, licence, rust

PROGRAM = "SPDXRef-udpbench"


def document(archive, sha256, target):
    """A document that names the archive, and all that is linked into the program in it."""
    libraries = [*(brought(library, rust(target)) for library in BROUGHT), *all_crates(target)]
    created = datetime.fromtimestamp(source.committed(), UTC)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": archive,
        # One for each content, and the same whenever it is made again.
        "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, sha256).urn,
        "creationInfo": {
            "created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
            "creators": ["Tool: udpbench-scripts-release"],
        },
        "packages": [program(archive, sha256), *libraries],
        "relationships": [
            relation("SPDXRef-DOCUMENT", "DESCRIBES", PROGRAM),
            *(relation(PROGRAM, "STATIC_LINK", library["SPDXID"]) for library in libraries),
        ],
    }


def program(archive, sha256):
    return {
        **package("udpbench", source.version(), "MIT OR Apache-2.0", sha256),
        "SPDXID": PROGRAM,
        "packageFileName": archive,
        "primaryPackagePurpose": "APPLICATION",
        "sourceInfo": f"built from commit {source.commit()}",
    }


def brought(library, version):
    described = package(library.name, f"rust-{version}", library.licence)
    return {**described, "homepage": library.url, "sourceInfo": f"{library.title}; as Rust {version} brings it"}


def all_crates(target):
    sums = checksums()
    for crate in crates(target):
        name, version = crate["name"], crate["version"]
        locator = f"pkg:cargo/{name}@{version.replace('+', '%2B')}"
        yield {
            **package(name, version, licence(crate), sums[name, version]),
            **({"homepage": crate["repository"]} if crate["repository"] else {}),
            "primaryPackagePurpose": "LIBRARY",
            "externalRefs": [
                {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
            ],
        }


def package(name, version, licence, sha256=None):
    """Fields of every package; the licence is the one that the package itself declares."""
    return {
        "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.]", "-", f"{name}-{version}"),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        **({"checksums": [{"algorithm": "SHA256", "checksumValue": sha256}]} if sha256 else {}),
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
