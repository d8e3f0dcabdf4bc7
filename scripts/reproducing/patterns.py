# SPDX-License-Identifier: BSD-3-Clause
"""Published patterns that are no algorithms: priced by the step model, or counted between groups."""
def bruck_steps(size, beyond=False):
    """Published one-way Bruck on a ring: (farthest hops, load in shares) of each step, by shortest routes. Distances 3^k and
    2*3^k; the last step takes what is missing, or (`beyond`) both distances though the second one is more than once round."""
    steps, window = [], 1
    while window < size:
        load, far = {1: 0.0, -1: 0.0}, 0
        for distance in (window, 2 * window):
            if distance < size or beyond:
                distance %= size
                back = size - distance
                way = 1 if distance <= back else -1
                load[way] += min(distance, back) / (2 if distance == back else 1)
                load[-way] += back / 2 if distance == back else 0
                far = max(far, min(distance, back))
        steps.append((far, max(load.values())))
        window *= 3
    return steps


def bruck_steered_load(size):
    """The same where no message goes the other way round."""
    window, load = 1, 0
    while window < size:
        load += window + (2 * window if 2 * window < size else 0)
        window *= 3
    return load


def bruck_messages(size):
    """How many messages a rank sends."""
    return sum(distance * 3**k < size for k in range(size.bit_length()) for distance in (1, 2))


def bruck_time(torus, size, alpha, hop, rate, beyond=False):
    """The step model's time of one-way Bruck on a torus of equal sizes: D parts, each in another dimension."""
    sizes = [int(n) for n in torus.split("x")]
    assert len(set(sizes)) == 1, torus
    return sum(len(sizes) * (alpha + hop * far) + load * size / rate for far, load in bruck_steps(sizes[0], beyond))


def trivance_simulated_time(size, alpha, hop, rate):
    """The step model's time of what Trivance's simulator runs on 16x16x16: reduce-scatter and allgather by distances 1, 3 and 4
    in each of the three dimensions, k-th message 0.33^(k+1) of a third of the vector, both ways in all dimensions. It names no
    blocks, and is no allreduce."""
    total = 0.0
    for step, distance in enumerate((1, 1, 1, 3, 3, 3, 4, 4, 4)):
        total += 2 * (alpha + hop * distance + distance * 0.33**(step + 1) * size / 3 / rate)
    return total


def trivance_distances(size):
    """Of published Trivance on a ring: 3^k, and for the last step half of what is missing, rounded up."""
    distances, reach = [], 1
    while reach < size:
        distances.append(reach if 3 * reach <= size else -(-(size - reach) // 2))
        reach *= 3
    return distances


def trivance_blocks(size):
    """Which step and direction each rank sends each block in, in the reduce-scatter of published Trivance (B): of those that lead
    to the block's owner the one that has least so far; the first one of several. [{block: (step, sense)}] by rank."""
    distances = trivance_distances(size)
    reach = [{0}]  # offsets that the steps from some one on lead to, from the last one back
    for distance in reversed(distances):
        reach.insert(0, {(offset + sense * distance) % size for offset in reach[0] for sense in (-1, 0, 1)})
    ways = [(step, sense) for step in range(len(distances)) for sense in (1, -1)]
    chosen = []
    for rank in range(size):
        filled, of_rank = dict.fromkeys(ways, 0), {}
        for block in range(size):
            if block != rank:
                leading = [way for way in ways if (block - rank - way[1] * distances[way[0]]) % size in reach[way[0] + 1]]
                of_rank[block] = min(leading, key=filled.get)
                filled[of_rank[block]] += 1
        chosen.append(of_rank)
    return chosen


def trivance_lacking(size):
    """How many ranks lack a contribution after that reduce-scatter, run symbolically."""
    distances, chosen = trivance_distances(size), trivance_blocks(size)
    held = [[{rank} for _ in range(size)] for rank in range(size)]
    for step, distance in enumerate(distances):
        arriving = [((rank + way[1] * distance) % size, block, set(held[rank][block]))
                    for rank in range(size) for block, way in chosen[rank].items() if way[0] == step]
        for rank, block, contributions in arriving:
            held[rank][block] |= contributions
    return sum(len(held[rank][rank]) < size for rank in range(size))


def trivance_schedules(name, size):
    """The pattern on a ring as schedules for `trefoil plan --schedule`: "trivance-l", an allreduce of whole vectors, or
    "trivance-b", a reduce-scatter."""
    distances = trivance_distances(size)
    chosen = trivance_blocks(size) if name == "trivance-b" else None
    for rank in range(size):
        steps = []
        for step, distance in enumerate(distances):
            sends, receives = [], []
            for sense in (1, -1):
                to, source = (rank + sense * distance) % size, (rank - sense * distance) % size
                out, into = ([[0, 1]], [[0, 1]]) if chosen is None else (
                    [[block, 1] for block, way in chosen[r].items() if way == (step, sense)] for r in (rank, source))
                if out:
                    sends.append({"peer": to, "extents": out})
                if into:
                    receives.append({"peer": source, "applications": [{"action": "reduce", "extents": into}]})
            steps.append({"sends": sends, "receives": receives})
        part = {"vector_blocks": 1 if chosen is None else size, "steps": steps}
        yield {"collective": "allreduce" if chosen is None else "reduce_scatter", "torus": str(size), "rank": rank, "parts": [part]}


def apart_schedules():
    """trivance-b on a ring of three, whose two arrivals are reduced one after the other instead of jointly: the second one on the
    left, so that they are no pair."""
    for rank in range(3):
        after, before = ((rank + 1) % 3, "+0"), ((rank - 1) % 3, "-0")
        def send(to, block):
            return {"peer": to[0], "port": to[1], "extents": [[block, 1]]}
        def receive(source, action, block):
            return {"peer": source[0], "port": source[1], "applications": [{"action": action, "extents": [[block, 1]]}]}
        yield {"collective": "allreduce", "torus": "3", "rank": rank, "parts": [{"vector_blocks": 3, "steps": [
            {"sends": [send(peer, peer[0]) for peer in (after, before)],
             "receives": [receive(before, "reduce", rank), receive(after, "prepend", rank)]},
            {"sends": [send(peer, rank) for peer in (after, before)],
             "receives": [receive(peer, "replace", peer[0]) for peer in (before, after)]}]}]}


def growing_allgather(ranks):
    """Allgather at distances 1, 2, 4, ..., what follows a scatter along a halving tree: [(share of the vector, peers by rank)]."""
    steps, distance = [], 1
    while distance < ranks:
        steps.append((distance / ranks, [rank ^ distance for rank in range(ranks)]))
        distance *= 2
    return steps


def crossing(steps, groups):
    """Vectors that cross between the groups of the ranks."""
    return sum(share * sum(groups[rank] != groups[peer] for rank, peer in enumerate(peers)) for share, peers in steps)
