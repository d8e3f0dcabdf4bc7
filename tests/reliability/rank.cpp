// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job that is to be disturbed: checked collectives, round after round, and a report.
//
// Each line of its output is a word and the monotonic time in seconds. "created": it has joined.
// "done": rank 0 saw the file REPORT_STOP, and all ranks ended together. "failed": a call returned
// an error; status, call and text follow. "wrong": a result was wrong.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "trefoil/trefoil.h"

namespace {

constexpr int exit_failed = 3;
constexpr int exit_wrong = 5;
/// Of rounds, in seconds: nobody may run for ever.
constexpr double longest = 90;

double now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

void report(const char* word, const std::string& rest = "") {
    std::printf("%s %.4f %s\n", word, now(), rest.c_str());
    std::fflush(stdout);
}

int fail(trefoil_status_t status, const char* call, trefoil_comm_t comm) {
    report("failed", std::to_string(status) + " " + call + " " + trefoil_last_error(comm));
    return exit_failed;
}

/// What all ranks know of a round.
struct Round {
    std::size_t count = 0;
    int root = 0;
};

class Rounds {
  public:
    explicit Rounds(trefoil_comm_t comm) : comm_(comm) {
        trefoil_comm_rank(comm, &rank_);
        trefoil_comm_size(comm, &ranks_);
    }

    int run(unsigned seed, const char* stop_file) {
        std::mt19937 random(seed);
        const double begin = now();
        for (int number = 0;; ++number) {
            const std::size_t most = number % 8 == 7 ? 300'000 : number % 2 == 0 ? 64 : 20'000;
            const Round round{1 + random() % most, static_cast<int>((seed + random() % 2 * 4) %
                                                                    static_cast<unsigned>(ranks_))};
            const int bad = round_of(round);
            if (bad != 0) {
                return bad;
            }
            int stop = rank_ == 0 && (access(stop_file, F_OK) == 0 || now() - begin > longest);
            const auto status =
                trefoil_allreduce(TREFOIL_IN_PLACE, &stop, 1, TREFOIL_INT32, TREFOIL_MAX, comm_);
            if (status != TREFOIL_SUCCESS) {
                return fail(status, "allreduce", comm_);
            }
            if (stop != 0) {
                report("done", std::to_string(number));
                return 0;
            }
        }
    }

  private:
    static int value(int rank, std::size_t i) {
        return static_cast<int>((static_cast<std::size_t>(rank) * 7 + i) % 1000);
    }
    int sum_at(std::size_t i) const {
        int sum = 0;
        for (int r = 0; r < ranks_; ++r) {
            sum += value(r, i);
        }
        return sum;
    }
    void fill(std::vector<int>& data, std::size_t count) const {
        data.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            data[i] = value(rank_, i);
        }
    }
    template <typename Expected>
    int check(const std::vector<int>& data, const char* call, Expected expected) const {
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (data[i] != expected(i)) {
                report("wrong", std::string(call) + " at " + std::to_string(i) + " of " +
                                    std::to_string(data.size()));
                return exit_wrong;
            }
        }
        return 0;
    }

    int round_of(const Round& round) {
        const std::size_t n = round.count;
        fill(data_, n);
        auto status =
            trefoil_allreduce(TREFOIL_IN_PLACE, data_.data(), n, TREFOIL_INT32, TREFOIL_SUM, comm_);
        if (status != TREFOIL_SUCCESS) {
            return fail(status, "allreduce", comm_);
        }
        int bad = check(data_, "allreduce", [this](std::size_t i) { return sum_at(i); });
        fill(data_, n);
        if (bad == 0 && (status = trefoil_bcast(data_.data(), n, TREFOIL_INT32, round.root,
                                                comm_)) != TREFOIL_SUCCESS) {
            return fail(status, "bcast", comm_);
        }
        bad = bad != 0 ? bad
                       : check(data_, "bcast", [&](std::size_t i) { return value(round.root, i); });
        fill(data_, n);
        result_.assign(n, 0);
        if (bad == 0 &&
            (status = trefoil_reduce(data_.data(), result_.data(), n, TREFOIL_INT32, TREFOIL_SUM,
                                     round.root, comm_)) != TREFOIL_SUCCESS) {
            return fail(status, "reduce", comm_);
        }
        if (bad == 0 && rank_ == round.root) {
            bad = check(result_, "reduce", [this](std::size_t i) { return sum_at(i); });
        }
        const std::size_t each = n / static_cast<std::size_t>(ranks_) + 1;
        fill(data_, each * static_cast<std::size_t>(ranks_));
        result_.assign(data_.size(), 0);
        if (bad == 0 && (status = trefoil_alltoall(data_.data(), result_.data(), each,
                                                   TREFOIL_INT32, comm_)) != TREFOIL_SUCCESS) {
            return fail(status, "alltoall", comm_);
        }
        return bad != 0 ? bad : check(result_, "alltoall", [&](std::size_t i) {
            return value(static_cast<int>(i / each),
                         static_cast<std::size_t>(rank_) * each + i % each);
        });
    }

    trefoil_comm_t comm_;
    int rank_ = 0, ranks_ = 0;
    std::vector<int> data_, result_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: reliability_rank SEED STOP_FILE\n");
        return 2;
    }
    report("started", std::to_string(getpid()));
    trefoil_comm_t comm = nullptr;
    const auto status = trefoil_comm_create(nullptr, &comm);
    if (status != TREFOIL_SUCCESS) {
        return fail(status, "create", nullptr);
    }
    report("created");
    const int result = Rounds(comm).run(static_cast<unsigned>(std::atoi(argv[1])), argv[2]);
    trefoil_comm_destroy(comm);
    report("ended");
    return result;
}
