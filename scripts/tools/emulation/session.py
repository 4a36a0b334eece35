"""Runs one command on an emulated board and takes apart what comes over its serial line."""

import base64
import gzip
from dataclasses import dataclass, field

from tools.emulation.machines import Boot

# A machine that was stopped before the command was over.
UNFINISHED = 97


@dataclass
class Session:
    """The output, files and exit code of a boot."""

    code: int = UNFINISHED
    output: list = field(default_factory=list)
    # Contents by path in the guest.
    files: dict = field(default_factory=dict)


def run(machine, kit, files, command, fetch=(), seconds=600, show=None, plug=None):
    """Boots `machine`, runs `command`, fetches files. `show` gets every line as it comes."""
    session = Session()
    begun, blanks, place, packed = False, 0, None, []
    with Boot(machine, kit, files, command, fetch, plug) as boot:
        for line in boot.lines(seconds):
            if line == "@@BEGIN":
                begun = True
            elif line.startswith("@@CODE "):
                session.code = int(line.split()[1])
            elif line.startswith("@@FILE "):
                place, packed = line.split()[1], []
            elif line == "@@END":
                session.files[place] = gzip.decompress(base64.b64decode("".join(packed)))
                place = None
            elif place:
                packed.append(line)
            elif begun and session.code == UNFINISHED:
                # The last one is not the command's: it ends a line that the command did not.
                lines = [""] * blanks + [line]
                blanks = 0 if line else blanks + 1
                for shown in lines if line else []:
                    session.output.append(shown)
                    if show:
                        show(shown)
    return session
