"""Version, commit and time of a release. Used by scripts/package.py and scripts/release.py."""

import os

from tools.targets import output_of


def version():
    return output_of(["cargo", "pkgid"]).rpartition("#")[2].rpartition("@")[2]


def commit():
    return output_of(["git", "rev-parse", "HEAD"])


def committed():
    """The time of all files of a release, in seconds since 1970: SOURCE_DATE_EPOCH if it is set, else the commit's."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output_of(["git", "log", "-1", "--format=%ct"]))


def changes():
    """The files that are not as they were committed. Of results/ nothing is released, and runs write there."""
    return output_of(["git", "status", "--porcelain", "--", ".", ":!results"])
