# SPDX-License-Identifier: BSD-3-Clause
"""One soaked job: its ranks, who is stopped, and samples of what it holds."""
import collections
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/reliability"))
from job import TRANSPORTS, free_port  # noqa: E402

SHORT_NAMES = {"ofi": "ofi net", "ucx": "ucx tcp"}
SHORTEST = 60  # seconds of a run that can be called flat
GROWTH, GROWTH_PER_RANK = 0.02, 512 << 10  # of resident memory, within a quarter of the time
TO_END = 120  # seconds that a job may take to create, and to end after its time
PLAN_BYTES = "1M"

Sample = collections.namedtuple("Sample", "seconds resident files operations")


class Soak:
    def __init__(self, transport, options, program, folder):
        self.transport, self.options, self.folder = transport, options, pathlib.Path(folder)
        self.chance = random.Random(f"{options.seed} {transport}")
        self.samples, self.wrong, self.stops = [], [], 0
        self.operations = self.on_first = self.plans = self.communicators = 0
        self.seconds, self.verdict = 0.0, ""
        self.processes, self.outputs = [], []
        backend, provider, extra = TRANSPORTS[transport]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("TREFOIL_")}
        self.environment |= {"TREFOIL_TORUS": options.torus, "TREFOIL_BACKEND": backend, "TREFOIL_TIMEOUT": "60",
                             "TREFOIL_SIZE": str(options.ranks), "TREFOIL_PLAN_BYTES": PLAN_BYTES,
                             "TREFOIL_LANDING_BYTES": "64K", "TREFOIL_SEGMENT_BYTES": "8K",
                             "TREFOIL_STORE": f"127.0.0.1:{free_port()}", "TMPDIR": folder, **extra}
        if provider:
            self.environment["TREFOIL_PROVIDER"] = provider
        self.command = [program, str(options.seconds), str(options.seed)]

    def run(self):
        begin = time.monotonic()
        try:
            self._start()
            self._watch(begin)
        finally:
            self._end()
        self.seconds = time.monotonic() - begin
        self._read()
        for rank, process in enumerate(self.processes):
            self._judge_rank(rank, process.returncode)
        self.verdict = self._verdict()

    def _start(self):
        for rank in range(self.options.ranks):
            path = self.folder / f"rank{rank}"
            self.outputs.append(path)
            with open(path, "w", encoding="utf-8") as output:
                self.processes.append(subprocess.Popen(self.command, env=self.environment | {"TREFOIL_RANK": str(rank)},
                                                       stdout=output, stderr=output, stdin=subprocess.DEVNULL))

    def _watch(self, begin):
        next_sample = next_stop = begin + self.options.sample
        next_line = begin + 10
        deadline = begin + self.options.seconds + TO_END
        while any([process.poll() is None for process in self.processes]):
            now = time.monotonic()
            if now > deadline:
                self.wrong.append(f"{self.transport}: ranks had not ended {TO_END} s after their time; they were killed")
                return
            if now >= next_sample and now - begin < self.options.seconds:
                self._sample(now - begin)
                next_sample += self.options.sample
            if now >= next_line:
                self._tell(now - begin)
                next_line += 10
            if now >= next_stop and not self.options.no_stops:
                self._stop_one()
                next_stop = now + self.chance.uniform(2, 8)
            time.sleep(0.05)

    def _stop_one(self):
        process = self.chance.choice(self.processes)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(self.chance.uniform(0.05, 0.8))
            os.kill(process.pid, signal.SIGCONT)  # not yet waited for, so the number is still its own
            self.stops += 1

    def _sample(self, seconds):
        self._read()
        try:
            resident = sum(resident_bytes(process.pid) for process in self.processes)
            files = sum(len(os.listdir(f"/proc/{process.pid}/fd")) for process in self.processes)
        except (OSError, ValueError):
            return  # a rank has ended
        self.samples.append(Sample(round(seconds, 1), resident, files, self.operations))

    def _tell(self, seconds):
        if self.samples:
            last = self.samples[-1]
            print(f"  {self.transport}: {seconds:.0f} s, {self.operations} operations, {self.communicators} communicators, "
                  f"{last.resident / 2**20:.1f} MiB, {last.files} descriptors", flush=True)

    def _read(self):
        """Sums of what the ranks have written so far."""
        rounds = [numbers for numbers in map(last_round, self.outputs) if numbers]
        if rounds:
            self.operations = sum(numbers[1] for numbers in rounds)
            _, _, self.on_first, self.plans, self.communicators = rounds[0]

    def _judge_rank(self, rank, code):
        text = self.outputs[rank].read_text(encoding="utf-8", errors="replace")
        lines = [line for line in text.splitlines() if line.startswith("wrong ")]
        if lines or code != 0:
            self.wrong.append(f"{self.transport}, rank {rank}: {lines[0] if lines else text[-500:]} (exit code {code})")

    def _end(self):
        """Ends what still runs: processes of this job only."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    def quarter(self, number):
        """The samples of one quarter of the time; all of them if there are too few."""
        length = self.options.seconds / 4
        found = [sample for sample in self.samples if number * length <= sample.seconds < (number + 1) * length]
        return found or self.samples

    def _verdict(self):
        if self.wrong:
            return "wrong results or failures"
        if self.options.seconds < SHORTEST or len(self.samples) < 8:
            return f"too short to say (below {SHORTEST} s)"
        third, last = self.quarter(2), self.quarter(3)
        resident = [statistics.median(sample.resident for sample in quarter) for quarter in (third, last)]
        files = [statistics.median(sample.files for sample in quarter) for quarter in (third, last)]
        if resident[1] > resident[0] * (1 + GROWTH) + GROWTH_PER_RANK * self.options.ranks:
            return f"NOT flat: memory {resident[0] / 2**20:.1f} -> {resident[1] / 2**20:.1f} MiB"
        if files[1] > files[0] + self.options.ranks:
            return f"NOT flat: descriptors {files[0]:.0f} -> {files[1]:.0f}"
        return "flat"

    def as_data(self):
        return {"transport": self.transport, "torus": self.options.torus, "seed": self.options.seed,
                "seconds": round(self.seconds, 1), "operations": self.operations, "wrong": self.wrong,
                "calls on the first communicator": self.on_first, "new plans": self.plans,
                "communicators": self.communicators, "stops": self.stops, "verdict": self.verdict,
                "samples": [sample._asdict() for sample in self.samples]}


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def last_round(path):
    """The numbers of the last whole line "round ..." of a rank; None: there is none yet."""
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 4000))
        lines = [line for line in file.read().decode(errors="replace").split("\n")[:-1] if line.startswith("round ")]
    words = lines[-1].split()[1:] if lines else []
    return [int(word) for word in words] if len(words) == 5 else None
