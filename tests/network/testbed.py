# SPDX-License-Identifier: BSD-3-Clause
"""A torus of network namespaces: one per rank, one veth pair per link.

The NIC of direction +0 of a rank is its interface p0, of -0 its m0, and so on. A separate interface, `meet`, carries
what ranks say to their store. Two ways to address the NICs:

- wires: one subnet per link. Nothing is forwarded, and a packet whose source address does not belong to the link on which
  it arrives is dropped: what reaches a neighbour has left by the NIC of that link and has that NIC's address.
- routed: ranks forward, and the address of a NIC is always reached by travelling towards it: to the NIC of direction -0
  packets go in direction +0, after the other dimensions. So a sender's direction is the receiver's address.
"""
import itertools
import os
import re
import signal
import subprocess

PREFIX = "trefoil"
STORE = "10.98.0.1:29571"
SETUP_SECONDS = 30


def ip(*arguments, text=None):
    subprocess.run(["ip", *arguments], input=text, text=True, check=True, timeout=SETUP_SECONDS, capture_output=True)


def impossible():
    """Why this machine cannot have such a torus; empty when it can."""
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    name = f"{PREFIX}-{os.getpid()}-try"
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"cannot make network namespaces: {getattr(error, 'stderr', None) or error}"
    ip("netns", "del", name)
    return ""


def opposite(direction):
    return ("-" if direction[0] == "+" else "+") + direction[1:]


def nic_of(direction):
    """"+0" -> "p0"."""
    return ("p" if direction[0] == "+" else "m") + direction[1:]


class Torus:
    """Row-major ranks, as Trefoil counts them."""

    def __init__(self, name):
        self.name = name
        self.sizes = [int(size) for size in name.split("x")]
        self.places = list(itertools.product(*(range(size) for size in self.sizes)))
        self.ranks = len(self.places)
        self.directions = [sign + str(d) for d, size in enumerate(self.sizes) if size > 1 for sign in "+-"]

    def next_direction(self, here, rank, last):
        """The first hop from `here` to the rank's NIC that is reached by travelling in direction `last`."""
        final = int(last[1:])
        for dimension, size in enumerate(self.sizes):
            ahead = (self.places[rank][dimension] - self.places[here][dimension]) % size
            if dimension != final and ahead:
                sign = last[0] if 2 * ahead == size else "+" if 2 * ahead < size else "-"
                return sign + str(dimension)
        return last

    def path(self, here, rank, last):
        """The links (rank, direction) of a message that leaves through port `last`."""
        links = []
        while here != rank:
            links.append((here, self.next_direction(here, rank, last)))
            here = self.neighbour(*links[-1])
        return links

    def neighbour(self, rank, direction):
        place = list(self.places[rank])
        dimension = int(direction[1:])
        place[dimension] = (place[dimension] + (1 if direction[0] == "+" else -1)) % self.sizes[dimension]
        return self.places.index(tuple(place))


class Testbed:
    """The namespaces of a torus; use it in a `with`, which removes them and ends what still runs in them."""

    def __init__(self, torus, routed=False):
        self.torus = torus
        self.routed = routed
        self.names = [f"{PREFIX}-{os.getpid()}-{rank}" for rank in range(torus.ranks)]
        self.hub = f"{PREFIX}-{os.getpid()}-hub"
        self.processes = []

    def __enter__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupt)  # an exception, so that __exit__ runs
        remove_abandoned()
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end()
        for name in [*self.names, self.hub]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=SETUP_SECONDS, check=False)

    @staticmethod
    def _interrupt(number, _frame):
        raise KeyboardInterrupt(signal.Signals(number).name)

    def _build(self):
        for name in [*self.names, self.hub]:
            ip("netns", "add", name)
            ip("netns", "exec", name, "sh", "-c", "cd /proc/sys/net; for f in all default; do "
               f"echo {int(not self.routed)} > ipv4/conf/$f/rp_filter; "
               "[ ! -d ipv6 ] || echo 1 > ipv6/conf/$f/disable_ipv6; done; "
               f"echo {int(self.routed)} > ipv4/ip_forward")
        links = []
        for rank, name in enumerate(self.names):
            for direction in self.torus.directions:
                if direction[0] == "+":
                    peer = self.names[self.torus.neighbour(rank, direction)]
                    links.append(f"link add {nic_of(direction)} netns {name} type veth "
                                 f"peer name {nic_of(opposite(direction))} netns {peer}")
            links.append(f"link add meet netns {name} type veth peer name rank{rank} netns {self.hub}")
        ip("-batch", "-", text="\n".join(links) + "\n")
        for rank, name in enumerate(self.names):
            ip("-n", name, "-batch", "-", text="\n".join(self._addresses(rank)) + "\n")
        for rank, name in enumerate(self.names):
            if self.routed:
                ip("-n", name, "-batch", "-", text="\n".join(self._routes(rank)) + "\n")
        ports = [f"link set rank{rank} master bridge up" for rank in range(self.torus.ranks)]
        ip("-n", self.hub, "-batch", "-", text="\n".join(["link add bridge type bridge", "link set bridge up", *ports]))

    def address(self, rank, direction):
        """Of the NIC, with the length of its subnet's prefix."""
        number = self.torus.directions.index(direction)
        if self.routed:
            return f"10.77.{rank}.{number + 1}/16"
        owner = rank if direction[0] == "+" else self.torus.neighbour(rank, direction)
        link = owner * len(self.torus.directions) // 2 + number // 2
        return f"10.77.{link}.{1 if owner == rank and direction[0] == '+' else 2}/24"

    def _addresses(self, rank):
        # A subnet that covers all NICs is for UCX, which connects within a subnet only; it must not become a route.
        flag = " noprefixroute" if self.routed else ""
        commands = ["link set lo up", f"addr add 10.98.0.{rank + 1}/24 dev meet", "link set meet up"]
        for direction in self.torus.directions:
            nic = nic_of(direction)
            commands += [f"addr add {self.address(rank, direction)} dev {nic}{flag}", f"link set {nic} up"]
        return commands

    def _routes(self, rank):
        commands = []
        for peer in range(self.torus.ranks):
            for last in self.torus.directions if peer != rank else []:
                first = self.torus.next_direction(rank, peer, last)
                target, gateway = (self.address(*end).split("/")[0] for end in
                                   ((peer, opposite(last)), (self.torus.neighbour(rank, first), opposite(first))))
                commands.append(f"route add {target}/32 via {gateway} dev {nic_of(first)} onlink "
                                f"src {self.address(rank, first).split('/')[0]}")
        return commands

    def nics(self, swapped=()):
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
                         "TREFOIL_TORUS": self.torus.name, "TREFOIL_NICS": self.nics(), **(own or {}).get(rank, {})}
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


def remove_abandoned():
    """Removes the namespaces of testbeds whose process was killed."""
    listed = subprocess.run(["ip", "netns", "list"], text=True, capture_output=True, check=False, timeout=SETUP_SECONDS)
    for line in listed.stdout.splitlines():
        match = re.match(rf"({PREFIX}-(\d+)-(?:\d+|hub|try))\b", line)
        if match and not os.path.exists(f"/proc/{match.group(2)}"):
            subprocess.run(["ip", "netns", "del", match.group(1)], capture_output=True, check=False,
                           timeout=SETUP_SECONDS)
