# SPDX-License-Identifier: BSD-3-Clause
"""What `auto` does against the best of the others: a table per collective and way of timing, and the summary of all."""
import statistics

from .intervals import heading, median_interval
from .report import is_ours, text_of


def best_peer(at):
    return at.best(lambda name: not is_ours(name))


def ratio_of(at):
    """Median, low, high and likelihood of best peer / Trefoil; None where either is missing."""
    ours, peer = at.best(is_ours), best_peer(at)
    ratios = at.ratios(peer, ours) if ours and peer else []
    return median_interval(ratios) if ratios else None


def ratio_text(ratio, few):
    """`few`: the launches are fewer than the column's head says, so the likelihood is another one."""
    if not ratio[3]:
        return f"{ratio[0]:.2f}{' (one launch)' if few else ''}"
    return f"{ratio[0]:.2f} [{ratio[1]:.2f}..{ratio[2]:.2f}]{f' {100 * ratio[3]:.0f} %' if few else ''}"


def rows(all_sizes, chosen, rounds):
    """`chosen`: {size: the algorithm that auto took}."""
    table = [("bytes", "auto chose", "Trefoil, us", "best peer", "us", f"peer / Trefoil {heading(rounds)}", "bound, us",
              "of the bound")]
    for at in all_sizes:
        ours, peer, ratio = at.best(is_ours), best_peer(at), ratio_of(at)
        few = ratio and len(at.ratios(peer, ours)) < rounds
        table.append((
            str(at.size), chosen.get(at.size, "-"), at.cell(ours) if ours else "failed", peer or "-",
            at.cell(peer) if peer else "-",
            ratio_text(ratio, few) if ratio else "-",
            text_of(at.bound * 1e6) if at.bound else "-", f"{100 * at.fraction(ours):.0f} %" if at.bound and ours else "-"))
    return table


def slowest_launch(at, name):
    """How many times as long as the median launch the slowest one took."""
    values = at.present(name)
    return max(values) / statistics.median(values)


def launch_rows(all_sizes):
    names = list(dict.fromkeys(name for at in all_sizes for name in at.times))
    table = [("slowest launch / median launch", *(str(at.size) for at in all_sizes))]
    for name in names:
        table.append((name, *(f"{slowest_launch(at, name):.2f}" if name in at.times else "-" for at in all_sizes)))
    return table


def summary_row(collective, timing, all_sizes):
    """One row of the summary: what is lowest, and what is in the middle, over the sizes."""
    ratios = [(ratio_of(at)[0], at.size) for at in all_sizes if ratio_of(at)]
    shares = [at.fraction(at.best(is_ours)) for at in all_sizes if at.bound and at.best(is_ours)]
    launches = [(slowest_launch(at, at.best(is_ours)), at.size) for at in all_sizes if at.best(is_ours)]
    lowest, slowest = min(ratios, default=None), max(launches, default=None)
    return (collective, timing, f"{lowest[0]:.2f} at {lowest[1]} B" if ratios else "-",
            f"{statistics.median(ratio for ratio, _ in ratios):.2f}" if ratios else "-",
            f"{100 * statistics.median(shares):.0f} %" if shares else "-",
            f"{slowest[0]:.2f} at {slowest[1]} B" if slowest else "-")


SUMMARY = ("collective", "timing", "lowest ratio", "median ratio", "median share of the bound", "Trefoil's slowest launch / median")
