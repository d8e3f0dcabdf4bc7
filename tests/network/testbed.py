# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command as all ranks of a torus of network namespaces (scripts/torus_network), which exists for the test alone."""
import os
import pathlib
import re
import secrets
import signal
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from torus_network import network  # noqa: E402
from torus_network.geometry import Torus, nic_of, opposite  # noqa: E402, F401 (the tests take them from here)
from torus_network.network import impossible  # noqa: E402, F401

STORE = "10.98.0.1:29571"
SKIPPED = 77


def skips():
    """Whether this machine cannot make namespaces, and says why."""
    reason = impossible()
    if reason:
        print(f"skipped: {reason}")
    return bool(reason)


def verdict(wrong):
    """The exit code after these texts, which it prints."""
    for text in wrong:
        print(f"WRONG {text}")
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


class Testbed(network.Network):
    """The namespaces of a torus; use it in a `with`, which removes them and ends what still runs in them."""

    def __init__(self, torus, routed=False):
        super().__init__(torus, str(os.getpid()), wires=not routed)
        self.routed = routed
        self.processes = []
        self.token = secrets.token_hex(16)  # ranks meet at an address that others reach, too

    def __enter__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupt)  # an exception, so that __exit__ runs
        remove_abandoned()
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end()
        self.remove()

    @staticmethod
    def _interrupt(number, _frame):
        raise KeyboardInterrupt(signal.Signals(number).name)

    def nics_of_ports(self, swapped=()):
        """TREFOIL_NICS of a rank: each direction its own NIC, but for two directions that are `swapped`."""
        nics = {direction: nic_of(direction) for direction in self.torus.directions}
        if swapped:
            nics[swapped[0]], nics[swapped[1]] = nics[swapped[1]], nics[swapped[0]]
        return ",".join(f"{direction}={nic}" for direction, nic in nics.items())

    def run(self, command, environment, seconds, own=None, host=None):
        """Runs a command as all ranks; returns (exit code, output, errors) per rank.

        `own` maps ranks to variables of their own. With `host` ("node") each rank has a host name of its own, node0 and
        so on. An exit code of None: not finished in time, ended here.
        """
        for rank, name in enumerate(self.names):
            variables = {**os.environ, **environment, "TREFOIL_RANK": str(rank),
                         "TREFOIL_SIZE": str(self.torus.ranks), "TREFOIL_STORE": STORE,
                         "TREFOIL_TOKEN": self.token, "TREFOIL_TORUS": self.torus.name,
                         "TREFOIL_NICS": self.nics_of_ports(), **(own or {}).get(rank, {})}
            # `ip netns exec` also shows the namespace's interfaces in /sys, which UCX reads.
            wrapped = ["ip", "netns", "exec", name]
            if host:
                wrapped += ["unshare", "--uts", "sh", "-c", f"hostname {host}{rank} && exec \"$@\"", "sh"]
            wrapped += command
            self.processes.append(subprocess.Popen(wrapped, env=variables, text=True, stdout=subprocess.PIPE,
                                                   stderr=subprocess.PIPE, start_new_session=True))
        results = []
        deadline = seconds
        for process in self.processes:
            try:
                output, errors = process.communicate(timeout=deadline)
                results.append((process.returncode, output, errors))
            except subprocess.TimeoutExpired:
                self._kill(process)
                output, errors = process.communicate()
                results.append((None, output, errors))
                deadline = 1  # the others had as long
        self.processes = []
        return results

    @staticmethod
    def _kill(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    def end(self):
        for process in self.processes:
            self._kill(process)
            process.communicate()
        self.processes = []


class LaunchedBed:
    """The same, but made by scripts/torusnet, with ranks started by `trefoil run --net`, as users do."""

    RATE = "200mbit"
    routed = True

    def __init__(self, torus, tool):
        self.torus, self.tool, self.name = torus, tool, f"rails{os.getpid()}"

    def _torusnet(self, *words):
        subprocess.run([SCRIPTS / "torusnet", *words, "--name", self.name], check=True, timeout=network.SECONDS)

    def __enter__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, Testbed._interrupt)
        self._torusnet("up", self.torus.name, "--rate", self.RATE)
        return self

    def __exit__(self, *_):
        self._torusnet("down", "--force")

    def run(self, command, environment, seconds):
        """As Testbed.run, from the labels of the ranks' lines; the exit code is the job's."""
        done = subprocess.run([self.tool, "run", "--net", self.name, "--time-limit", str(seconds), *command], text=True,
                              env={**os.environ, **environment}, capture_output=True, check=False, timeout=seconds + 30)
        return [(done.returncode, "".join(line[len(f"[{rank}] "):] + "\n" for line in done.stdout.splitlines()
                                          if line.startswith(f"[{rank}] ")), done.stderr)
                for rank in range(self.torus.ranks)]


def remove_abandoned():
    """Removes the namespaces of testbeds whose process was killed."""
    matches = (re.fullmatch(rf"{network.PREFIX}(\d+)-(?:\d+|hub|try)", name) for name in network.namespaces())
    network.remove_namespaces([match.group(0) for match in matches if match and not os.path.exists(f"/proc/{match.group(1)}")])
