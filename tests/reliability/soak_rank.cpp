// SPDX-License-Identifier: BSD-3-Clause
// One rank of a soak: rounds of random calls on communicators that come and go, for a given time;
// every result is checked. scripts/soak starts it and looks at its memory.
//
// Usage: soak_rank SECONDS SEED. Everything else comes from TREFOIL_*. After each round it prints
// "round ROUNDS OPERATIONS FIRST PLANS COMMUNICATORS": calls that were right so far, those of them
// on the first communicator, plans that no earlier call can have made, and communicators made.
// "wrong TEXT": a result was wrong or a call failed. Exit code 0: all were right on this rank.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/comm/communicator/mixed_calls.hpp"
#include "trefoil/communicators.h"
#include "trefoil/requests.h"

namespace {

using Clock = std::chrono::steady_clock;

/// Calls of any kind in a round, before the small ones.
constexpr std::size_t mixed_calls = 150;
constexpr std::size_t window = 16;
/// Elements of calls whose size never comes again; later ones are of the next collective.
constexpr std::size_t largest_new = 20'000;
constexpr int new_sizes_per_round = 64;
/// How long small calls take, of what the mixed ones took: they make the numbers of calls.
constexpr double share_of_small = 3;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Soak {
  public:
    Soak(trefoil_comm_t first, unsigned seed) : first_(first), seed_(seed), shared_(seed) {
        trefoil_comm_rank(first, &rank_);
        trefoil_comm_size(first, &ranks_);
        std::array<int, 16> sizes{};
        trefoil_comm_torus(first, &dimensions_, sizes.data(), static_cast<int>(sizes.size()));
    }

    /// "", or the first thing that was wrong.
    std::string run(double seconds) {
        const auto begin = Clock::now();
        std::int64_t small = 64;
        for (;;) {
            const auto round = Clock::now();
            mixed_round();
            const double mixed = since(round);
            new_sizes();
            const auto small_begin = Clock::now();
            small_calls(small);
            // By rank 0's clock.
            const double each = since(small_begin) / static_cast<double>(small);
            std::array<std::int64_t, 2> next{
                since(begin) < seconds ? 1 : 0,
                std::clamp<std::int64_t>(static_cast<std::int64_t>(share_of_small * mixed / each),
                                         64, 50'000)};
            expect(trefoil_bcast(next.data(), next.size(), TREFOIL_INT64, 0, first_), "bcast");
            small = next[1];
            ++rounds_;
            std::printf("round %zu %zu %zu %zu %zu\n", rounds_, operations_, on_first_, plans_,
                        communicators_);
            std::fflush(stdout);
            if (!wrong_.empty() || next[0] == 0) {
                return wrong_;
            }
        }
    }

  private:
    bool expect(trefoil_status_t status, const char* what) {
        if (status != TREFOIL_SUCCESS) {
            blame(std::string(what) + ": " + trefoil_last_error(nullptr));
        }
        return status == TREFOIL_SUCCESS;
    }
    void blame(const std::string& what) {
        if (wrong_.empty()) {
            wrong_ = what + ", in round " + std::to_string(rounds_) + " of seed " +
                     std::to_string(seed_);
        }
    }
    bool going_on() const { return wrong_.empty(); }

    /// A duplicate, this rank's line along one dimension, and one of groups of equal size whose
    /// members are drawn; mixed calls on all of them. They end with the round.
    void mixed_round() {
        std::vector<trefoil_comm_t> comms{first_};
        const auto take = [&](trefoil_status_t status, trefoil_comm_t made, const char* what) {
            if (expect(status, what)) {
                comms.push_back(made);
                ++communicators_;
            }
        };
        trefoil_comm_t made = nullptr;
        trefoil_status_t status = trefoil_comm_dup(first_, &made);
        take(status, made, "dup");
        std::vector<int> keep(static_cast<std::size_t>(dimensions_));
        keep[shared_() % keep.size()] = 1;
        if (going_on()) {
            status = trefoil_comm_sub(comms[shared_() % 2], keep.data(), &made);
            take(status, made, "sub");
        }
        if (going_on()) {
            status = trefoil_comm_split(first_, colour(), rank_, &made);
            take(status, made, "split");
        }
        if (going_on()) {
            trefoil::test::Mix mix{.calls = mixed_calls, .seed = seed_ + 7 * (1 + next_mix_++)};
            mix.most_log = 6 + shared_() % 9;
            const trefoil::test::Mixed mixed = trefoil::test::run_mixed_calls(comms, mix);
            operations_ += mixed.calls;
            if (!mixed.wrong.empty()) {
                blame(mixed.wrong);
            }
        }
        if (going_on()) {  // nobody needs this rank any more in what it destroys
            expect(trefoil_barrier(first_), "barrier");
        }
        std::reverse(comms.begin() + 1, comms.end());
        for (std::size_t c = 1; c < comms.size(); ++c) {
            expect(trefoil_comm_destroy(comms[c]), "destroy");
        }
    }

    int colour() {
        std::vector<int> order(static_cast<std::size_t>(ranks_));
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t i = order.size() - 1; i > 0; --i) {
            std::swap(order[i], order[shared_() % (i + 1)]);
        }
        const int groups = ranks_ % 3 == 0 ? 3 : ranks_ % 2 == 0 ? 2 : 1;
        return order[static_cast<std::size_t>(rank_)] % groups;
    }

    /// Sizes that come once: each call has to make its plan.
    void new_sizes() {
        for (int i = 0; i < new_sizes_per_round && going_on(); ++i) {
            const std::size_t count = 1 + plans_ % largest_new;
            const std::size_t kind = plans_ / largest_new % 2;
            const auto salt = static_cast<std::int64_t>(shared_() % 1000);
            values_.assign(count, salt + rank_);
            const int root = static_cast<int>(shared_() % static_cast<unsigned>(ranks_));
            const auto status =
                kind == 0 ? trefoil_allreduce(TREFOIL_IN_PLACE, values_.data(), count,
                                              TREFOIL_INT64, TREFOIL_SUM, first_)
                          : trefoil_bcast(values_.data(), count, TREFOIL_INT64, root, first_);
            const std::int64_t right = kind == 0 ? sum(salt) : salt + root;
            if (expect(status, "call of a new size") &&
                std::any_of(values_.begin(), values_.end(),
                            [right](std::int64_t value) { return value != right; })) {
                blame("a call of " + std::to_string(count) + " elements is wrong");
            }
            ++plans_;
            count_one();
        }
    }

    /// Blocking ones, and as many in flight as fit a window.
    void small_calls(std::int64_t calls) {
        for (std::int64_t done = 0; done < calls && going_on();) {
            if (done % 64 == 0) {
                std::int64_t value = done + rank_;
                if (expect(trefoil_allreduce(TREFOIL_IN_PLACE, &value, 1, TREFOIL_INT64,
                                             TREFOIL_SUM, first_),
                           "small call") &&
                    value != sum(done)) {
                    blame("a small call is wrong");
                }
                ++done;
                count_one();
                continue;
            }
            const std::int64_t next_blocking = (done / 64 + 1) * 64;
            const auto some = static_cast<std::size_t>(
                std::min({static_cast<std::int64_t>(window), calls - done, next_blocking - done}));
            small_in_flight(done, some);
            done += static_cast<std::int64_t>(some);
        }
    }
    void small_in_flight(std::int64_t salt, std::size_t calls) {
        std::array<std::int64_t, window> values{};
        std::array<trefoil_request_t, window> requests{};
        for (std::size_t i = 0; i < calls && going_on(); ++i) {
            values[i] = salt + static_cast<std::int64_t>(i) + rank_;
            expect(trefoil_iallreduce(TREFOIL_IN_PLACE, &values[i], 1, TREFOIL_INT64, TREFOIL_SUM,
                                      first_, &requests[i]),
                   "small call in flight");
        }
        if (!expect(trefoil_waitall(static_cast<int>(calls), requests.data()), "waitall")) {
            return;
        }
        for (std::size_t i = 0; i < calls && going_on(); ++i) {
            if (values[i] != sum(salt + static_cast<std::int64_t>(i))) {
                blame("a small call in flight is wrong");
            }
            count_one();
        }
    }

    void count_one() {
        ++operations_;
        ++on_first_;
    }
    std::int64_t sum(std::int64_t salt) const {
        return ranks_ * salt + std::int64_t{ranks_} * (ranks_ - 1) / 2;
    }

    trefoil_comm_t first_;
    unsigned seed_, next_mix_ = 0;
    std::mt19937 shared_;
    int rank_ = 0, ranks_ = 0, dimensions_ = 0;
    std::size_t rounds_ = 0, operations_ = 0, on_first_ = 0, plans_ = 0, communicators_ = 1;
    std::vector<std::int64_t> values_;
    std::string wrong_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: soak_rank SECONDS SEED; scripts/soak --help tells more\n");
        return 2;
    }
    trefoil_comm_t comm = nullptr;
    if (trefoil_comm_create(nullptr, &comm) != TREFOIL_SUCCESS) {
        std::printf("wrong create: %s\n", trefoil_last_error(nullptr));
        return EXIT_FAILURE;
    }
    const auto seed = static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10));
    const std::string wrong = Soak(comm, seed).run(std::strtod(arguments[1], nullptr));
    if (!wrong.empty()) {
        std::printf("wrong %s\n", wrong.c_str());
        return EXIT_FAILURE;
    }
    const bool ended = trefoil_comm_destroy(comm) == TREFOIL_SUCCESS;
    std::printf("%s\n", ended ? "ended" : "wrong destroy");
    return ended ? EXIT_SUCCESS : EXIT_FAILURE;
}
