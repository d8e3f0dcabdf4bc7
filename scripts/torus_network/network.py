# SPDX-License-Identifier: BSD-3-Clause
"""Makes and removes the namespaces of a torus: one per rank, one veth pair per link.

The NIC of direction +0 of a rank is its interface p0, of -0 its m0, and so on. A separate interface, `meet`, joins all
ranks through a bridge in a namespace of its own, is not limited, and carries what ranks say to their store. Two ways to
address the NICs:

- routed: ranks forward, and the address of a NIC is always reached by travelling towards it: to the NIC of direction -0
  packets go in direction +0, after the other dimensions. So a sender's direction is the receiver's address.
- wires: one subnet per link. Nothing is forwarded, and a packet whose source address does not belong to the link on which
  it arrives is dropped: what reaches a neighbour has left by the NIC of that link and has that NIC's address.

With a delay, links lead through one more namespace, where a relay holds frames back (distance.py).
"""
import itertools
import os
import subprocess

from . import distance, links, probe
from .geometry import circuits_of, nic_of, opposite

PREFIX = "trefoil-"
MOST_RANKS = 250  # an address has one byte for the rank
SECONDS = 60  # of any one command
WINDOW = 1 << 20
FIRST_WINDOW = WINDOW // links.MTU  # packets: with distance, slow starts would be measured
HOSTS = "10.98.0."
NICS = "10.77.0.0/16"  # without --wires, where each link is a subnet of its own


def run(*command, text=None):
    """Runs a command that must succeed; NetworkError says what it said."""
    try:
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=SECONDS, check=False)
    except OSError as error:
        raise NetworkError(f"{command[0]}: {error.strerror}; install it (Debian: iproute2, nftables)") from error
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()[-1000:]}")
    return done.stdout


class NetworkError(RuntimeError):
    """Why a network cannot be made or used."""


def impossible(limited=False):
    """Why this machine cannot have such a network, and what to do; empty when it can."""
    if os.geteuid() != 0:
        return "network namespaces need root; run this as root"
    name = f"{PREFIX}{os.getpid()}-try"
    tries = ["link add p0 type veth peer name m0", "link set p0 up"]
    try:
        try:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "-batch", "-", text="\n".join(tries) + "\n")
            if limited:
                run("ip", "netns", "exec", name, "tc", "-batch", "-", text="\n".join(links.limits(["p0"], 10**7, 2)) + "\n")
                run("ip", "netns", "exec", name, "nft", "-f", "-", text="\n".join(links.marks(["p0"])) + "\n")
        finally:
            remove_namespaces([name])
    except NetworkError as error:
        return f"this machine cannot have network namespaces with veth pairs{' and limited rates' * limited}: {error}"
    return ""


