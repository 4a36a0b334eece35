#!/usr/bin/env python3
"""Tests that a spreadsheet takes results for what they are: opens CSV in LibreOffice, headless.

usage: scripts/ci/test_spreadsheets.py [--udpbench FILE] [-v] [NAME OF A TEST]...

Needs LibreOffice Calc (apt-get install --no-install-recommends libreoffice-calc-nogui), no root. Without
--udpbench it builds a release. Measures for some seconds first; nothing is left behind.
"""

import csv
import itertools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import log
from tools.binary import take_binary
from tools.testing import calc

BINARY = None
# Engines that batch and that do not, one skipped, 3 blocks, 2 payloads.
RUN = """--engine std,mmsg,mio-exhaustive --threads 1,2 --payload 26,300 --ip v4 --connection connected
         --board generic --heat 0s --warmup 5ms --duration 60ms --columns all -o run.csv"""
# With a decimal point, and with a decimal comma.
LANGUAGES = ["en_US", "de_DE"]
# Facts whose texts a spreadsheet would love to take for a date, a formula, a time or a number.
TROUBLE = {
    "isolated_cpus": "2-3",
    "lo_rps_cpus": [1, 2],
    "nics": [{"name": "eth0", "irqs": [], "irq_cpus": [0, 1], "rps_cpus": []}],
    "model": "1:30",
    "soc": "3/4/2025",
    "kernel": "6.12.1",
    "cpu_model": 'Cortex-A72 + "Cortex-A53"',
    "governor": "  two  spaces ",
    "virtualization": "TRUE",
}


class Spreadsheets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory(prefix="udpbench-test-")
        cls.addClassCleanup(room.cleanup)
        cls.room = Path(room.name)
        cls.calc = calc.Calc(cls.room)
        udpbench(cls.room, *RUN.split())
        cls.columns, *cls.rows = read(cls.room / "run.csv")
        assert len(cls.rows) > 9
        cls.numbers = numeric_columns(cls.room)
        trouble(cls.room, "trouble", TROUBLE)

    def check(self, fods, rows):
        """Each cell of the only sheet is of its kind and has its value, and there is no other."""
        (cells,) = calc.sheets(fods)
        kinds = {"float": 0, "string": 0}
        header, *rows = rows
        for n, row in enumerate([header, *rows]):
            for column, text in enumerate(row):
                found = cells.pop((n, column), None)
                if not text:
                    self.assertIsNone(found, (header[column], n))
                    continue
                # The list of one CPU, `1`, is no list to anybody who does not know the column.
                is_number = n > 0 and (header[column] in self.numbers or text.isdecimal())
                wanted = ("float", float(text)) if is_number else ("string", text)
                self.assertEqual(found, wanted, (header[column], n))
                kinds[wanted[0]] += 1
        self.assertEqual(cells, {})
        self.assertGreater(min(kinds.values()), 100, kinds)

    def test_a_csv_opens_as_numbers_and_texts(self):
        for name, language in itertools.product(["run.csv", "trouble.csv"], LANGUAGES):
            with self.subTest(name, language=language):
                self.check(self.calc.convert(self.room / name, "fods", language), read(self.room / name))

    def test_decimal_commas_open_as_numbers_where_they_are_usual(self):
        udpbench(self.room, "summarize", "run.jsonl", "--columns", "all", "--decimal-comma", "-o", "comma.csv")
        fods = self.calc.convert(self.room / "comma.csv", "fods", "de_DE", read=calc.READ_GERMAN)
        self.check(fods, read(self.room / "run.csv"))

    def test_no_text_of_a_csv_is_a_formula(self):
        values = {"preemption": "=1+2", "machine": "-1+2", "model": "@SUM(1)", "kernel": "+1+1"}
        trouble(self.room, "formulas", values)
        for language in LANGUAGES:
            with self.subTest(language=language):
                fods = self.calc.convert(self.room / "formulas.csv", "fods", language)
                self.check(fods, read(self.room / "formulas.csv"))

    def test_a_csv_goes_through_other_formats_without_loss(self):
        for between in "xlsx", "ods":
            with self.subTest(between):
                there = self.calc.convert(self.room / "trouble.csv", between)
                self.compare(read(self.calc.convert(there, "csv")), read(self.room / "trouble.csv"))

    def compare(self, found, rows):
        """Compares cell by cell; numbers as numbers: 300 is 300.0."""
        header, *rows = rows
        self.assertEqual(found.pop(0), header)
        self.assertEqual(len(found), len(rows))
        for there, here in zip(found, rows):
            for column, one, other in zip(header, there, here, strict=True):
                same = float(one) == float(other) if column in self.numbers and one and other else one == other
                self.assertTrue(same, f"{column}: {one!r} was {other!r}")


def read(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))


def trouble(room, name, values):
    """NAME.jsonl and NAME.csv: the run on a machine with these facts."""
    objects = log.objects((room / "run.jsonl").read_text(encoding="utf-8"))
    objects[0]["header"]["environment"]["host"].update(values)
    (room / f"{name}.jsonl").write_text(log.lines(objects), encoding="utf-8")
    udpbench(room, "summarize", f"{name}.jsonl", "--columns", "all", "-o", f"{name}.csv")


def udpbench(room, *words):
    done = subprocess.run([BINARY, *words], cwd=room, capture_output=True, text=True)
    # 1: a case failed, as it may on a busy machine. Its row is as good as any here.
    if done.returncode not in (0, 1):
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done.stdout


def numeric_columns(room):
    """The columns of numbers, by their type in JSON, not by their looks."""
    rows = json.loads(udpbench(room, "summarize", "run.jsonl", "--format", "json"))["rows"]
    is_number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)  # noqa: E731
    return {name for row in rows for name, value in row.items() if is_number(value)}


if __name__ == "__main__":
    BINARY = take_binary(__doc__, "--udpbench")
    if not calc.find():
        print("error: no LibreOffice: apt-get install --no-install-recommends libreoffice-calc-nogui", file=sys.stderr)
        sys.exit(2)
    unittest.main()
