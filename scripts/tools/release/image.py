"""A container image for several CPUs, as one OCI archive (https://github.com/opencontainers/image-spec). Used by
scripts/release.py.

Its only layer is the static program with its licences: there is no base image. `index.json` names one image index,
which names a manifest for each platform, so that engines choose the one for their CPU.
"""

import hashlib
import json
import tomllib
from datetime import UTC, datetime

from tools import ROOT
from tools.release import source
from tools.release.archive import compress, tar

PLATFORMS = {
    "x86_64-unknown-linux-musl": {"architecture": "amd64"},
    "aarch64-unknown-linux-musl": {"architecture": "arm64", "variant": "v8"},
    "armv7-unknown-linux-musleabihf": {"architecture": "arm", "variant": "v7"},
    "arm-unknown-linux-musleabihf": {"architecture": "arm", "variant": "v6"},
}
TYPE = "application/vnd.oci.image"
# Results go to the directory that `--volume "$PWD:/results"` brings in.
CONFIG = {"Entrypoint": ["/udpbench"], "WorkingDir": "/results"}


def image(files_by_target):
    """The bytes of the archive. Of each target: the files of its layer, by their names in it."""
    blobs = Blobs()
    manifests = [manifest(blobs, target, files) for target, files in files_by_target.items()]
    index = {"schemaVersion": 2, "mediaType": f"{TYPE}.index.v1+json", "manifests": manifests, "annotations": labels()}
    name = {
        "org.opencontainers.image.ref.name": source.version(),
        "io.containerd.image.name": f"localhost/udpbench:{source.version()}",
    }
    whole = {**blobs.add(index, f"{TYPE}.index.v1+json"), "annotations": name}
    layout = {
        "oci-layout": encoded({"imageLayoutVersion": "1.0.0"}),
        "index.json": encoded({"schemaVersion": 2, "mediaType": f"{TYPE}.index.v1+json", "manifests": [whole]}),
    }
    return tar({**layout, **blobs.files}, source.committed())


def manifest(blobs, target, files):
    """Adds the image of one platform; the descriptor of its manifest."""
    platform = {"os": "linux", **PLATFORMS[target]}
    layer = tar(files, source.committed())
    config = {
        **platform,
        "created": created(),
        "config": {**CONFIG, "Labels": labels()},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        "history": [{"created": created(), "created_by": "scripts/release.py"}],
    }
    described = {
        "schemaVersion": 2,
        "mediaType": f"{TYPE}.manifest.v1+json",
        "config": blobs.add(config, f"{TYPE}.config.v1+json"),
        "layers": [blobs.add(compress(layer), f"{TYPE}.layer.v1.tar+gzip")],
    }
    return {**blobs.add(described, f"{TYPE}.manifest.v1+json"), "platform": platform}


def labels():
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    told = {
        "title": "udpbench",
        "description": package["description"],
        "version": source.version(),
        "revision": source.commit(),
        "created": created(),
        "licenses": "MIT OR Apache-2.0",
        "source": package.get("repository"),
    }
    return {f"org.opencontainers.image.{name}": value for name, value in told.items() if value}


def created():
    return f"{datetime.fromtimestamp(source.committed(), UTC):%Y-%m-%dT%H:%M:%SZ}"


class Blobs:
    """The contents of an image, each named by its digest."""

    def __init__(self):
        self.files = {}

    def add(self, content, media_type):
        """Adds bytes, or an object as JSON; their descriptor."""
        content = content if isinstance(content, bytes) else encoded(content)
        self.files[f"blobs/{digest(content).replace(':', '/')}"] = content
        return {"mediaType": media_type, "digest": digest(content), "size": len(content)}


def digest(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