class Network:
    """The namespaces of a torus. `rate` in bits per second limits every direction of every link; 0 does not. `delay` in
    nanoseconds is the distance of every link, if it is routed; its relay reports at the socket `report`."""

    def __init__(self, torus, name, wires=False, rate=0, delay=0, report=None):
        if torus.ranks > MOST_RANKS or torus.ranks < 2:
            raise NetworkError(f"{torus.name} has {torus.ranks} nodes; from 2 to {MOST_RANKS} are possible")
        for rank, direction in itertools.product(range(torus.ranks), torus.directions):
            there = torus.neighbour(rank, direction)
            if there is not None and torus.neighbour(there, opposite(direction)) is None:
                raise NetworkError(f"a link of {torus.name} works in one direction only; take the cable away (cable=), or slow it "
                                   "down")
        self.torus, self.name, self.wires, self.rate, self.delay, self.report = torus, name, wires, rate, delay, report
        self.names = [f"{PREFIX}{name}-{rank}" for rank in range(torus.ranks)]
        self.hub, self.relay = f"{PREFIX}{name}-hub", f"{PREFIX}{name}-relay"
        self.nics = [nic_of(direction) for direction in torus.directions]

    def spaces(self):
        """All namespaces."""
        return [*self.names, self.hub] + [self.relay] * bool(self.delay)

    def build(self):
        relay = distance.program() if self.delay else ""
        run("ip", "-batch", "-", text="".join(f"netns add {name}\n" for name in self.spaces()))
        run("ip", "-batch", "-", text="\n".join(self._links()) + "\n")
        for rank, name in enumerate(self.names):
            run("ip", "netns", "exec", name, "sh", "-eu", text=self._script(rank))
        ports = [f"link set rank{rank} master bridge up" for rank in range(self.torus.ranks)]
        run("ip", "-n", self.hub, "-batch", "-",
            text="\n".join(["link add bridge type bridge", "link set bridge up", *ports]) + "\n")
        if self.delay:
            self._start_relay(relay)

    def remove(self):
        """Removes what there is of it."""
        distance.stop(lambda: processes([self.relay]))
        remove_namespaces([*self.names, self.hub, self.relay])

    def rewire(self, torus):
        """Joins the NICs as `torus`, of the same nodes, says. The end at the NIC of direction -d moves from node to node; that
        of a link that nobody wants waits in the hub. What runs in the nodes goes on."""
        if self.delay:
            raise NetworkError(f"links of \"{self.name}\" have a distance; only links without --delay can be moved")
        stands, wanted = circuits_of(self.torus), circuits_of(torus)
        moves = [link for link in sorted({*stands, *wanted}) if stands.get(link) != wanted.get(link)]
        self.torus = torus
        away, back = {}, {}
        for rank, direction in moves:
            nic, spare = nic_of(opposite(direction)), f"w{rank}d{direction[1:]}"
            if (rank, direction) in stands:
                away.setdefault(stands[rank, direction], []).append(f"link set {nic} netns {self.hub} name {spare}")
            if (rank, direction) in wanted:
                to = wanted[rank, direction]
                back.setdefault(self.hub, []).append(f"link set {spare} netns {self.names[to]} name {nic} "
                                                     f"address {self._mac(to, opposite(direction))}")
        for rank, lines in away.items():
            run("ip", "-n", self.names[rank], "-batch", "-", text="\n".join(lines) + "\n")
        for name, lines in back.items():
            run("ip", "-n", name, "-batch", "-", text="\n".join(lines) + "\n")
        moved = {(wanted[link], nic_of(opposite(link[1]))) for link in moves if link in wanted}
        scripts = [(self.names[rank], self._rewired(rank, [nic for at, nic in sorted(moved) if at == rank]))
                   for rank in range(torus.ranks) if moves]
        for name, text in scripts:
            run("ip", "netns", "exec", name, "sh", "-eu", text=text)
        return len(moves)

    def _rewired(self, rank, moved):
        """What a shell does inside a namespace after its NICs, or others', were joined anew."""
        lines = [f"for f in /proc/sys/net/ipv4/conf/{nic}/rp_filter; do echo 0 >$f; done" for nic in moved]
        there = [nic_of(d) for d in self.torus.directions if self.torus.neighbour(rank, d) is not None]
        lines += [f"ip neigh flush dev {nic} nud permanent" for nic in there]
        lines += [f"ip route flush root {NICS}", "ip -batch - <<'end'"]
        for line in self._addresses(rank):
            if "meet" not in line and " lo " not in line:
                lines.append(line.replace("addr add", "addr replace").replace("neigh add", "neigh replace"))
        lines += [*self._routes(rank), "end"]
        if self.rate and moved:
            lines += ["tc -batch - <<'end'", *links.limits(moved, self.rate, self.torus.ranks, self.nics), "end"]
        return "\n".join(lines) + "\n"

    def _start_relay(self, path):
        ends = [(self._relay_end(rank, direction), f"10.77.{rank}")
                for owner in range(self.torus.ranks) for plus in self.torus.directions
                if plus[0] == "+" and self.torus.neighbour(owner, plus) is not None
                for rank, direction in ((owner, plus), (self.torus.neighbour(owner, plus), opposite(plus)))]
        lines = [f"link set {nic} mtu {links.MTU} arp off up" for nic, _ in ends]
        run("ip", "netns", "exec", self.relay, "sh", "-eu",
            text="for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do [ ! -e $f ] || echo 1 >$f; done\n"
                 "ip -batch - <<'end'\n" + "\n".join(lines) + "\nend\n")
        with probe.inside(self.relay):
            distance.start(path, [" ".join(one + other) for one, other in zip(ends[::2], ends[1::2])], self.rate,
                           self.delay, self.report)

    def meeting_address(self, rank):
        return f"{HOSTS}{rank + 1}"

    def address(self, rank, direction):
        """Of a NIC, with the length of its subnet's prefix."""
        number = self.torus.directions.index(direction)
        if not self.wires:
            return f"10.77.{rank}.{number + 1}/16"
        owner = rank if direction[0] == "+" else self.torus.neighbour(rank, direction)
        link = owner * len(self.torus.directions) // 2 + number // 2
        return f"10.{77 + (link >> 8)}.{link & 255}.{1 if direction[0] == '+' else 2}/24"

    def _links(self):
        lines = []
        for rank, name in enumerate(self.names):
            for direction in self.torus.directions:
                neighbour = self.torus.neighbour(rank, direction)
                if neighbour is None:  # dark: nothing is up at the other end
                    lines.append(f"{self._end(rank, direction)} type veth peer name d{rank}{nic_of(direction)} netns {self.hub}")
                elif direction[0] == "+":
                    ends = [(rank, direction), (neighbour, opposite(direction))]
                    if self.delay:
                        lines += [f"{self._end(*end)} type veth peer name {self._relay_end(*end)} netns {self.relay}"
                                  for end in ends]
                    else:
                        lines.append(f"{self._end(*ends[0])} type veth peer name "
                                     f"{self._end(*ends[1]).removeprefix('link add ')}")
            lines.append(f"link add meet netns {name} type veth peer name rank{rank} netns {self.hub}")
        return lines

    def _end(self, rank, direction):
        return f"link add {nic_of(direction)} address {self._mac(rank, direction)} netns {self.names[rank]}"

    @staticmethod
    def _relay_end(rank, direction):
        return f"r{rank}{nic_of(direction)}"

    def _mac(self, rank, direction):
        return f"02:00:00:00:{rank:02x}:{self.torus.directions.index(direction):02x}"

    def _script(self, rank):
        """What a shell does inside the namespace of a rank."""
        settings = ["ipv4/ip_forward " + str(int(not self.wires)), "ipv4/tcp_congestion_control reno",
                    f"ipv4/tcp_rmem '4096 {2 * WINDOW} {2 * WINDOW}'", f"ipv4/tcp_wmem '4096 {WINDOW} {WINDOW}'",
                    "ipv4/tcp_moderate_rcvbuf 0", "ipv4/tcp_slow_start_after_idle 0", "ipv4/tcp_no_metrics_save 1"]
        lines = ["cd /proc/sys/net", "set_to() { [ ! -e $1 ] || echo \"$2\" >$1; }",
                 "for f in ipv6/conf/*/disable_ipv6; do set_to $f 1; done",
                 f"for f in ipv4/conf/*/rp_filter; do set_to $f {int(self.wires)}; done"]
        lines += [f"set_to {setting}" for setting in settings]
        lines += ["ip -batch - <<'end'", *self._addresses(rank), *([] if self.wires else self._routes(rank)), "end"]
        if self.rate:
            lines += ["nft -f - <<'end'", *links.marks(self.nics), "end",
                      "tc -batch - <<'end'", *self._limits(rank), "end"]
        return "\n".join(lines) + "\n"

    def _limits(self, rank):
        lines = []
        for direction, nic in zip(self.torus.directions, self.nics):
            if self.torus.neighbour(rank, direction) is not None:
                lines += links.limits([nic], round(self.rate * self.torus.share(rank, direction)), self.torus.ranks, self.nics)
        return lines

    def _addresses(self, rank):
        # A subnet that covers all NICs is for UCX, which connects within a subnet only; it must not become a route.
        flag = "" if self.wires else " noprefixroute"
        lines = ["link set lo up", f"addr add {self.meeting_address(rank)}/24 dev meet", "link set meet up"]
        for direction in self.torus.directions:
            nic = nic_of(direction)
            if self.torus.neighbour(rank, direction) is None:
                continue  # dark
            # One packet per frame: a packet of 64 KiB that is cut up behind the limit would pass it as a burst.
            lines += [f"addr add {self.address(rank, direction)} dev {nic}{flag}",
                      f"link set {nic} mtu {links.MTU} gso_max_segs 1 up"]
            neighbour = self.torus.neighbour(rank, direction)
            address = self.address(neighbour, opposite(direction)).split("/")[0]
            lines.append(f"neigh add {address} lladdr {self._mac(neighbour, opposite(direction))} dev {nic} nud permanent")
        return lines

    def _routes(self, rank):
        lines = []
        for target in range(self.torus.ranks):
            for last in self.torus.directions if target != rank else []:
                if not self.torus.reaches(rank, target, last):
                    continue
                first = self.torus.next_direction(rank, target, last)
                neighbour = self.torus.neighbour(rank, first)
                address, gateway = (self.address(*end).split("/")[0] for end in
                                    ((target, opposite(last)), (neighbour, opposite(first))))
                windows = f" initcwnd {FIRST_WINDOW} initrwnd {FIRST_WINDOW}" * bool(self.delay)
                lines.append(f"route add {address}/32 via {gateway} dev {nic_of(first)} onlink "
                             f"src {self.address(rank, first).split('/')[0]}{windows}")
        return lines


def namespaces():
    """The names of all network namespaces of this machine."""
    return {line.split()[0] for line in run("ip", "netns", "list").splitlines() if line}


def remove_namespaces(names):
    there = namespaces()
    lines = [f"netns del {name}\n" for name in names if name in there]
    if lines:
        run("ip", "-force", "-batch", "-", text="".join(lines))


def processes(names):
    """The processes inside these namespaces."""
    wanted = set()
    for name in names:
        try:
            wanted.add(os.stat(f"/run/netns/{name}").st_ino)
        except FileNotFoundError:
            pass  # removed by somebody else
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}/ns/net").st_ino in wanted:
                found.append(int(entry))
        except OSError:
            pass  # has ended
    return sorted(found)
