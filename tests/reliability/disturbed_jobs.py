# SPDX-License-Identifier: BSD-3-Clause
"""Disturbs jobs: kills or stops a random rank at a random moment, and looks how the others fail.

Every survivor must end in bounded time, with right results or an error. Its message should name the
rank that was disturbed before any other rank.
"""
import argparse
import collections
import json
import os
import sys
import time

from job import FAULTS, TRANSPORTS, Plan, available, in_own_shared_memory, run_job

CLASSES = ("named", "finished", "fence", "other", "hang", "wrong", "crash")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", help="the trefoil command")
    parser.add_argument("program", help="reliability_rank")
    parser.add_argument("--jobs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--transports", default=",".join(TRANSPORTS))
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--json", help="writes all of it into this file")
    parser.add_argument("--share", type=float, default=0.95, help="of survivors that must name the culprit first")
    parser.add_argument("--verbose", action="store_true", help="prints each survivor's message")
    return parser.parse_args()


def table(jobs):
    counts = collections.defaultdict(collections.Counter)
    worst = collections.defaultdict(float)
    for job in jobs:
        for key in ((job["transport"], "all"), ("all", job["fault"]), ("all", job["phase"]), ("all", "all")):
            counts[key]["jobs"] += 1
            for one in job["survivors"].values():
                counts[key][one["class"]] += 1
                worst[key] = max(worst[key], one["seconds"] or 0)
            counts[key]["left"] += len(job["left over"])
    print(f"{'transport':<10} {'fault':<10} {'jobs':>5} " + " ".join(f"{c:>8}" for c in CLASSES) +
          f" {'left':>5} {'% named':>8} {'worst s':>8}")
    for key, count in counts.items():
        print(f"{key[0]:<10} {key[1]:<10} {count['jobs']:>5} " + " ".join(f"{count[c]:>8}" for c in CLASSES) +
              f" {count['left']:>5} {100 * share(count):>8.1f} {worst[key]:>8.1f}")
    return counts[("all", "all")]


def share(count):
    told = count["named"] + count["other"]
    return count["named"] / told if told else 1.0


def describe(job, verbose):
    print(f"seed {job['seed']} {job['transport']}, {job['launcher']}: rank {job['victim']} {job['fault']} in "
          f"{job['phase']}" + (f" for {job['pause']} s" if job["pause"] else "") + ": " +
          " ".join(f"{n}:{s['class']}" for n, s in job["survivors"].items()), flush=True)
    for number, one in job["survivors"].items():
        if verbose or one["class"] not in ("named", "finished"):
            print(f"    rank {number} {one['class']} after {one['seconds']} s in {one['call']}, code {one['code']}: "
                  f"{one['text']}")
    victim = job["the victim"]
    if victim and (verbose or victim["class"] not in ("finished", "other")):
        print(f"    the victim {victim['class']} after {victim['seconds']} s in {victim['call']}, code "
              f"{victim['code']}: {victim['text']}")
    for path in job["left over"]:
        print(f"    left over: {path}")


def main():
    options = arguments()
    in_own_shared_memory("DISTURBED_JOBS_INNER")
    transports = available(options.tool, options.transports.split(","))
    faults = options.faults.split(",")
    jobs = []
    for number in range(options.jobs):
        plan = Plan(options.seed + number, transports[number % len(transports)],
                    faults[number // len(transports) % len(faults)])
        job = run_job(plan, options.tool, options.program)
        jobs.append(job)
        describe(job, options.verbose)
        for path in job["left over"]:
            os.unlink(path) if os.path.isfile(path) else None
    total = table(jobs)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(jobs, file, indent=1)
    victims = [job["the victim"]["class"] for job in jobs if job["the victim"]]
    bad = total["hang"] + total["wrong"] + total["crash"] + total["left"]
    bad += sum(victim in ("hang", "wrong", "crash") for victim in victims)
    if bad or share(total) < options.share:
        print(f"FAILED: {bad} hangs, wrong results, crashes or files left; {100 * share(total):.1f} % named")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
