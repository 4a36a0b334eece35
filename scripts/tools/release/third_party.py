"""The libraries that are linked into udpbench, with their licences: what a package or an archive that carries
the program has to carry, too. Used by scripts/package.py and scripts/release.py."""

from pathlib import Path

from tools.release.linked import BROUGHT, crates, licence

LICENCE_FILES = ("license", "licence", "copying", "copyright", "notice", "unlicense")


def third_party(target):
    """The text of THIRD-PARTY.txt."""
    lines = ["udpbench is linked statically. It contains:\n"]
    lines += [f"- {library.title}: {library.licence}, {library.url}" for library in BROUGHT]
    packages = crates(target)
    for package in packages:
        lines.append(f"- {package['name']} {package['version']}: {licence(package)}, {package['repository']}")
    # Many crates share one text.
    users = {}
    for package in packages:
        for text in licence_texts(package):
            users.setdefault(text, []).append(package["name"])
    for text, names in users.items():
        lines.append(f"\n{'=' * 78}\n{', '.join(names)}\n{'=' * 78}\n\n{text}")
    return "\n".join(lines) + "\n"


def licence_texts(package):
    for path in sorted(Path(package["manifest_path"]).parent.iterdir()):
        if path.is_file() and path.name.lower().startswith(LICENCE_FILES):
            yield path.read_text(errors="replace").strip()
