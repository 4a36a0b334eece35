"""The end of a command: its exit code, and what it says when it is interrupted or something breaks."""

import sys


class Broken(Exception):
    """Something did not work; the reason, for people."""


def run(main, interrupted=None):
    """Ends the process with the exit code that `main` returns: 1 if something broke, 130 after Ctrl-C."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        if interrupted:
            print(interrupted, file=sys.stderr)
        sys.exit(130)
    except Broken as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(1)
