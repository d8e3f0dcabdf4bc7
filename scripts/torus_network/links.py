# SPDX-License-Identifier: BSD-3-Clause
"""What limits the rate of an interface, and shares it fairly between what passes through a node and what it sends.

Behind the limit (tbf) one queue per input interface and one for the node's own packets take turns, byte for byte; with one
queue for all, whoever offers more takes all of the link. htb is used for taking turns alone: its classes may send at far
more than any link's rate. nftables notes on each packet which queue is its own (the input interface is forgotten later).
"""
import re

MTU = 9000
FRAME = MTU + 14  # Ethernet's header counts
QUEUE_BYTES = 16 << 20  # more than all TCP windows that meet in one link: nothing is lost
MANY_NODES, MANY_NODES_BURST = 32, 40000  # with less, 64 nodes on two cores wake up too late to reach the rate
PEAK = 1.1  # of the rate: how fast a link that was idle or late may catch up, after two frames
UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
TABLE = "torusnet"
OWN = "own"


def parse_rate(text):
    """Bits per second. ValueError when the text is no rate."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]bit)", text.lower())
    rate = int(float(match.group(1)) * UNITS[match.group(2)]) if match else 0
    if not 10**5 <= rate <= 10**11:
        raise ValueError(f"\"{text}\" is not a rate of a link; give one such as 50mbit, from 100kbit to 100gbit")
    return rate


def classes(nics):
    """Queue of each input interface and of the node itself."""
    return {name: number + 1 for number, name in enumerate([*nics, OWN])}


def limits(nics, rate, nodes, all_nics=None):
    """Lines for `tc -batch` in one of so many nodes, for some NICs of all that it has."""
    queues = classes(all_nics or nics)
    burst = max(2 * FRAME, rate // 8 // 1000, MANY_NODES_BURST if nodes > MANY_NODES else 0)
    lines = []
    for nic in nics:
        lines += [f"qdisc add dev {nic} root handle 1: tbf rate {rate}bit burst {burst} limit {QUEUE_BYTES} "
                  f"peakrate {int(PEAK * rate)}bit mtu {2 * FRAME}",
                  f"qdisc add dev {nic} parent 1:1 handle 10: htb default {queues[OWN]:x}"]
        for number in queues.values():
            lines += [f"class add dev {nic} parent 10: classid 10:{number:x} htb rate 100gbit quantum {FRAME} "
                      f"burst {1 << 20} cburst {1 << 20}",
                      f"qdisc add dev {nic} parent 10:{number:x} bfifo limit {QUEUE_BYTES}"]
    return lines


def marks(nics):
    """Rules for `nft -f`: a packet's priority names its queue."""
    queue = classes(nics)
    lines = [f"table ip {TABLE} {{", "chain through {", "type filter hook forward priority 0"]
    lines += [f"iifname \"{nic}\" meta priority set 10:{queue[nic]:x}" for nic in nics]
    return lines + ["}", "chain out {", "type filter hook output priority 0", f"meta priority set 10:{queue[OWN]:x}", "}",
                    "}"]
