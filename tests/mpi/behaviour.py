# SPDX-License-Identifier: BSD-3-Clause
"""What users see of the MPI layer: its settings, its report, its errors, and nothing else.

Usage: behaviour.py settings|layers|reports MPI PROGRAM LEGAL LAYER [OTHER_LAYER ...]. Exit code 77 where that mpirun is missing.
"""
import os
import re
import sys

from run import launcher, run

WHAT, MPI, PROGRAM, LEGAL, LAYER = sys.argv[1:6]
OTHERS = sys.argv[6:]
COMPONENT = os.path.basename(LAYER).startswith("mca_")
RANKS = 2
SMALL = [LEGAL, "barrier"]  # makes few calls
# Runs the program with one more variable on rank 1.
RANK_1 = ["sh", "-c", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export "$0"; exec "$@"']
failures = 0


def expect(name, good, output):
    global failures
    print(f"{name}: {'ok' if good else 'FAILED'}", flush=True)
    if not good:
        failures += 1
        print(output, flush=True)


def refused(name, words, layer, variables, program=None):
    """The job fails, soon, and says these words."""
    code, output = run(MPI, RANKS, layer, variables, program or [PROGRAM])
    expect(name, code not in (0, 124) and all(word in output for word in words), output)


def left(name, words, variables, program, layer=LAYER):
    """The job runs by MPI alone, and says why."""
    code, output = run(MPI, RANKS, layer, variables, program)
    expect(name, code == 0 and "0 failure(s)" in output and all(word in output for word in words)
           and output.count("MPI runs all collectives") <= 1, output)


def report(variables, layer=LAYER):
    """Of the report: {collective: (calls by Trefoil, calls by MPI)}, and all that was printed."""
    code, output = run(MPI, RANKS, layer, {"TREFOIL_MPI_REPORT": "1", **variables}, [PROGRAM])
    calls = {}
    for line in output.splitlines():
        row = re.match(r"trefoil: (\w+) +(to \d+ \w+|more|unknown) +(\d+) +[\d.]+ +(\d+) +[\d.]+$", line)
        if row:
            before = calls.get(row[1], (0, 0))
            calls[row[1]] = (before[0] + int(row[3]), before[1] + int(row[4]))
    expect(f"the program under {variables}", code == 0 and "0 failure(s)" in output, output)
    return calls, output


def settings():
    alone = "MPI runs all collectives of this job"
    left("different settings", [alone, "rank 1: TREFOIL_MPI=off", "rank 0: TREFOIL_MPI=on"], {}, [*RANK_1, "TREFOIL_MPI=off", *SMALL])
    left("a collective that does not exist", [alone, "'alreduce' names no collective"], {"TREFOIL_MPI": "alreduce"}, SMALL)
    left("a report that is neither", [alone, "TREFOIL_MPI_REPORT=yes is not valid"], {"TREFOIL_MPI_REPORT": "yes"}, SMALL)
    left("tuning that is neither", [alone, "TREFOIL_MPI_TUNE=1 is not valid: give off, exact or all"], {"TREFOIL_MPI_TUNE": "1"}, SMALL)
    left("one rank's that is not valid", [alone, "TREFOIL_MPI_EARLY=x is not valid"], {}, [*RANK_1, "TREFOIL_MPI_EARLY=x", *SMALL])
    left("different tuning", [alone, "TREFOIL_MPI_TUNE=all", "TREFOIL_MPI_TUNE=off"], {}, [*RANK_1, "TREFOIL_MPI_TUNE=all", *SMALL])
    left("a torus of another size", ["give sizes whose product is 2"], {"TREFOIL_TORUS": "5x5"}, SMALL)
    left("one rank with a bad setting", ["rank 1 cannot set up", "TREFOIL_LANDING_BYTES=x is not valid"], {},
         [*RANK_1, "TREFOIL_LANDING_BYTES=x", *SMALL])


def refused_layers():
    if COMPONENT or MPI != "openmpi":
        for with_it, without in ((1, 0), (0, 1)):
            some = [*RANK_1[:2], RANK_1[2].replace("= 1", f"= {without if COMPONENT else with_it}")]
            word = "component" if COMPONENT else "layer"
            left(f"rank {without} without the {word}", [f"as not all ranks have Trefoil's {word}: rank {without} has none"], {},
                 [*some, "OMPI_MCA_coll=^trefoil" if COMPONENT else f"LD_PRELOAD={LAYER}", *SMALL], LAYER if COMPONENT else None)
    else:
        refused("one rank without the layer", ["is the MPI layer preloaded on all of them?"], None, {"TREFOIL_TIMEOUT": "2"},
                [*RANK_1, f"LD_PRELOAD={LAYER}", PROGRAM])
    for other in OTHERS:
        name = os.path.basename(other)
        refused(name, ["was built for"], other, {})
        both = ["was built for"] if COMPONENT else ["both ", "keep only the one"]
        refused(f"{name} behind its own", both, f"{LAYER}:{other}", {})
        refused(f"{name} before its own", both, f"{other}:{LAYER}", {})


def reports():
    calls, output = report({})
    # Calls with neighbours are MPI's where a dimension has two ranks.
    expect("all collectives are Trefoil's", len(calls) >= 16 and
           all(by_trefoil > 0 for name, (by_trefoil, _) in calls.items() if not name.startswith("neighbor_")), output)
    expect("but between neighbours of two ranks", all(by_trefoil == 0 for name, (by_trefoil, _) in calls.items()
                                                      if name.startswith("neighbor_")), output)
    expect("tori are told", "torus 2 (the Cartesian communicator) over" in output, output)
    # A communicator that it declines has nothing of the component's, so nothing counts its calls. Reductions of no data end before.
    declined = () if COMPONENT else ("no data", "one rank", "an intercommunicator")
    for reason in (*declined, "a datatype that Trefoil does not reduce"):
        expect(f"the reason '{reason}'", f"went to MPI: {reason}" in output, output)
    calls, output = report({"TREFOIL_MPI": "^barrier,bcast:-64"})
    expect("barrier is switched off", calls["barrier"][0] == 0 and calls["reduce"][0] > 0, output)
    expect("so are small bcasts", not re.search(r"bcast +to 64 B +[1-9]", output) and calls["bcast"][0] > 0, output)
    calls, output = report({"TREFOIL_MPI": "allreduce:1Ki-"})
    expect("allreduce alone", all((c[0] > 0) == (name == "allreduce") for name, c in calls.items()), output)
    if "FAKE_CUDA" in os.environ:  # all memory is a device's, says a make-believe runtime
        calls, output = report({"FAKE_DEVICE_ALL": "1"}, f"{LAYER}:{os.environ['FAKE_CUDA']}")
        expect("what lies in a device's memory is MPI's",
               all((c[0] > 0) == (name == "barrier") for name, c in calls.items()), output)
        expect("the reason is told", "or the buffers are a device's memory" in output, output)
    # It does not reduce in rank order, as operations that do not commute need it.
    calls, output = report({"TREFOIL_ALGORITHM": "bucket"})
    expect("what an algorithm cannot do is MPI's", "of allreduce went to MPI: TREFOIL_ALGORITHM" in output, output)
    calls, output = report({"TREFOIL_MPI_TUNE": "all"})
    expect("both are tried", all(min(calls[name]) > 0 for name in ("allreduce", "bcast", "reduce", "allgather")), output)
    expect("a trial is a reason", "of allreduce went to MPI: TREFOIL_MPI_TUNE" in output, output)
    calls, output = report({"TREFOIL_MPI": "off"})
    expect("all is MPI's", all(by_trefoil == 0 for by_trefoil, _ in calls.values()), output)
    code, output = run(MPI, RANKS, LAYER, {}, [PROGRAM])
    expect("nothing is printed unless asked", code == 0 and output.split() == ["0", "failure(s)"], output)


launcher(MPI)
{"settings": settings, "layers": refused_layers, "reports": reports}[WHAT]()
sys.exit(1 if failures else 0)
