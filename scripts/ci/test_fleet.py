#!/usr/bin/env python3
"""Tests scripts/fleet and scripts/merge_results.py with real sshd and Ansible: three sshd on loopback stand for boards
beside a board that does not answer; two in network namespaces, joined by a cable, for a pair of boards. Everything runs
with the oldest ansible-core that is promised, and with the newest that pip finds for the newest Python here.

usage: scripts/ci/test_fleet.py [--binary FILE] [-v] [NAME OF A TEST]...

Needs openssh-server, openssh-client and Python's venv; root only for the tests of a full disk and of pairs. The
versions of ansible-core go to target/ansible/. Without --binary it builds a release. Ports, keys and directories are
its own; nothing else is left behind. Exit code 77: a version of Ansible could not be had, and all else is well.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT
from tools.binary import take_binary
from tools.testing import ansible
from tools.testing.sshd import Sshd, free_port
from tools.wire import ends
from tools.wire.cable import Veth
from tools.wire.room import Room

FLEET = ROOT / "scripts/fleet"
FILES = FLEET / "roles/udpbench/files"
LEAVE = ROOT / "scripts/fleet/leave.sh"
BINARY = None
QUICK = "--engine null --no-reference --ip v4 --threads 2 --payload 1 --heat 0s --warmup 0s --columns all"
QUICK += " --rounds 5 --duration 5ms"
# Senders and receivers have a CPU each, as the two boards are one machine.
ACROSS = "--engine std --no-reference --ip v4 --threads 2 --payload 300 --connection connected --pin 0,0:1,1"
ACROSS += " --columns all --heat 0s --warmup 5ms --rounds 5 --duration 50ms"
# One block of 10000 windows.
LONG = QUICK.replace("--rounds 5 --duration 5ms", "--rounds 10000 --duration 100s --connection connected")


class InARoom(unittest.TestCase):
    def setUp(self):
        self.room = Path(tempfile.mkdtemp(prefix="udpbench-test-"))
        self.addCleanup(shutil.rmtree, self.room)


class Playbooks:
    """Runs playbooks; a class below says with which Ansible."""

    version = None

    @classmethod
    def setUpClass(cls):
        cls.playbook = ansible.playbook(cls.version)

    def setUp(self):
        super().setUp()
        servers = ExitStack()
        self.addCleanup(servers.close)
        self.servers = self.start_servers(servers)
        self.boards = {name: self.board(name, sshd) for name, sshd in self.servers.items()}

    def board(self, name, sshd):
        user, host = sshd.host.split("@")
        options = " ".join(f"-o {key}={value}" for key, value in sshd.options().items())
        return {
            "ansible_host": host,
            "ansible_port": sshd.port,
            "ansible_user": user,
            "ansible_ssh_private_key_file": str(sshd.room / "user_key"),
            "ansible_ssh_extra_args": options,
            # Only root's sshd can hand out a terminal.
            "ansible_ssh_use_tty": False,
            "ansible_python_interpreter": sys.executable,
            "ansible_remote_tmp": str(self.room / "ansible" / name),
            "ansible_async_dir": str(self.room / "ansible" / name),
            "udpbench_directory": str(self.room / "boards" / name),
            "udpbench_binary": str(BINARY),
            "udpbench_arguments": QUICK,
        }

    def play(self, meanwhile=lambda: None, playbook="fleet.yml", variables=(), at_most_s=180):
        boards = {"hosts": self.boards, "vars": dict(variables)}
        (self.room / "inventory.yml").write_text(json.dumps({"boards": boards}))
        environment = {
            **os.environ,
            "ANSIBLE_HOME": str(self.room / "ansible"),
            "ANSIBLE_LOCAL_TEMP": str(self.room / "ansible/local"),
            "ANSIBLE_REMOTE_TEMP": str(self.room / "ansible/remote"),
            # Connections are shared, as in ansible.cfg, but do not outlive the test for long.
            "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=2s",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.room / "links"),
            "ANSIBLE_NOCOLOR": "1",
        }
        command = [self.playbook, "-i", self.room / "inventory.yml", playbook]
        command += ["-e", f"udpbench_results={self.room / 'results'}"]
        with open(self.room / "output", "w+") as output:
            process = subprocess.Popen(command, cwd=FLEET, env=environment, stdout=output, stderr=subprocess.STDOUT)
            try:
                meanwhile()
                process.wait(timeout=at_most_s)
            except subprocess.TimeoutExpired:
                output.write("\nIT HUNG, AND WAS ENDED\n")
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
            output.seek(0)
            return process.returncode, output.read()

    def run_on(self, board):
        (room,) = [path for path in (self.room / "boards" / board).glob("run.*") if path.is_dir()]
        return room

    def place(self):
        (place,) = (self.room / "results").iterdir()
        return place

    def assert_only_the_program_is_left(self):
        for board in (self.room / "boards").iterdir():
            self.assertEqual([path.name for path in board.iterdir()], ["udpbench"])


class Fleet(Playbooks):
    """The tests on one machine."""

    def start_servers(self, servers):
        return {name: servers.enter_context(Sshd()) for name in ["attic", "cellar", "shed"]}

    def test_three_boards_are_measured_and_a_fourth_that_does_not_answer_is_named(self):
        self.boards["roof"] = {**self.boards["attic"], "ansible_port": free_port()}
        # Nobody can measure on a machine that is this busy.
        self.boards["shed"]["udpbench_binary"] = str(self.unfit())
        code, output = self.play()
        self.assertEqual(code, 2, output)
        self.assertRegex(output, "roof: unreachable: .*Connection refused")
        self.assertIn("results of 3 of 4 boards", output)
        self.assertIn("INVALID a test", output)
        place = self.place()
        self.assertEqual(sorted(path.name for path in place.iterdir()), ["attic", "cellar", "merged.csv", "shed"])
        with open(place / "merged.csv", newline="") as file:
            merged = list(csv.DictReader(file))
        own = [row for name in self.boards if name != "roof" for row in rows_of(place / name)]
        self.assertEqual(list(merged[0])[:2], ["host", "engine"])
        self.assertEqual({row["host"] for row in merged}, {"attic", "cellar", "shed"})
        strip = [{key: value for key, value in row.items() if key != "host"} for row in merged]
        self.assertCountEqual(map(str, strip), map(str, own))
        for name in ["attic", "cellar", "shed"]:
            readme = (place / name / "README.md").read_text()
            for part in ["Exit code 0: done.", f"    udpbench {QUICK}\n", "| memory |", "**TO FILL IN** power"]:
                self.assertIn(part, readme)
        self.assertIn("INVALID a test", (place / "shed" / "README.md").read_text())
        self.assert_only_the_program_is_left()

    def unfit(self):
        program = self.room / "unfit"
        program.write_text(
            f'#!/bin/sh\n[ "$1" != check ] || {{ echo "INVALID a test"; exit 1; }}\nexec {BINARY} "$@"\n'
        )
        return program

    def test_boards_that_fail_or_get_lost_are_named_and_stop_nobody(self):
        nothing_runs = "--engine mio-exhaustive --threads 1 --no-reference --payload 26"
        self.boards["attic"].update(udpbench_arguments=nothing_runs)
        self.boards["cellar"]["udpbench_binary"] = str(self.room / "nope")
        self.boards["shed"].update(udpbench_arguments=LONG, udpbench_away_at_most_s=1)
        code, output = self.play(meanwhile=self.lose_the_shed)
        # 4 if Ansible first misses the shed in a task that is not told to go on.
        self.assertIn(code, [2, 4], output)
        self.assertIn("attic: exit code 1: nothing could run", output)
        self.assertRegex(output, "cellar: Check that there is one: there is no .*/nope")
        self.assertRegex(output, "shed: (Check that the sweep ended: the board does not answer: |lost on the way)")
        room = self.run_on("shed")
        self.assertIn(f"what it measured is still on the board, in {room}: get it with", output)
        self.assertEqual(len(list((room / "results").iterdir())), 2)
        place = self.place()
        self.assertEqual(sorted(path.name for path in place.iterdir()), ["attic", "merged.csv"])
        self.assertEqual({row["status"] for row in rows_of(place / "attic")}, {"skipped"})
        with open(place / "merged.csv", newline="") as file:
            self.assertEqual({row["host"] for row in csv.DictReader(file)}, {"attic"})

    def lose_the_shed(self):
        board = self.room / "boards/shed"
        self.wait_for_files(board, 2)
        self.servers["shed"].lose()
        # Its programs go down with the board.
        for process in Path("/proc").glob("[0-9]*"):
            if runs_in(board, process):
                with suppress(ProcessLookupError):
                    os.kill(int(process.name), signal.SIGKILL)

    def wait_for_files(self, board, count):
        self.wait_until(lambda: len(list(board.glob("run.*/results/*"))) >= count)

    def wait_until(self, happened):
        deadline = time.monotonic() + 120
        while not happened():
            self.assertLess(time.monotonic(), deadline, "the sweep never started")
            time.sleep(0.05)

    def test_boards_that_are_all_well_are_an_exit_code_of_0_and_boards_that_are_all_away_leave_nothing(self):
        code, output = self.play()
        self.assertEqual(code, 0, output)
        shutil.rmtree(self.room / "results")
        for board in self.boards.values():
            board["ansible_port"] = free_port()
        code, output = self.play()
        self.assertEqual(code, 2, output)
        self.assertIn("results of 0 of 3 boards", output)
        self.assertEqual(list((self.room / "results").iterdir()), [])

    def test_what_the_arguments_do_to_the_files_loses_none(self):
        self.boards["attic"].update(udpbench_arguments=LONG, udpbench_at_most_s=6)
        self.boards["cellar"].update(udpbench_arguments=f"{QUICK} -qo 'my rows.csv' --samples raw.jsonl")
        self.boards["cellar"].update(udpbench_directory=str(self.room / "boards/the cellar's"))
        self.boards["shed"].update(udpbench_arguments=f"run {QUICK} --format json")
        self.boards["loft"] = {**self.board("loft", self.servers["attic"]), "udpbench_at_most_s": "4h"}
        self.boards["yard"] = {**self.board("yard", self.servers["attic"]), "udpbench_at_most_s": 0}
        self.boards["dock"] = {**self.board("dock", self.servers["attic"]), "udpbench_away_at_most_s": "10m"}
        for name, arguments in [("roof", f"--samples {self.room}/x"), ("barn", "check"), ("sty", "--threads 0")]:
            self.boards[name] = {**self.board(name, self.servers["attic"]), "udpbench_arguments": arguments}
        code, output = self.play()
        self.assertEqual(code, 2, output)
        for message in [
            r"attic: ended after 6 s \(udpbench_at_most_s\); what was measured until then is here",
            "roof: .*--samples .*/x: it would stay on the board",
            "barn: .*these arguments are for no sweep",
            "sty: .*invalid value '0' for '--threads",
            "loft: .*udpbench_at_most_s: 4h: give whole seconds, 1 or more",
            "yard: .*udpbench_at_most_s: 0: give whole seconds, 1 or more",
            "dock: .*udpbench_away_at_most_s: 10m: give whole seconds, 0 or more",
        ]:
            self.assertRegex(output, message)
        place = self.place()
        self.assertEqual(
            sorted(path.name for path in place.iterdir()), ["attic", "cellar", "merged.csv", "shed"], output
        )
        self.assertEqual({row["ended_by"] for row in rows_of(place / "attic")}, {"signal"})
        self.assertIn("ended early at its time limit", (place / "attic/README.md").read_text())
        (raw,) = (place / "attic").glob("*.jsonl")
        self.assertGreater(raw.read_text().count('{"window":'), 2)
        names = {path.name for path in (place / "cellar").iterdir()}
        self.assertEqual(names, {"README.md", "my rows.csv", "raw.jsonl"})
        self.assertEqual({path.suffix for path in (place / "shed").iterdir()}, {".md", ".json", ".jsonl"})
        for name in ["loft", "yard", "dock"]:
            # Refused before anything was copied there.
            (self.room / "boards" / name).rmdir()
        self.assert_only_the_program_is_left()

    def test_rows_in_another_format_alone_are_results_too(self):
        self.boards = {"shed": {**self.boards["shed"], "udpbench_arguments": f"{QUICK} --format json"}}
        code, output = self.play()
        self.assertEqual(code, 0, output)
        self.assertEqual([path.name for path in self.place().iterdir()], ["shed"])
        self.assertEqual(len(list((self.place() / "shed").iterdir())), 3)

    @unittest.skipUnless(os.geteuid() == 0, "to mount a small file system needs root")
    def test_a_disk_of_the_board_that_fills_up_loses_nothing_that_was_written(self):
        board = self.room / "boards/attic"
        board.mkdir(parents=True)
        self.boards = {"attic": {**self.boards["attic"], "udpbench_arguments": LONG}}
        self.boards["attic"]["ansible_remote_tmp"] = str(board / "ansible")
        size = BINARY.stat().st_size * 2 // 1024 + (8 << 10)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", board], check=True)
        try:
            code, output = self.play(meanwhile=lambda: self.fill(board))
            names = sorted(path.name for path in board.iterdir())
        finally:
            subprocess.run(["umount", board], check=True)
        self.assertEqual(code, 2, output)
        self.assertIn("attic: exit code 1: ", output)
        self.assertIn("results of 1 of 1 boards", output)
        (raw,) = (self.place() / "attic").glob("*.jsonl")
        self.assertGreater(raw.read_text().count('{"window":'), 0, output)
        self.assertEqual(names, ["ansible", "filler", "udpbench"], output)

    def fill(self, board):
        self.wait_until(lambda: any('{"window":' in raw.read_text() for raw in board.glob("run.*/results/*.jsonl")))
        with open(board / "filler", "wb", buffering=0) as filler, suppress(OSError):
            while filler.write(bytes(4096)):
                pass

    @unittest.skipUnless(os.geteuid() == 0, "to mount a small file system needs root")
    def test_results_for_which_there_is_no_space_here_stay_on_the_board(self):
        self.boards = {"attic": self.boards["attic"]}
        results = self.room / "results"
        results.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", results], check=True)
        try:
            code, output = self.play()
            self.assertEqual(list(results.iterdir()), [], output)
        finally:
            subprocess.run(["umount", results], check=True)
        self.assertEqual(code, 2, output)
        room = self.run_on("attic")
        self.assertRegex(
            output, f"attic: Fetch the results: .*what it measured is still on the board, in {room}: get it with"
        )
        self.assertEqual({path.suffix for path in (room / "results").iterdir()}, {".csv", ".jsonl"})


class Inside(Sshd):
    """An sshd in a network namespace."""

    def __init__(self, end, parent):
        super().__init__(parent)
        self.end, self.inside, self.addresses = end, ["setsid", end.enter], [end.ipv4]
        self.host = f"{self.host.partition('@')[0]}@{end.ipv4}"

    def choose_port(self):
        return 22

    def known_as(self):
        return self.addresses[0]

    def answers(self):
        login = [f"-oIdentityFile={self.room}/user_key", *[f"-o{key}={value}" for key, value in self.options().items()]]
        while self.process.poll() is None:
            command = [self.end.enter, "ssh", *login, self.host, "true"]
            if subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return True
            time.sleep(0.05)
        return False


@contextmanager
def lab(names):
    """Network namespaces by these names, and the directory of theirs."""
    made = {}
    try:
        with Room() as room:
            for number, name in enumerate(names, 1):
                made[name] = ends.End(name, number, room)
            yield made, room
    finally:
        for end in made.values():
            end.process.communicate()


class Pairs(Playbooks):
    """The tests between two boards, which are network namespaces joined by a cable."""

    @classmethod
    def setUpClass(cls):
        try:
            ends.check_tools()
            with lab(["attempt"]):
                pass
        except ends.Skipped as reason:
            print(f"SKIPPED: {reason}", file=sys.stderr)
            raise unittest.SkipTest(str(reason)) from reason
        super().setUpClass()

    def start_servers(self, servers):
        self.ends, room = servers.enter_context(lab(["attic", "cellar"]))
        Veth(*self.ends.values())
        for end in self.ends.values():
            end.set_up(1500)
        return {name: servers.enter_context(Inside(end, room.path)) for name, end in self.ends.items()}

    def board(self, name, sshd):
        # Whoever runs Ansible is at neither end.
        ssh = self.room / f"{name}-ssh"
        ssh.write_text(f'#!/bin/sh\nexec {sshd.end.enter} ssh "$@"\n')
        ssh.chmod(0o755)
        own = super().board(name, sshd)
        rsh = f"ssh -i {own['ansible_ssh_private_key_file']} {own['ansible_ssh_extra_args']}"
        return {**own, "ansible_ssh_executable": str(ssh), "udpbench_arguments": ACROSS, "udpbench_rsh": rsh}

    def measure(self, pairs, **variables):
        variables = {"udpbench_pairs": pairs, "udpbench_away_at_most_s": 30, **variables}
        return self.play(playbook="pairs.yml", variables=variables, at_most_s=400)

    def test_each_pair_is_measured_and_brings_the_results_of_both_ends(self):
        code, output = self.measure([["attic", "cellar"], ["cellar", "attic"]])
        self.assertEqual(code, 0, output)
        self.assertIn("results of 2 of 2 pairs", output)
        place = self.place()
        self.assertEqual(sorted(path.name for path in place.iterdir()), ["attic-cellar", "cellar-attic", "merged.csv"])
        times = []
        for near, far in [("attic", "cellar"), ("cellar", "attic")]:
            own = place / f"{near}-{far}"
            self.assertEqual(len(list(own.glob("*.jsonl"))), 1)
            rows = rows_of(own)
            self.assertCountEqual([row["direction"] for row in rows], ["up", "down"])
            for row in rows:
                self.assertEqual((row["status"], row["unaccounted_packets"]), ("ok", "0"), row)
                self.assertEqual(row["remote"], self.servers[far].host)
            self.assertIn("Exit code 0: done.", (own / "README.md").read_text())
            agent = (own / f"{far}.md").read_text()
            for part in [f"The other end: {far}, {self.servers[far].host}", "| memory |"]:
                self.assertIn(part, agent)
            times.append([row["started_at"] for row in rows])
        # One after the other: the board is in both.
        self.assertLess(max(times[0]), min(times[1]))
        with open(place / "merged.csv", newline="") as file:
            self.assertEqual({row["host"] for row in csv.DictReader(file)}, {"attic-cellar", "cellar-attic"})
        self.assert_only_the_program_is_left()

    def test_a_pair_that_fails_is_named_and_the_next_one_is_measured(self):
        self.boards["attic"]["udpbench_address"] = "192.0.2.1"
        code, output = self.measure([["cellar", "attic"], ["attic", "cellar"]])
        self.assertEqual(code, 2, output)
        self.assertRegex(output, "cellar-attic: .*ended with exit status: 255")
        self.assertIn("results of 1 of 2 pairs", output)
        self.assertEqual(sorted(path.name for path in self.place().iterdir()), ["attic-cellar", "merged.csv"])
        self.assert_only_the_program_is_left()

    def test_a_sweep_that_is_refused_leaves_only_the_program(self):
        self.boards["attic"]["udpbench_arguments"] = "--threads 0"
        code, output = self.measure([["attic", "cellar"]])
        self.assertEqual(code, 2, output)
        self.assertRegex(output, "attic-cellar: .*invalid value '0' for '--threads")
        self.assertEqual(list((self.room / "results").iterdir()), [])
        self.assert_only_the_program_is_left()

    def test_bad_pairs_are_refused_before_anything_is_done(self):
        code, output = self.measure([["attic", "roof"]])
        self.assertEqual(code, 2, output)
        self.assertIn("there is no board roof, but attic, cellar", output)
        self.assertFalse((self.room / "boards").exists() or (self.room / "results").exists())


class WithTheOldestAnsible(Fleet, InARoom):
    version = ansible.OLDEST


class WithTheNewestAnsible(Fleet, InARoom):
    version = ansible.NEWEST


class PairsWithTheOldestAnsible(Pairs, InARoom):
    version = ansible.OLDEST


class PairsWithTheNewestAnsible(Pairs, InARoom):
    version = ansible.NEWEST


class Rounds(unittest.TestCase):
    """Which pairs are measured when."""

    def call(self, pairs, at_once=False):
        given = {"pairs": pairs, "boards": ["a", "b", "c", "d"], "at_once": at_once}
        command = [ROOT / "scripts/fleet/pairs.py"]
        return subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)

    def test_one_pair_after_the_other_unless_told_and_no_board_twice_at_once(self):
        pairs = [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]
        self.assertEqual(json.loads(self.call(pairs).stdout), [[pair] for pair in pairs])
        at_once = [[["a", "b"], ["c", "d"]], [["b", "c"], ["d", "a"]]]
        self.assertEqual(json.loads(self.call(pairs, True).stdout), at_once)

    def test_bad_pairs_are_named_with_the_reason_and_the_fix(self):
        for pairs, message in [
            ([], "udpbench_pairs: []: it is no list of pairs; name pairs as in udpbench_pairs: [[attic, cellar]"),
            ("a,b", 'udpbench_pairs: "a,b": it is no list of pairs'),
            ([["a", "b"], "c"], 'udpbench_pairs: "c": it is not two boards'),
            ([["a", "b", "c"]], 'udpbench_pairs: ["a", "b", "c"]: it is not two boards'),
            ([["a", 7]], "it is not two boards"),
            ([["a", "e"]], "there is no board e, but a, b, c, d"),
            ([["a", "a"]], "these are one board"),
            ([["a", "b"], ["a", "b"]], "it is there twice"),
        ]:
            done = self.call(pairs)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(message, done.stderr)
        self.assertIn(
            'udpbench_pairs_at_once: "yes": it is neither true nor false', self.call([["a", "b"]], "yes").stderr
        )


class Versions(InARoom):
    """Tests of the installation of Ansible."""

    def setUp(self):
        super().setUp()
        self.enter(mock.patch.object(ansible, "ROOT", self.room))
        self.messages = self.enter(redirect_stderr(StringIO()))

    def enter(self, context):
        # enterContext is of Python 3.11.
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def environment(self, name, version):
        """One in which pip fails, as without a network."""
        tools = self.room / "target/ansible" / name / "bin"
        tools.mkdir(parents=True)
        for tool, line in [("ansible-playbook", f"echo 'ansible-playbook [core {version}]'"), ("python", "exit 1")]:
            (tools / tool).write_text(f"#!/bin/sh\n{line}\n")
            (tools / tool).chmod(0o755)
        return tools / "ansible-playbook"

    def test_without_a_network_what_is_installed_is_taken(self):
        for name, asked, version in [("oldest", ansible.OLDEST, "2.14.18"), ("newest", ansible.NEWEST, "2.19.14")]:
            program = self.environment(name, version)
            self.assertEqual(ansible.playbook(asked), program)

    def test_a_version_without_a_python_for_it_is_skipped(self):
        reason = "no Python 3.98 to 3.98 with venv and ensurepip is here"
        pythons = mock.patch.dict(ansible.PYTHONS, {ansible.OLDEST: range(98, 99)})
        with pythons, self.assertRaisesRegex(unittest.SkipTest, reason):
            ansible.playbook(ansible.OLDEST)
        self.assertIn("SKIPPED: ansible-core==2.14.*: no Python", self.messages.getvalue())


class OnTheBoard(InARoom):
    """Tests of the programs for boards, without Ansible."""

    def setUp(self):
        super().setUp()
        self.board = self.room / "board"
        self.folder = self.board / "run.x"
        self.folder.mkdir(parents=True)

    def call(self, script, *words, path=os.environ["PATH"], **more):
        command = ["/bin/sh", "-s", self.folder, *map(str, words)]
        environment = {**os.environ, "PATH": str(path), **more}
        return subprocess.run(
            command, input=script.read_text(), capture_output=True, text=True, env=environment, timeout=60
        )

    def beside(self, suffix):
        return Path(f"{self.folder}.{suffix}")

    def test_after_a_reboot_another_program_with_the_pid_is_no_sweep(self):
        self.beside("pid").write_text(f"{os.getpid()}\n")
        done = self.call(FILES / "wait.sh", 600)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "137\n", ""))
        self.assertEqual(self.call(LEAVE).returncode, 0)
        self.assertFalse(self.board.exists())

    def test_while_the_sweep_runs_its_folder_stays(self):
        with subprocess.Popen(["cat"], cwd=self.folder, stdin=subprocess.PIPE) as sweep:
            self.beside("pid").write_text(f"{sweep.pid}\n")
            self.assertEqual(self.call(FILES / "wait.sh", 0).stdout, "runs\n")
            self.assertEqual(self.call(LEAVE).returncode, 1)
            sweep.stdin.close()
        self.assertTrue(self.folder.exists() and self.beside("pid").exists())

    def test_a_time_limit_is_124_with_the_timeout_of_busybox_too(self):
        # Busybox's timeout knows no --foreground, and has the exit code of the program.
        tools = self.room / "tools"
        tools.mkdir()
        (tools / "timeout").write_text('#!/bin/sh\n[ "$1" = -s ] || exit 1\nsleep "$NEEDS"\nexit 130\n')
        (tools / "timeout").chmod(0o755)
        for needs_s, limit_s, code in [(0, 600, 130), (1, 1, 124)]:
            self.call(FILES / "sweep.sh", limit_s, path=f"{tools}:{os.environ['PATH']}", NEEDS=str(needs_s))
            self.assertEqual(self.call(FILES / "wait.sh", 600).stdout, f"{code}\n")
            self.beside("code").unlink()

    def test_a_board_without_timeout_or_setsid_is_told_what_is_missing(self):
        done = self.call(FILES / "sweep.sh", 2, path=self.room)
        self.assertEqual(done.returncode, 1)
        self.assertIn("setsid is missing on the board: install coreutils and util-linux", done.stderr)
        self.assertEqual(list(self.board.iterdir()), [self.folder])


class Tables(InARoom):
    def call(self, script, *words):
        return subprocess.run([ROOT / "scripts" / script, *words], cwd=self.room, capture_output=True, text=True)

    def write(self, name, text):
        (self.room / name).write_text(text)

    def assert_refused(self, words, *messages):
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for message in messages:
            self.assertIn(message, done.stderr)


class Merge(Tables):
    def test_columns_are_matched_by_name(self):
        self.write("a.csv", 'case,reason,x\nc1,"one, two",1\n')
        self.write("b.csv", "x,case,reason\n2,c1,\n3,c2,\n")
        done = self.call("merge_results.py", "a.csv", "cellar=b.csv")
        self.assertEqual(done.stdout, 'host,case,reason,x\na,c1,"one, two",1\ncellar,c1,,2\ncellar,c2,,3\n')
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_columns_are_refused_by_name(self):
        self.write("a.csv", "case,x\nc1,1\n")
        self.write("b.csv", "case,y\nc1,1\n")
        self.assert_refused(
            ["merge_results.py", "a.csv", "b.csv"],
            "b.csv: it lacks x, and it has y besides, unlike a.csv",
            "one version",
        )

    def test_what_is_no_result_is_refused(self):
        self.write("a.csv", "case,x\nc1,1\n")
        for text, message in [
            ("", "its first line has no column `case`"),
            ("x,y\n1,2\n", "its first line has no column `case`"),
            ("host,case,x\na,c1,1\n", "it is merged already"),
            ("case,x\nc1,1\nc2\n", "row 3: 1 fields, and 2 columns"),
        ]:
            self.write("b.csv", text)
            self.assert_refused(["merge_results.py", "a.csv", "b.csv"], "b.csv", message)
        self.assert_refused(["merge_results.py", "a.csv", "nope.csv"], "nope.csv")
        self.assert_refused(["merge_results.py", "a.csv", "a=a.csv"], "two files are of the host a")

    def test_a_line_that_was_cut_off_is_left_out_aloud(self):
        self.write("a.csv", "case,x\nc1,1\nc2,")
        done = self.call("merge_results.py", "a.csv")
        self.assertEqual(done.stdout, "host,case,x\na,c1,1\n")
        self.assertIn("its last line is cut off", done.stderr)

    def test_nothing_is_overwritten(self):
        self.write("a.csv", "case,x\nc1,1\n")
        self.assertEqual(self.call("merge_results.py", "a.csv", "-o", "m.csv").returncode, 0)
        self.assert_refused(["merge_results.py", "a.csv", "-o", "m.csv"], "m.csv", "exists")
        self.assertEqual((self.room / "m.csv").read_text(), "host,case,x\na,c1,1\n")


def runs_in(directory, process):
    try:
        return directory in (process / "cwd").readlink().parents
    except OSError:
        return False


def rows_of(directory):
    (path,) = directory.glob("*.csv")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    BINARY = take_binary(__doc__)
    result = unittest.main(exit=False).result
    # setUpClass has printed which version, and why.
    skipped = any("ansible-core" in reason for _, reason in result.skipped)
    sys.exit(1 if not result.wasSuccessful() else 77 if skipped else 0)
