#!/usr/bin/env python3
"""Opens reports in a headless Chromium, at three widths, by day and by night, and on paper: of a sweep over all
engines, two smaller sweeps that are compared, a default sweep, round trips, a search, and a soak.

Fails if the console says anything, a section or a picture is missing or has no size, a label of a chart is cut or
overlaps another, a page is wider than its window, a section is missing on paper, anything is fetched, or the page of
one run is 1.15 MB or larger.
Leaves pictures of the pages in target/page/ to be looked at. Needs Python 3 and Chromium (apt-get install
--no-install-recommends chromium fonts-dejavu-core); talks to it through pipes, so no port is opened. Takes a few
minutes.
"""

import argparse
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT

EXAMPLES = """\
examples:
  scripts/ci/test_page.py                         builds, sweeps all engines, tests the reports
  scripts/ci/test_page.py --results run.jsonl     tests the report of these results, and of them against themselves
  scripts/ci/test_page.py --udpbench ./udpbench   with this program, without building one

exit codes: 0 all is as it must be, 1 something is not, 2 bad input"""

SMALLER_THAN_BYTES = 1_150_000
CHARTS = ["speed", "cpu"]
# Sections that only runs with something to say have.
TROUBLES = ("reasons", "warnings")
SHORT = ["--duration", "30ms", "--warmup", "1ms", "--heat", "0s"]
SWEEP = [
    "--engine",
    "all",
    "--threads",
    "1,2,4",
    "--payload",
    "300,1460",
    "--connection",
    "connected,unconnected",
    "--ip",
    "v4,v6",
]
# Four blocks: fewer do not tell what became of an engine.
SMALL_SWEEP = ["--engine", "all", "--threads", "1,2,4", "--payload", "300,1460"]
SEARCH = ["find", "lossless", "--engine", "std,mmsg", "--payload", "300", "--max-case-time", "4s"]
# Kinds of pages of a log that is no sweep, and their only section.
LOGS = {"find": "search-0", "soak": "soak-0"}
# name, width, height, whether it is a phone, colours
VIEWS = [
    (f"{width}-{colours}", width, 900, width < 500, colours)
    for width in (380, 800, 1400)
    for colours in ("light", "dark")
]
CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]

# Measures of the page, by itself.
LOOK = """(() => {
  const all = (what, where = document) => [...where.querySelectorAll(what)];
  const seen = what => all(what).filter(element => element.checkVisibility());
  const sheet = document.documentElement;
  const cut = new Set(), crowded = new Set();
  let wide = 0, empty = 0;
  const labels = chart => {
    const words = document.createTreeWalker(chart, NodeFilter.SHOW_TEXT), found = [];
    while (words.nextNode()) {
      const word = words.currentNode, range = document.createRange();
      if (!word.data.trim() || word.parentElement.closest(".plot :not(em), .unseen")) continue;
      range.selectNodeContents(word);
      const edge = (word.parentElement.ownerSVGElement || chart).getBoundingClientRect();
      for (const box of range.getClientRects()) found.push({text: word.data, box, edge});
    }
    return found;
  };
  const name = chart => (chart.querySelector("caption, figcaption") || chart).textContent;
  const measure = charts => {
    wide = Math.max(wide, sheet.scrollWidth - sheet.clientWidth);
    for (const chart of charts) {
      const box = chart.getBoundingClientRect();
      if (box.width < 100 || box.height < 20) empty += 1;
      const found = labels(chart);
      for (const {text, box, edge} of found)
        if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 ||
            box.bottom > edge.bottom + 1) cut.add(text);
      found.forEach((one, n) => found.slice(n + 1).forEach(other => {
        const [a, b] = [one.box, other.box];
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
          crowded.add(one.text + " | " + other.text + " (" + name(chart) + ")");
      }));
    }
  };
  measure(seen("figure, table.tracks, nav, .quality"));
  return {
    hidden: all("main > section").filter(section => !section.checkVisibility())
      .map(section => section.getAttribute("aria-labelledby") || section.id),
    pictures: all("svg").length,
    empty,
    unnamed: all("svg:not([role=img][aria-label])").length,
    uncaptioned: all("figure:not(:has(figcaption)), table:not(:has(caption))").length,
    cut: [...cut],
    crowded: [...crowded],
    wide,
    sections: all("main section[aria-labelledby]").map(section => section.getAttribute("aria-labelledby")),
    bare: ["latency", "speed", "cpu", "comparison", "sweep-0", "sweep-1", "search-0", "soak-0"]
      .map(id => document.getElementById(id))
      .filter(heading => heading && !heading.closest("section").querySelector("table.tracks, svg")).length,
    fetched: performance.getEntriesByType("resource").length,
    marks: seen(".plot b").length,
    paper: getComputedStyle(document.body).backgroundColor,
    words: getComputedStyle(document.querySelector("th")).color,
  };
})()"""
# Positions of the sections that are read first: a whole page is too tall to look at.
BOXES = """Object.fromEntries(["comparison", "summary", "latency", "speed", "cpu", "sweep-1", "search-0", "soak-0"]
  .map(id => document.getElementById(id)).filter(found => found)
  .map(found => [found.id, found.closest("section").getBoundingClientRect()])
  .map(([id, box]) => [id, {x: 0, y: box.y + scrollY, width: innerWidth, height: box.height, scale: 1}]))"""


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as place:
        program = options.udpbench or build()
        if options.results:
            pages = {"given": [options.results], "twice": [options.results] * 2}
        else:
            small = [sweep(program, Path(place, name), SMALL_SWEEP) for name in ("before", "after")]
            pages = {
                "one": [sweep(program, Path(place, "all"), SWEEP)],
                "two": small,
                "default": [sweep(program, Path(place, "usual"), [])],
                "latency": [sweep(program, Path(place, "round-trips"), ["latency"])],
                "find": [search(program, Path(place, "search.jsonl"))],
                "soak": [soak(program, Path(place, "soak.jsonl"))],
            }
        faults = []
        for name, results in pages.items():
            page = report(program, results, Path(place, f"{name}.html"))
            found = Browser(options.chromium, place).test(page)
            if len(results) == 1 and page.stat().st_size >= SMALLER_THAN_BYTES:
                found.append(f"it has {page.stat().st_size} B, not less than {SMALLER_THAN_BYTES}")
            faults += [f"{name}: {fault}" for fault in found]
    for fault in faults:
        print(f"WRONG  {fault}")
    sys.exit(1 if faults else 0)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, metavar="FILE", help="a log")
    parser.add_argument("--udpbench", type=Path, metavar="PROGRAM", help="use this one")
    parser.add_argument("--chromium", default="chromium", metavar="PROGRAM", help="[default: chromium]")
    options = parser.parse_args()
    for file in (options.results, options.udpbench):
        if file and not file.is_file():
            parser.error(f"{file}: there is no such file")
    if options.udpbench:
        options.udpbench = options.udpbench.resolve()
    return options


