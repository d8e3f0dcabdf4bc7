# SPDX-License-Identifier: BSD-3-Clause
"""Brings faults upon jobs in every phase, over every transport, and makes a table of what the survivors saw."""
import argparse
import collections
import fnmatch
import json
import pathlib
import re
import sys
import time

from fault_case import FAULTS, PHASES, RESOURCES, cases, run_case, testbed
from fault_report import Summary, markdown, print_tables
from job import TRANSPORTS, available, in_own_shared_memory
from mpi_case import MPIS, MpiCase, mpi_cases, run_mpi_case
from mpi_case import PHASES as MPI_PHASES

TEXT = f"""\
A case is FAULT/PHASE/TRANSPORT. In each, nine ranks (3x3; sometimes eight as 2x2x2) run checked collectives, with a
TREFOIL_TIMEOUT of 3 s. One rank brings the fault upon itself at a drawn moment of the phase; survivors must end in bounded
time, with right results or an error. Their message should name that rank before any other one.

Faults:
{chr(10).join(f"  {name:<10} {text}" for name, text in FAULTS.items())}
Phases: {", ".join(PHASES)}.
  setup is the first call, greeting the first words with new peers, between is between two calls. For shrink the rank
  after the victim is killed first; the others have to shrink the communicator, and the fault comes meanwhile.
Transports: {", ".join(TRANSPORTS)}.
With --mpi, also FAULT/PHASE/MPI, of four ranks of an MPI program under the preloaded layer and an mpirun that has been told
to leave the others alone when one dies; phases {", ".join(MPI_PHASES)}, MPIs {", ".join(MPIS)}.

  --only 'KILL/*/memory'            one fault over one transport, in all phases
  --only '*/create/*' --sample 20   20 cases of one phase
  --cases 'STOP/large/ofi net' --seed 7 --verbose   a case again, with every message

Full /dev/shm, and broken links, need root (a mount and network namespaces of their own); without it they are left out.
The exit code is 1 after a hang, a wrong sum, a crash, something left behind, or if fewer survivors than --share say so
named the right rank first.
"""
BEGIN, END = "<!-- begin: table of faults -->\n", "<!-- end: table of faults -->\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the trefoil command")
    parser.add_argument("program", help="reliability_rank")
    parser.add_argument("--mpi", action="append", default=[], metavar="MPI,PROGRAM,LAYER",
                        help="reliability_mpi_rank_MPI, and the layer to preload")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="FAULT/PHASE/TRANSPORT, with * for any (default: all)")
    parser.add_argument("--cases", metavar="A,B", help="these cases, in this order")
    parser.add_argument("--sample", type=int, metavar="N", help="N of them, drawn by the seed")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="N rounds, each with the next seed (default: 1)")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no case later than this")
    parser.add_argument("--seed", type=int, help="of all that is drawn (default: from the clock; it is printed)")
    parser.add_argument("--share", type=float, default=0.97, help="of survivors that must name the culprit first")
    parser.add_argument("--known", action="append", default=[], metavar="PATTERN",
                        help="cases with a known defect of a library below: they are shown, and decide nothing")
    parser.add_argument("--json", metavar="FILE", help="writes all cases into this file")
    parser.add_argument("--from", dest="earlier", action="append", default=[], metavar="FILE",
                        help="adds the cases of an earlier --json, which are not run again; with --sample 0 none is run")
    parser.add_argument("--markdown", metavar="PAGE", help="writes the tables between the marks of this page")
    parser.add_argument("--verbose", action="store_true", help="prints each survivor's message")
    options = parser.parse_args()
    options.seed = int(time.time()) % 10**6 if options.seed is None else options.seed
    options.mpis = {mpi: (program, layer) for mpi, program, layer in (word.split(",") for word in options.mpi)}
    return options


def selected(options, own_shared_memory):
    transports = available(options.tool, list(TRANSPORTS))
    faults = list(FAULTS)
    if not own_shared_memory:
        print("left out: full /dev/shm, which needs root for a mount of its own")
        faults.remove("shm")
    reason = testbed.impossible()
    if reason:
        print(f"left out: broken links; {reason}")
        faults.remove("link")
    found = []
    for seed in range(options.seed, options.seed + options.repeat):
        drawn = cases(seed, transports, faults) + mpi_cases(seed, options.mpis, transports, faults)
        all_cases = {str(case): case for case in drawn}
        if options.cases:
            missing = [name for name in options.cases.split(",") if name not in all_cases]
            if missing:
                print(f"left out: no case {missing[0]} here; see --help for the parts of a name")
            found += [all_cases[name] for name in options.cases.split(",") if name in all_cases]
        else:
            found += [case for name, case in all_cases.items() if fnmatch.fnmatchcase(name, options.only)]
    return found


