"""LibreOffice Calc, headless: converts files, and says what it took each cell for."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

# Comma, double quote, UTF-8, from the first line on, all columns by their looks, English (USA), no number in
# quotes, no dates invented: what docs/RESULTS.md says to choose.
READ = "44,34,76,1,,1033,false,false"
# The same for semicolons and decimal commas: German (Germany).
READ_GERMAN = "59,34,76,1,,1031,false,false"
# Options for writing: as above; then every digit, not the shown ones; values, not formulas; no space
# taken away; the first sheet.
WRITTEN = "44,34,76,1,,1033,false,false,false,false,false,1"
_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"


def find():
    return shutil.which("soffice") or shutil.which("libreoffice")


class Calc:
    """With a profile of its own, so that nobody's settings matter, nor one that is open."""

    def __init__(self, room):
        self.room = Path(room)
        self.profile = (self.room / "profile").as_uri()

    def convert(self, file, to, language="en_US", read=READ):
        """Converts into a directory of its own, as somebody would who works in this language."""
        where = Path(tempfile.mkdtemp(dir=self.room))
        target = f"csv:Text - txt - csv (StarCalc):{WRITTEN}" if to == "csv" else to
        command = [find(), f"-env:UserInstallation={self.profile}", "--headless"]
        command += [f"--infilter=CSV:{read}"] if Path(file).suffix == ".csv" else []
        command += ["--convert-to", target, "--outdir", where, file]
        environment = {**os.environ, "LC_ALL": f"{language}.UTF-8"}
        said = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        # The name of the sheet may be in that of its file.
        made = list(where.glob(f"{Path(file).stem}*.{to}"))
        if len(made) != 1:
            raise AssertionError(f"no {to} of {file}: {said.stdout}{said.stderr}")
        return made[0]


def sheets(fods):
    """The sheets of a flat OpenDocument spreadsheet: for each, the kind and content of each cell that holds something,
    by row and column from 0."""
    return [_cells(table) for table in ElementTree.parse(fods).getroot().iter(_tag("table"))]


def _tag(name):
    return f"{{{_NAMES}table:1.0}}{name}"


def _cells(table):
    found, row = {}, 0
    for line in _lines(table):
        column = 0
        for cell in line:
            if cell.tag not in (_tag("table-cell"), _tag("covered-table-cell")):
                continue
            kind = cell.get(f"{{{_NAMES}office:1.0}}value-type")
            repeated = int(cell.get(_tag("number-columns-repeated"), 1))
            if kind:
                for offset in range(repeated):
                    found[row, column + offset] = (kind, _value(cell, kind))
            column += repeated
        row += int(line.get(_tag("number-rows-repeated"), 1))
    return found


def _lines(table):
    """Rows may be in groups, such as the header's."""
    for child in table:
        if child.tag == _tag("table-row"):
            yield child
        elif child.tag in (_tag("table-header-rows"), _tag("table-rows"), _tag("table-row-group")):
            yield from _lines(child)


def _value(cell, kind):
    if kind == "float":
        return float(cell.get(f"{{{_NAMES}office:1.0}}value"))
    paragraphs = cell.findall(f"{{{_NAMES}text:1.0}}p")
    return "\n".join(map(_text, paragraphs))


def _text(node):
    """With the spaces that OpenDocument counts instead of writing them."""
    text = node.text or ""
    for child in node:
        if child.tag == f"{{{_NAMES}text:1.0}}s":
            text += " " * int(child.get(f"{{{_NAMES}text:1.0}}c", 1))
        text += _text(child) + (child.tail or "")
    return text
