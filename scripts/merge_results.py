#!/usr/bin/env python3
"""Merges the results of several boards into one CSV: a first column `host`, then udpbench's own columns."""

import argparse
import csv
import io
import sys
from pathlib import Path

EXAMPLES = """\
examples:
  scripts/merge_results.py attic=a/run.csv cellar=b/run.csv >merged.csv
  scripts/merge_results.py -o merged.csv attic.csv cellar.csv     the hosts are attic and cellar

Columns are matched by name. Files whose columns differ come from other plans or versions of udpbench, and are
refused, as an empty field would look like "not measured"; udpbench summarize FILE.jsonl --columns all makes them alike.

exit codes: 0 done, 2 bad input"""


class Refusal(Exception):
    """The file, what is wrong with it, and the fix."""


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    parser.add_argument("files", nargs="+", metavar="[HOST=]CSV", help="without HOST, the file's name without .csv")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="a new file [default: standard output]")
    args = parser.parse_args()
    try:
        merged = merge([named(word) for word in args.files])
        write(merged, args.output)
    except (Refusal, OSError, UnicodeDecodeError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)


def named(word):
    host, equals, path = word.partition("=")
    return (host, Path(path)) if equals else (Path(word).stem, Path(word))


def merge(sources):
    """The lines of the merged file, its header first."""
    hosts = [host for host, _ in sources]
    for host in hosts:
        if hosts.count(host) > 1:
            raise Refusal(f"two files are of the host {host}: name them, as in attic=a/run.csv cellar=b/run.csv")
    lines, columns, first = [], None, None
    for host, path in sources:
        header, rows = read(path)
        if columns is None:
            columns, first = header, path
            lines.append(["host", *columns])
        require_same(columns, first, header, path)
        lines += [[host, *(row[header.index(column)] for column in columns)] for row in rows]
    return lines


def read(path):
    text = path.read_text(encoding="utf-8-sig")
    whole, newline, torn = text.rpartition("\n")
    if torn:
        print(f"warning: {path}: its last line is cut off, and left out", file=sys.stderr)
    header, *rows = list(csv.reader(io.StringIO(whole + newline))) or [[]]
    if "case" not in header:
        raise Refusal(f"{path}: its first line has no column `case`: it is no CSV file of udpbench")
    if "host" in header:
        raise Refusal(f"{path}: it has a column `host`: it is merged already; name the boards' own files")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise Refusal(
                f"{path}, row {number}: {len(row)} fields, and {len(header)} columns; take it out, or repair it"
            )
    return header, rows


def require_same(columns, first, header, path):
    missing = [column for column in columns if column not in header]
    new = [column for column in header if column not in columns]
    if missing or new:
        said = [f"it lacks {', '.join(missing)}"] if missing else []
        said += [f"it has {', '.join(new)} besides"] if new else []
        raise Refusal(
            f"{path}: {', and '.join(said)}, unlike {first};"
            " measure both with one version of udpbench, and make them with --columns all"
        )


def write(lines, output):
    # Never over a file that is there.
    with open(output, "x", newline="", encoding="utf-8") if output else sys.stdout as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(0)