def describe(number, count, case, outcome, verbose):
    classes = collections.Counter(one["class"] for one in outcome["survivors"].values())
    seconds = [one["seconds"] for one in outcome["survivors"].values() if one["seconds"] is not None]
    print(f"{number}/{count} {case}: rank {outcome['rank']} of {outcome['torus']}, {outcome['delay'] * 1e3:.1f} ms: "
          + ", ".join(f"{n} {name}" for name, n in classes.items()) + (f", up to {max(seconds):.1f} s" if seconds else "")
          + ("" if outcome["struck"] else "; THE FAULT DID NOT COME"), flush=True)
    bad = False
    for rank, one in list(outcome["survivors"].items()) + [("the victim", outcome["victim"])]:
        odd = one and one["class"] not in (("named", "finished", "failed") if rank != "the victim" else
                                           ("named", "finished", "failed", "other", "fence"))
        bad |= bool(odd) and one["class"] in ("hang", "wrong", "crash")
        if one and (verbose or odd):
            print(f"    rank {rank} {one['class']} after {one['seconds']} s in {one['call']}, code {one['code']}: {one['text']}")
    for path in outcome["left"]:
        print(f"    left behind: {path}")
    for text in (outcome["stacks"], outcome["errors"][:1500] if bad or verbose else ""):
        if text:
            print("    " + text.replace("\n", "\n    "))
    sys.stdout.flush()


# Where UCX 1.13 ends the process itself (docs/faults.md).
IN_UCX = re.compile(r"(ucp_request|wireup_ep|tcp_ep|thread)\.c:\d+ +Assertion|ucp_worker\.c:\d+ +Fatal|uct_posix_rkey_release")


def is_known(outcome, patterns):
    if IN_UCX.search(outcome["errors"]):
        return True
    name = f"{outcome['fault']}/{outcome['phase']}/{outcome['transport']}"
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def write_page(path, outcomes, seed):
    page = pathlib.Path(path)
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        sys.exit(f"{path} has no lines {BEGIN.strip()} and {END.strip()}; nothing is written")
    head, rest = text.split(BEGIN, 1)
    page.write_text(head + BEGIN + "\n" + markdown(outcomes, seed) + "\n" + END + rest.split(END, 1)[1], encoding="utf-8")


def main():
    options = arguments()
    own = in_own_shared_memory("FAULT_TABLE_INNER", "256m")
    outcomes = []
    for path in options.earlier:
        outcomes += json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    known = {(one["fault"], one["phase"], one["transport"], one["seed"]) for one in outcomes}
    chosen = [case for case in selected(options, own) if (case.fault, case.phase, case.transport, case.seed) not in known]
    chosen = chosen[:options.sample]
    print(f"seed {options.seed}: {len(chosen)} cases", flush=True)
    begin = time.monotonic()
    for number, case in enumerate(chosen, start=1):
        if time.monotonic() - begin > options.seconds:
            print(f"{len(chosen) - number + 1} cases were not begun within {options.seconds:g} s")
            break
        outcome = run_mpi_case(case, options.mpis) if isinstance(case, MpiCase) else run_case(case, options.program)
        outcomes.append(outcome)
        describe(number, len(chosen), case, outcome, options.verbose)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(outcomes, indent=1) + "\n", encoding="utf-8")
    if not outcomes:
        sys.exit("no case was run; see --help")
    print_tables(outcomes)
    if options.markdown:
        write_page(options.markdown, outcomes, options.seed)
    total = Summary([one for one in outcomes if not is_known(one, options.known)])
    if total.bad or total.share < options.share:
        print(f"FAILED: {total.bad} hangs, wrong sums, crashes, things left behind, or faults that did not come; "
              f"{100 * total.share:.1f} % named")
        return 1
    return 0


assert set(RESOURCES) <= set(FAULTS)

if __name__ == "__main__":
    sys.exit(main())
