"""`udpbench ab` of a build against itself, beside programs that take its CPUs: how it ends."""

import csv
import io
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import ClassVar

from tools.calibration.trials import Trials, counted

# Spins until its parent is gone. The line says that it has begun.
LOOP = "import os\nparent = os.getppid()\nprint(flush=True)\nwhile os.getppid() == parent: pass"

COLUMNS = [
    "trial", "loops", "exit_code", "seconds", "rounds", "verdict", "change_pct_low", "change_pct_high", "p_value",
    "reason", "version",
]  # fmt: skip

ENDINGS = {
    3: "slower, dearer or broken: a false alarm",
    4: "unclear",
    0: "surely not slower",
    1: "an error",
}


class Busy(Trials):
    # Nothing is delayed: the build that people get.
    FEATURES: ClassVar = ()
    QUICK: ClassVar = {
        "seed": 1,
        "sessions": 1,
        "trials": 1,
        "loops": [0, 2],
        "options": "--engine std --payload 300 --threads 2",
    }

    def kinds(self):
        return {f"loops-{loops}": self.plan["trials"] for loops in self.plan["loops"]}

    def is_done(self, name):
        return name in self.rows()

    def measure(self, name, kind):
        loops = int(kind.rpartition("-")[2])
        # Of a trial that was interrupted.
        self.log(name).unlink(missing_ok=True)
        command = [self.udpbench, "ab", self.udpbench, self.udpbench, "--seed", str(self.seed(name))]
        command += ["--output", self.log(name), "--format", "csv", "--", *self.plan["options"].split()]
        with busy_loops(loops):
            began = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True)
            seconds = time.monotonic() - began
        cases = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["kind"] == "case"]
        case = cases[0] if cases else {"reason": done.stderr.strip()[-500:]}
        version = subprocess.check_output([self.udpbench, "--version"], text=True).strip()
        own = {"trial": name, "loops": loops, "exit_code": done.returncode, "seconds": f"{seconds:.1f}"}
        self.append({**{column: case.get(column, "") for column in COLUMNS}, **own, "version": version})

    @property
    def table(self):
        return self.directory / "trials.csv"

    def rows(self):
        if not self.table.exists():
            return {}
        with open(self.table, newline="") as file:
            return {row["trial"]: row for row in csv.DictReader(file)}

    def append(self, row):
        is_new = not self.table.exists()
        with open(self.table, "a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow(row)

    def answers(self, made, _by):
        rows = self.rows()
        for loops in [*map(str, self.plan["loops"]), "any"]:
            codes = [rows[name]["exit_code"] for name, _ in made if loops in [rows[name]["loops"], "any"]]
            for code, ending in ENDINGS.items():
                what = f"beside {loops} busy loops: exit code {code}, {ending}"
                yield counted(what, codes, lambda found, code=code: found == str(code))


@contextmanager
def busy_loops(count):
    """Keeps this many processes busy."""
    started = [subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for loop in started:
            loop.stdout.readline()
        yield
    finally:
        for loop in started:
            loop.kill()
            loop.wait()
            loop.stdout.close()
