# SPDX-License-Identifier: BSD-3-Clause
"""One case of the table of faults: a job whose victim brings a fault upon itself in a phase, and what the others saw."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from job import TRANSPORTS, Job, first_rank_named, left_over, shared_files, verdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "network"))
import testbed  # noqa: E402

# What ends the victim; what takes a resource from it; what happens between ranks.
ENDS, RESOURCES = ("KILL", "TERM", "exit"), ("shm", "files", "memlock", "space")
FAULTS = {
    "KILL": "the process is killed",
    "TERM": "the process is terminated",
    "exit": "the process exits without destroying its communicator",
    "STOP": "the process is stopped, until all others have ended",
    "STOP+CONT": "the process is stopped, and goes on after 1 to 6 s",
    "link": "one link of an emulated torus goes down",
    "shm": "/dev/shm is full",
    "files": "the process can open no more descriptors, or at most three",
    "memlock": "the process may lock no memory",
    "space": "the address space of the process can grow by 4 MiB at most",
}
# Each with the longest time from its begin to the fault, in seconds.
PHASES = {
    "create": 0.12, "setup": 0.01, "greeting": 0.01, "small": 0.2, "large": 0.2, "rooted": 0.2, "nonblocking": 0.2,
    "persistent": 0.2, "between": 0.2, "shrink": 0.4, "destroy": 0.002,
}
OVER_NETWORK = ("ofi net", "ofi rxm", "ucx tcp")  # can cross the links of an emulated torus
UNNOTICED = 1.5  # seconds that a job goes on after a fault that nobody need notice
FAULT_WITHIN = 40  # seconds
# How many time-outs a survivor may need. A shrink gives up after four, and a call follows it.
TIMEOUTS = {"shrink": 6}


class Case:
    """What a seed makes of a fault, a phase and a transport. A plan of a Job."""

    timeout, launcher = 3.0, "store"

    def __init__(self, fault, phase, transport, seed):
        chance = random.Random(f"{seed} {fault} {phase} {transport}")
        self.fault, self.phase, self.transport, self.seed = fault, phase, transport, seed
        self.torus, self.ranks = ("2x2x2", 8) if fault != "link" and chance.random() < 0.1 else ("3x3", 9)
        self.victim = chance.randrange(self.ranks)
        self.delay = 0 if fault in RESOURCES and phase == "create" else chance.uniform(0, PHASES[phase])
        if phase == "shrink":  # which takes some milliseconds, once all have come
            self.delay *= (self.delay / PHASES[phase]) ** 2
        self.pause = chance.uniform(1, 6)
        most = {"files": (60, 3), "space": (100 << 10, 4 << 10)}.get(fault, (0, 0))
        self.amount = chance.randint(0, most[0] if phase == "create" else most[1])

    @property
    def dead_before(self):
        """Who is killed before the fault, so that all others shrink; None: nobody."""
        return (self.victim + 1) % self.ranks if self.phase == "shrink" else None

    def __str__(self):
        return f"{self.fault}/{self.phase}/{self.transport}"

    def arguments(self):
        return [self.phase, self.fault, str(self.victim), str(round(self.delay * 1e6)), str(self.amount)]


class Links(testbed.Testbed):
    """An emulated torus as a place of a Job."""

    def __init__(self):
        super().__init__(testbed.Torus("3x3"), routed=True)

    def words_of(self, rank):
        return ["ip", "netns", "exec", self.names[rank]]

    def variables_of(self, _rank):
        return {"TREFOIL_STORE": testbed.STORE, "TREFOIL_TOKEN": self.token, "TREFOIL_NICS": self.nics_of_ports()}

    def cut(self, rank):
        """The link of this rank in direction +0."""
        subprocess.run(["ip", "-n", self.names[rank], "link", "set", testbed.nic_of("+0"), "down"], check=True, timeout=20)

    def across(self, rank):
        rows, columns = self.torus.sizes
        return (rank + columns) % (rows * columns)


class CaseJob(Job):
    def __init__(self, case, program, folder, place):
        super().__init__(case, "", program, folder, case.arguments(), place)
        self.place, self.hung = place, []
        self.limit = TIMEOUTS.get(case.phase, 4) * case.timeout

    def anybody_alive(self):
        """Looks at all: a process that has ended is there until its parent has looked."""
        return any([rank.alive() for rank in self.ranks])

    def run(self):
        """Returns the time of the fault, or None if it did not come, when all have ended or the limit has passed."""
        case, victim = self.plan, self.ranks[self.plan.victim]
        self.until(lambda: not self.anybody_alive() or victim.line("fault") or not victim.alive(), FAULT_WITHIN)
        line = victim.line("fault")
        if line is None:
            self.until(lambda: not self.anybody_alive(), self.limit)
            return None
        fault_at = last_change = float(line[1])
        if case.fault == "link":
            self.place.cut(case.victim)
            fault_at = last_change = time.monotonic()
        elif case.fault == "STOP+CONT":
            time.sleep(case.pause)
            self.send(victim, signal.SIGCONT)
            last_change = time.monotonic()
        # After a shrink the others go on without the victim, whatever has become of it.
        if case.fault not in ENDS + ("STOP",) or case.dead_before is not None:
            self.until(lambda: not self.anybody_alive(), UNNOTICED)
            with open(self.stop_file, "w", encoding="utf-8"):
                pass
        waited_for = [rank for rank in self.ranks if rank is not victim or case.fault not in ENDS + ("STOP",)]
        self.until(lambda: not any([rank.alive() for rank in waited_for]), last_change + self.limit - time.monotonic())
        self.hung = [rank for rank in waited_for if rank.alive()]
        if case.fault == "STOP" and not self.hung:  # goes on when all others have left: it has to end, too
            self.send(victim, signal.SIGCONT)
            self.until(lambda: not victim.alive(), self.limit)
            self.hung = [victim] if victim.alive() else []
        return fault_at


def stacks_of(pid):
    """Where the threads of a hung process are; empty without gdb."""
    if not shutil.which("gdb"):
        return ""
    command = ["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 25"]
    with contextlib.suppress(subprocess.TimeoutExpired):
        text = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=60,
                              stdin=subprocess.DEVNULL).stdout
        return "\n".join(line[:160] for line in text.splitlines() if line.startswith(("#", "Thread")))
    return ""


def culprits(case, place, rank):
    """Whom the message of this rank may name first; and whom that of the call before the shrink."""
    numbers = {case.victim, place.across(case.victim)} if place else {case.victim}
    before = numbers | {case.dead_before}
    shrunk = rank.line("shrunk")
    if not shrunk:
        return numbers, before
    # The new communicator has new numbers. Without one or two of them it is clear who is missing.
    gone = {case.dead_before} if int(shrunk[2]) == case.ranks - 1 else {case.dead_before, case.victim}
    left = [number for number in range(case.ranks) if number not in gone]
    return {left.index(number) for number in numbers & set(left)}, before


def in_folder(folder):
    """What ranks have left where they keep temporary files."""
    own = {"stop", "errors"}
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name not in own and not name.startswith("rank"))


def remove(paths):
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def run_case(case, program):
    """The outcome as data. `victim` is judged where it lives on: it may fail in words, too."""
    files_before = shared_files()
    filled = []
    with tempfile.TemporaryDirectory(prefix="fault-") as folder, \
            (Links() if case.fault == "link" else contextlib.nullcontext()) as place:
        job = CaseJob(case, program, folder, place)
        try:
            fault_at = job.run()
            stacks = stacks_of(job.hung[0].pid) if job.hung else ""
        finally:
            job.clean_up()
            filled = [f"/dev/shm/filled-by-{rank.pid}" for rank in job.ranks]
            remove(filled)
        verdicts = {}
        for number, rank in enumerate(job.ranks):
            named, before_shrink = culprits(case, place, rank)
            verdicts[number] = verdict(rank, named, fault_at or 0, before_shrink)
        verdicts.pop(case.dead_before, None)
        for number in {case.victim, place.across(case.victim)} if place else {case.victim}:
            one = verdicts[number]  # what it says of itself needs no number
            of_itself = first_rank_named(one["text"]) is None or one["text"].startswith("this rank ")
            if one["class"] == "other" and of_itself:
                one["class"] = "named"
        if case.fault == "shm":  # of the whole host: nobody is the culprit
            for one in verdicts.values():
                one["class"] = "failed" if one["class"] in ("named", "other", "fence") else one["class"]
        left = in_folder(folder) + left_over(files_before, [rank.pid for rank in job.ranks])
        with open(os.path.join(folder, "errors"), errors="replace", encoding="utf-8") as file:
            errors = file.read()[-4000:]
    # After a broken link there is no victim: both ends survive.
    victim = None if case.fault == "link" else verdicts.pop(case.victim)
    remove(left)
    return {"fault": case.fault, "phase": case.phase, "transport": case.transport, "seed": case.seed, "torus": case.torus,
            "rank": case.victim, "delay": round(case.delay, 4), "struck": fault_at is not None,
            "pause": round(case.pause, 1) if case.fault == "STOP+CONT" else None, "amount": case.amount,
            "survivors": verdicts, "victim": None if case.fault in ENDS else victim, "left": left,
            "stacks": stacks, "errors": errors}


def cases(seed, transports, faults):
    """In an order in which what was seen so far is about all faults, phases and transports."""
    found = [Case(fault, phase, transport, seed) for fault in faults for phase in PHASES for transport in transports
             if fault != "link" or transport in OVER_NETWORK]
    random.Random(seed).shuffle(found)
    return found


assert set(OVER_NETWORK) <= set(TRANSPORTS)
