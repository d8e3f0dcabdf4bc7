# SPDX-License-Identifier: BSD-3-Clause
"""Runs random MPI programs without Trefoil and with it, and compares what their ranks print and how they end.

Usage: compare.py --mpi openmpi|mpich|abi --layer FILE [--first SEED] [--seeds N] [--at-once N] [--ranks N ...] [--leave-out WHAT ...] --
PROGRAM. Seeds run --at-once in one job; where a job differs, each of its seeds runs alone, and the first step that differs is
printed. Seeds that do not end in order without Trefoil, because of defects of that MPI, are left out. Exit code 77 where that mpirun
is missing.
"""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from run import launcher, run  # noqa: E402

# TREFOIL_MPI_EARLY, and TREFOIL_MPI_TUNE with it: from the first call on; alternately with MPI, from the middle of a program on; the
# same for those alone whose bits stay.
EARLY = {"0": "off", "20": "all", "7": "exact"}
LIMIT_SECONDS = 20
LIMIT_SECONDS_A_SEED = 3


def outcome(options, ranks, early, first, count, steps=()):
    """(exit code, what the ranks have printed, in order; all that was printed); without Trefoil if `early` is None."""
    layer, variables = (None, {}) if early is None else (options.layer, {"TREFOIL_MPI_EARLY": early, "TREFOIL_MPI_TUNE": EARLY[early]})
    limit = LIMIT_SECONDS + LIMIT_SECONDS_A_SEED * count
    code, output = run(options.mpi, ranks, layer, variables, [options.program, str(first), str(count), *options.leave_out, *steps], limit=limit)
    lines = re.findall(r"seed \d+ rank \d+ [^\n]*", output)
    return code, sorted(line for line in lines if " begins " not in line), output


def by_step(lines):
    """{(step, rank): what and digest}."""
    found = {}
    for line in lines:
        match = re.fullmatch(r"seed \d+ rank (\d+) (.+) (\d+): (\w+)", line)
        if match:
            found[int(match[3]), int(match[1])] = f"{match[2]}: {match[4]}"
    return found


def tell_difference(options, ranks, early, seed):
    """The first step that differs where the seed runs alone."""
    without, with_it = (outcome(options, ranks, each, seed, 1, ["steps"]) for each in (None, early))
    if without[:2] == with_it[:2]:
        print("  with its steps told it is right")
        return
    a, b = by_step(without[1]), by_step(with_it[1])
    for key in sorted(set(a) | set(b)):
        if a.get(key) != b.get(key):
            print(f"  step {key[0]}, rank {key[1]}\n    without: {a.get(key)}\n    with:    {b.get(key)}")
            break
    rest = [line for line in with_it[2].splitlines() if not line.startswith("seed ")]
    print(f"  ends with {without[0]} without and {with_it[0]} with\n" + "\n".join(rest[:8]))


def compare(options, ranks, earlies, first, count):
    """(programs compared, seeds that do not end in order without Trefoil, seeds that differ with it)."""
    without = outcome(options, ranks, None, first, count)
    if without[0] == 0:
        different = [early for early in earlies if outcome(options, ranks, early, first, count)[:2] != without[:2]]
        if not different:
            return count, 0, 0
        if count == 1:
            print(f"seed {first}, {ranks} ranks: differs under TREFOIL_MPI_EARLY={', '.join(different)}")
            tell_difference(options, ranks, different[0], first)
            return 1, 0, 1
        earlies = different
    elif count == 1:
        print(f"seed {first}, {ranks} ranks: ends with {without[0]} without Trefoil")
        return 0, 1, 0
    alone = [compare(options, ranks, earlies, seed, 1) for seed in range(first, first + count)]
    return tuple(sum(each) for each in zip(*alone))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=("openmpi", "mpich", "abi"), required=True)
    parser.add_argument("--layer", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=10, help="seeds in one job")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4, 5])
    parser.add_argument("--leave-out", nargs="+", default=[], choices=("no-callbacks", "no-windows"), help="what programs do not do")
    parser.add_argument("program")
    options = parser.parse_args()
    launcher(options.mpi)
    total = (0, 0, 0)
    for batch, first in enumerate(range(options.first, options.first + options.seeds, options.at_once)):
        count = min(options.at_once, options.first + options.seeds - first)
        ranks = options.ranks[batch % len(options.ranks)]
        always, *later = EARLY
        found = compare(options, ranks, [always, later[batch % 2]], first, count)
        total = tuple(a + b for a, b in zip(total, found))
        sys.stdout.flush()
    print(f"{total[0]} seeds compared, {total[1]} do not end in order without Trefoil, {total[2]} differ with it")
    return 1 if total[2] or total[0] < options.seeds // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