def build():
    subprocess.run(["cargo", "build", "--quiet"], cwd=ROOT, check=True)
    return ROOT / "target/debug/udpbench"


def sweep(program, path, arguments):
    """The log of a sweep; what a busy machine makes of the cases does not matter here."""
    command = [program, *arguments, *SHORT, "-o", path.with_suffix(".csv")]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"the sweep broke: {done.stderr}")
    return path.with_suffix(".jsonl")


def search(program, path):
    done = subprocess.run([program, *SEARCH, "-o", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"the search broke: {done.stderr}")
    return path


def soak(program, path):
    """With an event: it was stopped for half a second, so that it sent nothing."""
    running = subprocess.Popen(
        [program, "soak", "--rate", "1k", "--for", "6s", "-o", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    time.sleep(3)
    running.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    running.send_signal(signal.SIGCONT)
    _, said = running.communicate()
    if running.returncode != 0 or '"unsent"' not in path.read_text():
        sys.exit(f"the soak broke: {said.decode()}")
    return path


def report(program, results, page):
    done = subprocess.run([program, "report", *results, "-o", page], stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return page


class Browser:
    """A Chromium and the pipes of its DevTools: JSON texts that end in a zero byte."""

    def __init__(self, chromium, place):
        to_it, from_us = os.pipe()
        from_it, to_us = os.pipe()

        def give_pipes():
            # Chromium reads from 3 and writes to 4; through higher numbers, or one would close the other.
            inward, outward = os.dup2(to_it, 13), os.dup2(to_us, 14)
            os.dup2(inward, 3)
            os.dup2(outward, 4)

        command = [chromium, *CHROMIUM, f"--user-data-dir={place}/profile", "about:blank"]
        self.process = subprocess.Popen(
            command, preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_it)
        os.close(to_us)
        self.writer, self.reader = os.fdopen(from_us, "wb", 0), os.fdopen(from_it, "rb")
        self.rest, self.number, self.session = b"", 0, None
        self.events = []

    def test(self, page):
        try:
            return self.faults(page)
        finally:
            self.process.kill()
            self.process.wait()

    def faults(self, page):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        pictures = page.read_text().count("<svg ")
        faults = []
        seen = {}
        for name, width, height, mobile, scheme in VIEWS:
            seen[name] = self.view(page, name, width, height, mobile, scheme)
            faults += [f"{name}: {fault}" for fault in wrong(seen[name], pictures, page.stem)]
            print(f"{page.stem}-{name}: {seen[name]}")
        light, dark = seen["800-light"], seen["800-dark"]
        if light["paper"] == dark["paper"] or light["words"] == dark["words"]:
            faults.append("it looks the same by day and by night")
        return faults + self.print(page) + self.complaints(page)

    def print(self, page):
        """Measures its labels on paper."""
        self.ask("Emulation.setEmulatedMedia", media="print")
        self.ask("Emulation.setDeviceMetricsOverride", width=720, height=1000, deviceScaleFactor=1, mobile=False)
        self.open(page)
        seen = self.value(LOOK)
        faults = [f"print: {fault}" for fault in crowd(seen)]
        if seen["hidden"]:
            faults.append(f"sections that are not printed: {seen['hidden']}")
        return faults

    def open(self, page):
        self.ask("Page.navigate", url=page.as_uri())
        self.wait("Page.loadEventFired")

    def view(self, page, name, width, height, mobile, scheme):
        """Opens the page so, keeps a picture of it, and asks it about itself."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.open(page)
        self.keep(f"{page.stem}-{name}")
        seen = self.value(LOOK)
        for section, box in self.value(BOXES).items():
            self.keep(f"{page.stem}-{name}-{section}", clip=box)
        return seen

    def keep(self, name, **what):
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, **what)
        directory = ROOT / "target/page"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def complaints(self, page):
        """Messages of the console, and requests to the network."""
        found = []
        for event in self.events:
            method, told = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(f"exception: {told['exceptionDetails']['text']}")
            elif method == "Runtime.consoleAPICalled":
                found.append(f"console: {told['args']}")
            elif method == "Log.entryAdded":
                found.append(f"log: {told['entry']['text']}")
            elif method == "Network.requestWillBeSent":
                url = told["request"]["url"]
                if url != page.as_uri() and not url.startswith(("data:", "blob:")):
                    found.append(f"it fetches {url}")
        return found

    def value(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit(f"the page refused: {answer['exceptionDetails']}")
        return answer["result"]["value"]

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event["method"] == method for event in self.events):
            self.events.append(self.read())
        # The next page has an event of its own.
        self.events = [event for event in self.events if event["method"] != method]

    def read(self):
        while b"\0" not in self.rest:
            part = self.reader.read1(1 << 20)
            if not part:
                sys.exit(f"Chromium is gone: exit code {self.process.wait()}")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)


def crowd(seen):
    """Labels that cannot be read."""
    checks = [
        (not seen["cut"], f"words go beyond their charts: {seen['cut'][:3]}"),
        (not seen["crowded"], f"labels overlap: {seen['crowded'][:3]}"),
        (seen["wide"] <= 0, f"it is {seen['wide']} pixels wider than its window"),
    ]
    return [fault for is_right, fault in checks if not is_right]


def sections_of(kind, seen):
    """The sections that this kind of page has, besides troubles. Given results may have round trips."""
    if kind in LOGS:
        return [LOGS[kind]]
    if kind in ("two", "twice"):
        of_each = ["latency", *CHARTS] if "latency-0" in seen["sections"] else CHARTS
        sweeps = [[f"{section}-{n}" for section in ("sweep", *of_each)] for n in (0, 1)]
        return ["comparison", "summary", *sweeps[0], *sweeps[1]]
    return ["summary", *(["latency"] if kind == "latency" or "latency" in seen["sections"] else []), *CHARTS]


def wrong(seen, pictures, kind):
    """Faults in the page's measures."""
    sections = [section for section in seen["sections"] if not section.startswith(TROUBLES)]
    expected, is_search = sections_of(kind, seen), kind in LOGS
    checks = [
        (seen["pictures"] == pictures, f"{seen['pictures']} pictures, not {pictures}"),
        (seen["empty"] == 0, f"{seen['empty']} charts have no size"),
        (seen["unnamed"] == 0, f"{seen['unnamed']} pictures say nothing to those who do not see them"),
        (seen["uncaptioned"] == 0, f"{seen['uncaptioned']} pictures or tables have no caption"),
        (seen["marks"] > 20 or is_search, f"{seen['marks']} marks in all charts"),
        (sections == expected, f"sections {sections}"),
        (seen["bare"] == 0, f"{seen['bare']} sections without a chart"),
        (seen["fetched"] == 0, f"{seen['fetched']} things were fetched"),
    ]
    return crowd(seen) + [fault for is_right, fault in checks if not is_right]


if __name__ == "__main__":
    main()
