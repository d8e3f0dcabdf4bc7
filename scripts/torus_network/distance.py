# SPDX-License-Identifier: BSD-3-Clause
"""Links with distance: a program of its own (bench/relay) stands in all links of a network and holds each frame back.

The kernel of many machines has no netem. So with a delay every link is two veth pairs, one from each of its nodes to a
namespace that only the relay uses. A frame passes the node's queues and rate as without a delay; the relay then lets it
take its time on the wire. Nothing else is known of the relay than its namespace and the socket where it reports.
"""
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import time

PROGRAM = "trefoil-relay"
ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {"us": 10**3, "ms": 10**6}
LEAST, MOST = 10**3, 10**8  # nanoseconds
SECONDS = 5  # to start, to report, to end


class RelayError(RuntimeError):
    """Why there is no relay, or it says nothing."""


def parse_delay(text):
    """Nanoseconds. ValueError when the text is no delay of a link."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms)", text.lower())
    delay = round(float(match.group(1)) * UNITS[match.group(2)]) if match else 0
    if not LEAST <= delay <= MOST:
        raise ValueError(f"\"{text}\" is not a delay of a link; give one such as 100us, from 1us to 100ms")
    return delay


def program():
    """Path of the relay: TREFOIL_RELAY, else the one built last here, else one in PATH."""
    named = os.environ.get("TREFOIL_RELAY")
    built = sorted(ROOT.glob(f"build/*/bench/{PROGRAM}"), key=lambda path: path.stat().st_mtime)
    found = named or (str(built[-1]) if built else shutil.which(PROGRAM))
    if not found or not os.access(found, os.X_OK):
        raise RelayError(f"a delay needs the program {PROGRAM}{f', and {named} is none' if named else ''}; build it "
                         "(cmake --build build/release --target trefoil_relay), or name it by TREFOIL_RELAY")
    return found


def start(path, links, rate, delay, report):
    """Starts it in the network namespace of the calling thread; links as the relay reads them."""
    process = subprocess.Popen([path, "--rate", str(rate), "--delay", str(delay), "--report", str(report)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    with process.stdin, process.stdout, process.stderr:  # not `with process`, which would wait for its end
        with contextlib.suppress(BrokenPipeError):  # it ended at once; what it said tells why
            process.stdin.write("".join(link + "\n" for link in links))
            process.stdin.close()
        answered = select.select([process.stdout], [], [], SECONDS)[0]
        if not answered or not process.stdout.readline().startswith("ready"):
            process.kill()
            raise RelayError(f"{path} did not start: {process.stderr.read().strip() or 'it said nothing in time'}")
    process.returncode = 0  # it goes on without us, and is ended by its namespace


def stop(processes_inside):
    """Ends what runs in the relay's namespace; `processes_inside` tells which processes those are."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes_inside():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        end = time.monotonic() + SECONDS
        while processes_inside() and time.monotonic() < end:
            time.sleep(0.005)


class Report:
    """What the relay has done so far, or between two reports."""

    def __init__(self, facts):
        self.seconds, self.processor_seconds = facts["seconds"], facts["cpu_seconds"]
        self.frames, self.bytes, self.lost = facts["frames"], facts["bytes"], facts["lost"]
        self.late = dict(facts["late_us"])

    @classmethod
    def read(cls, path):
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
                end.settimeout(SECONDS)
                end.connect(str(path))
                with end.makefile(encoding="ascii") as file:
                    return cls(json.loads(file.read()))
        except (OSError, ValueError) as error:
            raise RelayError(f"the relay does not answer at {path}: {error}") from error

    def since(self, before):
        late = {us: count - before.late.get(us, 0) for us, count in self.late.items()}
        return Report({"seconds": self.seconds - before.seconds,
                       "cpu_seconds": self.processor_seconds - before.processor_seconds,
                       "frames": self.frames - before.frames, "bytes": self.bytes - before.bytes,
                       "lost": self.lost - before.lost, "late_us": [(us, n) for us, n in late.items() if n]})

    def late_by(self, share):
        """Microseconds that this share of the frames stayed below."""
        seen = 0
        for us in sorted(self.late):
            seen += self.late[us]
            if seen >= share * self.frames:
                return us + 1
        return 0

    def words(self):
        if not self.frames:
            return "relay: no frame yet"
        return (f"relay: {self.frames} frames, {self.frames / max(self.seconds, 1e-9):.0f} per second, {self.lost} lost; half of "
                f"them less than {self.late_by(0.5)} us late, 99 % less than {self.late_by(0.99)} us; "
                f"{self.processor_seconds / max(self.seconds, 1e-9):.1%} of one processor")
