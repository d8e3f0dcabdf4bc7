# SPDX-License-Identifier: BSD-3-Clause
"""One job of real processes whose random rank is disturbed, and what each survivor made of it."""
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

TIMEOUT = 4.0  # the job's TREFOIL_TIMEOUT
# name: backend, provider, further variables
TRANSPORTS = {
    "memory": ("memory", "", {}),
    "ofi net": ("ofi", "net", {}),
    "ofi rxm": ("ofi", "tcp;ofi_rxm", {}),
    "ofi shm": ("ofi", "shm", {}),
    "ucx tcp": ("ucx", "", {"UCX_TLS": "tcp"}),
    "ucx posix": ("ucx", "", {"UCX_TLS": "posix"}),
}
FAULTS = ("KILL", "TERM", "STOP", "STOP+CONT")


class Plan:
    """Whom a seed disturbs, how and when."""

    torus, ranks = "3x3", 9
    timeout = TIMEOUT

    def __init__(self, seed, transport, fault):
        chance = random.Random(f"{seed} {transport} {fault}")
        self.seed, self.transport, self.fault = seed, transport, fault
        self.victim = chance.randrange(self.ranks)
        self.in_start_up = chance.random() < 0.35
        self.delay = chance.uniform(0, 0.6 if self.in_start_up else 3)
        self.pause = chance.uniform(1, 6)
        self.launcher = chance.choice(("store", "run"))


def variables_of(plan, transport):
    """Of the ranks, for Trefoil and what is below it."""
    backend, provider, extra = TRANSPORTS[transport]
    variables = {"TREFOIL_TORUS": plan.torus, "TREFOIL_TIMEOUT": str(plan.timeout), "TREFOIL_BACKEND": backend, **extra}
    return variables | ({"TREFOIL_PROVIDER": provider} if provider else {})


