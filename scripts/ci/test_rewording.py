#!/usr/bin/env python3
"""Tests that no verdict depends on words: rewords every sentence of a copy of the program at random (`sentences!` in
its sources), and holds its verdicts, grades, codes and exit codes against those of the program itself.

usage: scripts/ci/test_rewording.py [--seed N]

Builds both, which takes some minutes; needs no root.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT, log

BLOCK = re.compile(r"^sentences! \{\n.*?^\}\n", re.DOTALL | re.MULTILINE)
SENTENCE = re.compile(r'(=>\s*)("(?:[^"\\]|\\.)*")', re.DOTALL)
# Between the values, which are in braces.
WORD = re.compile(r"\{[^}]*\}|(?<!\\)[A-Za-z]{2,}")
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "spruce", "yew"]

NOTHING = {"hindrance": ""}
# What is found before the start, how a block begins, what the plan warns of, and why a case fails.
UNFIT = [
    "debug-build",
    "conntrack",
    {"governor": {"governors": "ondemand"}},
    {"other-programs": {"used": 1.5, "cpus": 2, "busiest": "sh (pid 7) 0.98"}},
    {"hot-board": {"celsius": 90, "throttles_from_c": 80}},
    {"wireless": {"interface": "wlan0"}},
]
BEGUN = ["in-two-parts", {"still-hot": {"below_c": 60}}, {"resumed-elsewhere": {"what": "the machine was another"}}]
PLANNED = ["hashed-flows", {"shared-cpu": {"cpu": 1}}]
FAILED = [
    {"nothing-received": NOTHING},
    {"nothing-sent": NOTHING},
    {"starved": {"why": "it slept"}},
    {"no-answer": {"text": "the agent: no answer within 30 s"}},
    {"told": {"text": "it broke"}},
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    seed = parser.parse_args().seed
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory(prefix="udpbench-reworded-") as room:
        room = Path(room)
        copy = room / "copy"
        sentences = reworded(copy, random.Random(seed))
        program = built(ROOT, ROOT / "target")
        # Cargo takes the files of one directory for those of the other if they share a target.
        reworded_program = built(copy, ROOT / "target/reworded")
        logs = list(made_up(room))
        differing = 0
        for path in logs:
            one, other = (outcome(it, room, path) for it in (program, reworded_program))
            differing += one.pop("texts") != other.pop("texts")
            for what, value in one.items():
                assert value == other[what], f"{path.name}, {what}:\n{value}\n{other[what]}"
    assert differing > 0, "no text differs: nothing was reworded"
    print(f"{sentences} sentences reworded: the same verdicts in {len(logs)} logs, {differing} with other words")


def reworded(copy, dice):
    """Copies the sources, rewords their sentences, and returns the number of these."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        if not name.startswith(("results/", "scripts/")) and (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    count = 0

    def sentence(found):
        nonlocal count
        count += 1
        word = lambda it: it[0] if it[0].startswith("{") else dice.choice(WORDS)  # noqa: E731
        return found[1] + WORD.sub(word, found[2])

    for path in (path for package in (".", "field", "host") for path in (copy / package / "src").rglob("*.rs")):
        text = path.read_text(encoding="utf-8")
        changed = BLOCK.sub(lambda block: SENTENCE.sub(sentence, block[0]), text)
        if changed != text:
            path.write_text(changed, encoding="utf-8")
    return count


def built(sources, target):
    command = ["cargo", "build", "--locked", "--quiet", "--bin", "udpbench", "--target-dir", target]
    subprocess.run(command, cwd=sources, check=True)
    return target / "debug/udpbench"


def made_up(room):
    """Yields logs with sentences of each kind, and makes the log that all are compared with."""
    kept = (ROOT / "tests/fixtures/logs/every-engine.jsonl").read_text(encoding="utf-8")
    (room / "before.jsonl").write_text(kept, encoding="utf-8")
    busy = UNFIT[3]
    changes = [("as-measured", [], None, None)]
    changes += [(f"unfit-{n}", [it], None, None) for n, it in enumerate(UNFIT)]
    changes += [(f"begun-{n}", [], it, None) for n, it in enumerate(BEGUN)]
    for n, reason in enumerate(FAILED):
        changes += [(f"failed-{n}", [], None, reason), (f"failed-{n}-busy", [busy], None, reason)]
    for name, unfit, begun, reason in changes:
        header, *events = log.objects(kept)
        environment, plan = header["header"]["environment"], header["header"]["plan"]
        environment["unfit"] = [{"unfit": it, "is_remote": False} for it in unfit]
        for planned in (it for block in plan["blocks"] for it in block["cases"] if "run" in it["verdict"]):
            planned["verdict"]["run"][1] += PLANNED
        path = room / f"{name}.jsonl"
        path.write_text(log.lines([header, *changed(events, begun, reason)]), encoding="utf-8")
        yield path


def changed(events, begun, reason):
    """Yields the events with a warning of each block, and with a failure of mmsg."""
    for event in events:
        case = event.get("window", {}).get("sample", {}).get("case", "")
        if "block_begun" in event:
            event["block_begun"]["warning"] = begun
        if reason and case.startswith("mmsg:"):
            if event["window"]["sample"]["round"] == 1:
                yield {"failed": {"case": case, "round": 1, "reason": reason}}
            continue
        yield event


def outcome(program, room, path):
    """What a log says, by command. Texts are apart, as they may differ."""

    def run(*words):
        done = subprocess.run([program, *words], cwd=room, capture_output=True, text=True)
        assert done.stderr == "" or done.returncode != 101, done.stderr
        return done.returncode, done.stdout

    code, document = run("summarize", path.name, "--format", "json")
    document = json.loads(document)
    rows = document["rows"]
    texts = [row.pop("text") for it in rows for row in [*it["warnings"], *filter(None, [it["reason"]])]]
    changes = run("compare", "before.jsonl", path.name, "--format", "json")
    verdicts = [{k: v for k, v in it.items() if k != "reason"} for it in json.loads(changes[1])["rows"]]
    return {
        "rows": (code, rows),
        "ranking": run("rank", path.name),
        "comparison": (changes[0], verdicts),
        "quality": document["quality"] and document["quality"]["grade"],
        "texts": texts,
    }


if __name__ == "__main__":
    main()
