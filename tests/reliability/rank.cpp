// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job that is to be disturbed: checked collectives, round after round, and a report.
//
// Usage: reliability_rank SEED STOP_FILE [PHASE FAULT RANK MICROSECONDS AMOUNT]: in that phase the
// rank of that number brings the fault upon itself (strike.hpp) so long after it has begun. Phases:
// create, setup (the first call), greeting (the first words with new peers), small, large, rooted,
// nonblocking, persistent, between (calls), shrink, destroy. Without a phase nobody does: mixed
// rounds. In phase shrink the rank after that one is killed first, so that all others have to.
//
// Each line of the output is a word and the monotonic time in seconds. "created": it has joined.
// "fault": now it happens. "done": rank 0 saw STOP_FILE, and all ranks ended together. "failed": a
// call returned an error; status, call and text follow. "expected": the same, of the call before
// the shrink. "shrunk": the survivors have a communicator of so many ranks. "wrong": a result was
// wrong. "ended": it has destroyed the communicator.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "rounds.hpp"
#include "strike.hpp"

namespace trefoil::test {
namespace {

constexpr int rounds_before = 3;  ///< so that what comes is not the first of its kind

struct Task {
    unsigned seed = 0;
    const char* stop_file = "";
    std::string phase = "mixed";
    std::optional<Fault> fault;  ///< of this rank
    bool dies_first = false;     ///< before the shrink
};

int number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : -1;
}

int before(Rounds& rounds, const std::string& kind) {
    int bad = 0;
    for (int i = 0; i < rounds_before && bad == 0; ++i) {
        bad = rounds.round_of(kind);
    }
    return bad;
}

/// The calls of a phase; it has begun for a rank that says "phase".
int calls(const Task& task, trefoil_comm_t comm, Striker& striker) {
    Rounds rounds(comm, task.seed);
    const std::string& phase = task.phase;
    const bool kind_of_call = phase == "small" || phase == "large" || phase == "rooted" ||
                              phase == "nonblocking" || phase == "persistent";
    const std::string kind = kind_of_call          ? phase
                             : phase == "between"  ? "small"
                             : phase == "greeting" ? "rooted"
                                                   : "mixed";
    if (phase != "create" && phase != "setup" && phase != "mixed") {
        const int bad = before(rounds, phase == "greeting" ? "small" : kind);
        if (bad != 0) {
            return bad;
        }
    }
    report("phase", phase);
    if (phase == "destroy") {
        report("done");
        return 0;
    }
    if (phase == "between" && task.fault) {
        const double when = monotonic_seconds() + task.fault->seconds;
        bool over = false;
        return rounds.run(kind, task.stop_file, [&] {
            if (!over && monotonic_seconds() >= when) {
                over = true;
                strike(*task.fault);
            }
        });
    }
    if (task.fault && phase != "create") {
        striker.arm(*task.fault);
    }
    return rounds.run(kind, task.stop_file);
}

/// One rank has died: the calls of the others fail, they shrink, and go on.
int shrink(const Task& task, trefoil_comm_t comm, Striker& striker) {
    Rounds first(comm, task.seed);
    int bad = before(first, "small");
    if (bad != 0) {
        return bad;
    }
    if (task.dies_first) {
        report("dead");
        raise(SIGKILL);
    }
    bad = first.until_failure("small");
    if (bad != 0) {
        return bad;
    }
    report("phase", task.phase);
    if (task.fault) {
        striker.arm(*task.fault);
    }
    trefoil_comm_t rest = nullptr;
    const auto status = trefoil_comm_shrink(comm, &rest);
    if (status != TREFOIL_SUCCESS) {
        return fail(status, "shrink", trefoil_last_error(nullptr));
    }
    int left = 0;
    trefoil_comm_size(rest, &left);
    report("shrunk", std::to_string(left));
    {
        Rounds rounds(rest, task.seed);
        bad = rounds.run("mixed", task.stop_file);
    }
    trefoil_comm_destroy(rest);
    return bad;
}

int run(const Task& task) {
    Striker striker;
    report("started", std::to_string(getpid()));
    if (task.fault && task.phase == "create") {
        striker.arm(*task.fault);
    }
    trefoil_comm_t comm = nullptr;
    const auto status = trefoil_comm_create(nullptr, &comm);
    if (status != TREFOIL_SUCCESS) {
        return fail(status, "create", trefoil_last_error(nullptr));
    }
    report("created");
    const int result =
        task.phase == "shrink" ? shrink(task, comm, striker) : calls(task, comm, striker);
    if (task.fault && task.phase == "destroy") {
        striker.arm(*task.fault);
    }
    trefoil_comm_destroy(comm);
    report("ended");
    return result;
}

}  // namespace
}  // namespace trefoil::test

int main(int argc, char** argv) {
    if (argc != 3 && argc != 8) {
        std::fprintf(stderr,
                     "usage: reliability_rank SEED STOP_FILE [PHASE FAULT RANK "
                     "MICROSECONDS AMOUNT]\n");
        return 2;
    }
    trefoil::test::Task task;
    task.seed = static_cast<unsigned>(std::atoi(argv[1]));
    task.stop_file = argv[2];
    if (argc == 8) {
        task.phase = argv[3];
        const int own = trefoil::test::number_in("TREFOIL_RANK");
        const int struck = std::atoi(argv[5]);
        task.dies_first = own == (struck + 1) % trefoil::test::number_in("TREFOIL_SIZE");
        if (own == struck) {
            task.fault = {argv[4], std::atof(argv[6]) * 1e-6, std::atol(argv[7])};
        }
    }
    return trefoil::test::run(task);
}