class Rank:
    """A process and the lines it has written."""

    def __init__(self, path):
        self.path, self.process, self.pid, self.code = path, None, None, None
        self.ended_at = None

    def lines(self):
        try:
            with open(self.path, errors="replace") as file:
                return [line.rstrip("\n").split(" ", 2) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def line(self, word):
        return next((line for line in self.lines() if line[0] == word), None)

    def alive(self):
        """Looks once; under `trefoil run`, whose children the ranks are, by the state of the process."""
        if self.code is not None:
            return False
        if self.process is not None:
            self.code = self.process.poll()
        elif self.pid is None:
            line = self.line("started")
            self.pid = int(line[2]) if line else None
        elif not process_runs(self.pid):
            self.code = {"failed": 3, "wrong": 5, "done": 0}.get(self.last_word(), -1)
        if self.code is not None:
            self.ended_at = time.monotonic()
        return self.code is None

    def last_word(self):
        words = [line[0] for line in self.lines() if line[0] != "ended"]
        return words[-1] if words else ""


def process_runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    """`arguments` of the program's beyond the seed and the stop file; `place` may start ranks elsewhere (testbed.py)."""

    def __init__(self, plan, tool, program, folder, arguments=(), place=None):
        self.plan, self.folder = plan, folder
        self.limit = 4 * plan.timeout  # of a survivor, from the fault to its end; waiting for a store takes two time-outs
        self.stop_file = os.path.join(folder, "stop")
        self.ranks = [Rank(os.path.join(folder, f"rank{r}")) for r in range(plan.ranks)]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TREFOIL_")} | {"TMPDIR": folder}
        command = [program, str(plan.seed), self.stop_file, *arguments]
        self.launcher = None
        self.errors = open(os.path.join(folder, "errors"), "w")
        self.start(command, environment, tool, place)

    def start(self, command, environment, tool, place):
        plan, folder = self.plan, self.folder
        environment |= variables_of(plan, plan.transport)
        if plan.launcher == "run":
            script = 'exec "$@" > "$OUTPUTS/rank$TREFOIL_RANK"'
            environment["OUTPUTS"] = folder
            self.launcher = subprocess.Popen(
                [tool, "run", "-n", str(plan.ranks), "--grace", str(self.limit), "--", "/bin/sh", "-c", script, "sh", *command],
                env=environment, stdout=self.errors, stderr=self.errors)
            return
        store = f"127.0.0.1:{free_port()}"
        for number, rank in enumerate(self.ranks):
            own = {"TREFOIL_RANK": str(number), "TREFOIL_SIZE": str(plan.ranks), "TREFOIL_STORE": store}
            words = command
            if place is not None:
                words, own = place.words_of(number) + command, own | place.variables_of(number)
            with open(rank.path, "w") as output:
                rank.process = subprocess.Popen(words, env=environment | own, stdout=output, stderr=self.errors)
            rank.pid = rank.process.pid

    def until(self, condition, seconds):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def send(self, rank, number):
        if rank.alive() and rank.pid:
            try:
                os.kill(rank.pid, number)
            except ProcessLookupError:
                pass

    def run(self):
        """Disturbs the victim; returns when all have ended, or the limit has passed. The time of the fault."""
        plan, victim = self.plan, self.ranks[self.plan.victim]
        self.until(lambda: victim.alive() and victim.pid, 20)
        if not plan.in_start_up:
            self.until(lambda: all(rank.line("created") or not rank.alive() for rank in self.ranks), 30)
        time.sleep(plan.delay)
        self.phase = "calls" if victim.line("created") else "start-up"
        fault_at = self.last_change = time.monotonic()
        self.send(victim, {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM}.get(plan.fault, signal.SIGSTOP))
        if plan.fault == "STOP+CONT":
            time.sleep(plan.pause)
            self.send(victim, signal.SIGCONT)
            self.last_change = time.monotonic()
            time.sleep(1)
            open(self.stop_file, "w").close()
        others = [rank for number, rank in enumerate(self.ranks)
                  if number != plan.victim or plan.fault == "STOP+CONT"]
        self.until(lambda: not any([rank.alive() for rank in others]), self.last_change + self.limit - time.monotonic())
        return fault_at

    def clean_up(self):
        """Ends what is left: the processes of this job only, by their numbers."""
        for rank in self.ranks:
            if rank.alive():
                self.send(rank, signal.SIGKILL)
        for rank in self.ranks:
            if rank.process is not None:
                rank.process.wait()
        if self.launcher is not None:
            try:
                self.launcher.wait(20)
            except subprocess.TimeoutExpired:
                self.launcher.kill()
                self.launcher.wait()
        self.errors.close()


def first_rank_named(text):
    found = re.search(r"\b[Rr]anks? (\d+)", text)
    return int(found[1]) if found else None


def failed_call(line, fault_at):
    """What a line tells of a call that failed."""
    status, call, text = (line[2].split(" ", 2) + [""])[:3]
    return {"seconds": round(float(line[1]) - fault_at, 2), "status": int(status), "call": call, "text": text}


def verdict(rank, culprits, fault_at, before=frozenset()):
    """What became of one survivor, in a few words and with its text. `before`: the culprits of a failure that had to come
    before a shrink; it must have named one of them, too."""
    result = {"code": rank.code, "seconds": None, "text": "", "call": "", "status": None}
    failed, wrong, expected = rank.line("failed"), rank.line("wrong"), rank.line("expected")
    if failed:
        result |= failed_call(failed, fault_at)
    if wrong or rank.code == 5:
        result |= {"class": "wrong", "text": " ".join(wrong or [])}
    elif rank.code is None:
        result["class"] = "hang"
    elif rank.code == 0:
        result["class"] = "finished"
    elif rank.code == 3 and failed:
        named = first_rank_named(result["text"])
        result["class"] = "named" if named in culprits else "fence" if tells_no_rank(named, result) else "other"
    else:
        result["class"] = "crash"
    if expected and result["class"] in ("finished", "named"):
        first = failed_call(expected, fault_at)
        if first_rank_named(first["text"]) not in before:
            result |= first | {"class": "other"}
    return result


def tells_no_rank(named, result):
    """A launcher's fence, or MPI's, that came back without saying who is missing."""
    return named is None and ("fence" in result["text"] or "not all ranks of this communicator came" in result["text"])


def left_over(before, pids):
    """New files in memory; and in /tmp, where others work, those that bear a rank's number: as a word of its own, since
    the random names of others have digits, too ("soak-5110wg0i" is not of process 5110)."""
    numbers = re.compile(r"(?<![0-9A-Za-z])(" + "|".join(str(pid) for pid in pids) + r")(?![0-9A-Za-z])")
    return sorted(path for path in shared_files() - before
                  if path.startswith("/dev/shm/") or (pids and numbers.search(path)))


def shared_files():
    return {os.path.join(folder, name) for folder in ("/dev/shm", "/tmp") for name in os.listdir(folder)}


def in_own_shared_memory(mark, size="50%"):
    """Starts the program again with a /dev/shm of its own, where that is allowed: others use that of the host. `mark`
    names the variable that tells the second start. True: /dev/shm is its own."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"]
    if os.environ.get(mark):
        return True
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return False
    script = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
    os.environ[mark] = "1"
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-B", *sys.argv])
    return True


def available(tool, names):
    text = subprocess.run([tool, "info"], capture_output=True, text=True, check=False).stdout
    return [name for name in names if TRANSPORTS[name][0] == "memory" or TRANSPORTS[name][0] in text]


def run_job(plan, tool, program):
    before = shared_files()
    with tempfile.TemporaryDirectory(prefix="disturbed-") as folder:
        job = Job(plan, tool, program, folder)
        try:
            fault_at = job.run()
        finally:
            job.clean_up()
        survivors, victim = {}, None
        for number, rank in enumerate(job.ranks):
            if number != plan.victim:
                survivors[number] = verdict(rank, {plan.victim}, fault_at)
            elif plan.fault == "STOP+CONT":
                victim = verdict(rank, set(), fault_at)
        with open(os.path.join(folder, "errors"), errors="replace") as file:
            errors = file.read()[-4000:]
    return {"seed": plan.seed, "transport": plan.transport, "fault": plan.fault, "launcher": plan.launcher,
            "victim": plan.victim, "phase": job.phase, "delay": round(plan.delay, 3),
            "pause": round(plan.pause, 2) if plan.fault == "STOP+CONT" else None,
            "survivors": survivors, "the victim": victim, "left over": left_over(before, [rank.pid for rank in job.ranks if rank.pid]), "errors": errors}
