// SPDX-License-Identifier: BSD-3-Clause
// Every function through the C++ wrapper, and in_place wherever it may stand. C++20.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

#include "communicators.hpp"

namespace {

using trefoil::in_place;
using Ints = std::vector<int>;
using Sizes = std::vector<std::size_t>;

constexpr int block = 2;
constexpr int root = 1;

void require(bool condition, const char* what) {
    if (!condition) {
        std::printf("wrong: %s\n", what);
        std::exit(EXIT_FAILURE);
    }
}

template <typename Call>
trefoil_status_t status_of(Call&& call) {
    try {
        call();
        return TREFOIL_SUCCESS;
    } catch (const trefoil::CallFailed& error) {
        return error.status();
    }
}

/// Element i of block `to` of rank `from`.
constexpr int value(int from, int to, int i) {
    return 1000 * from + 10 * to + i;
}

/// What one rank has and expects.
class Rank {
  public:
    explicit Rank(trefoil::Comm& comm)
        : comm_(comm),
          rank_(comm.rank()),
          ranks_(comm.size()),
          counts_(static_cast<std::size_t>(ranks_), block) {
        for (int r = 0; r < ranks_; ++r) {
            displacements_.push_back(static_cast<std::size_t>(r * block));
        }
    }

    void reductions() {
        Ints all = mine(), recv = nothing(), own(block);
        comm_.allreduce(all, recv);
        require(recv == sums(), "allreduce");
        comm_.allreduce(std::span(all), TREFOIL_SUM);
        require(all == sums(), "allreduce in place");
        all = mine();
        comm_.allreduce(in_place, all);
        require(all == sums(), "allreduce in place");
        comm_.allreduce(mine().data(), recv.data(), recv.size(), TREFOIL_INT32, TREFOIL_MAX);
        require(recv == blocks([&](int to, int i) { return value(ranks_ - 1, to, i); }), "max");

        all = mine();
        comm_.reduce(mine(), recv, root);
        if (is_root()) {
            require(recv == sums(), "reduce");
            comm_.reduce(in_place, all, root);
            require(all == sums(), "reduce in place");
        } else {
            comm_.reduce(all, std::span<int>(), root);
        }

        comm_.scan(mine(), recv, TREFOIL_MAX);
        require(recv == mine(), "the own one is the largest so far");
        comm_.exscan(mine(), recv, TREFOIL_MAX);
        require(recv == blocks([&](int to, int i) { return value(std::max(rank_ - 1, 0), to, i); }),
                "exscan");

        comm_.reduce_scatter(mine(), own);
        require(own == block_of(sums(), rank_), "reduce_scatter");
        all = mine();
        comm_.reduce_scatter(in_place, all);
        require(block_of(all, 0) == block_of(sums(), rank_), "reduce_scatter in place");
        own.assign(block, 0);
        comm_.reduce_scatterv(mine(), own, counts_);
        require(own == block_of(sums(), rank_), "reduce_scatterv");
        all = mine();
        comm_.reduce_scatterv(in_place, all, counts_);
        require(block_of(all, 0) == block_of(sums(), rank_), "reduce_scatterv in place");
    }

    void own_operations() {
        struct Map {
            int a, b;  // x -> a x + b: composing two does not commute
        };
        const auto compose = [](const Map& l, const Map& r) {
            return Map{l.a * r.a, l.a * r.b + l.b};
        };
        trefoil::Operation<Map> composition(compose, trefoil::Commutes::no);
        std::array<Map, 3> maps{};
        maps.fill({rank_ + 2, rank_ + 1});
        comm_.allreduce(std::span(maps), composition);
        Map expected{2, 1};
        for (int r = 1; r < ranks_; ++r) {
            expected = compose(expected, {r + 2, r + 1});
        }
        for (const Map& map : maps) {
            require(map.a == expected.a && map.b == expected.b, "composition in rank order");
        }
        trefoil::Operation<int> largest([](int l, int r) { return l < r ? r : l; },
                                        trefoil::Commutes::yes);
        trefoil::Operation<int> moved = std::move(largest);
        int number = rank_;
        comm_.allreduce(std::span(&number, 1), moved);
        require(number == ranks_ - 1, "an operation that commutes");
        std::array<Map, 3> local{{{1, 2}, {3, 4}, {5, 6}}};
        trefoil::reduce_local(std::span(maps), local, composition);
        require(local[1].a == 3 * expected.a && local[1].b == 4 * expected.a + expected.b,
                "reduce_local");
        const trefoil::ValueIndex<double> mine{rank_ == root ? -1.0 : 1.0, rank_};
        std::array<trefoil::ValueIndex<double>, 1> best{};
        comm_.allreduce(std::span(&mine, 1), best, TREFOIL_MINLOC);
        require(best[0].index == root, "minloc");
    }

    void gathers() {
        const Ints own = block_of(mine(), 0);
        Ints all = nothing();
        comm_.allgather(own, all);
        require(all == gathered(0), "allgather");
        all = only(own);
        comm_.allgather(in_place, all);
        require(all == gathered(0), "allgather in place");
        all = nothing();
        comm_.allgatherv(own, all, counts_);
        require(all == gathered(0), "allgatherv");
        all = only(own);
        comm_.allgatherv(in_place, all, counts_, displacements_);
        require(all == gathered(0), "allgatherv in place");

        const std::span<int> none;
        all = nothing();
        comm_.gather(own, is_root() ? std::span(all) : none, root);
        require(!is_root() || all == gathered(0), "gather");
        all = nothing();
        comm_.gatherv(own, is_root() ? std::span(all) : none, counts_, root, displacements_);
        require(!is_root() || all == gathered(0), "gatherv");
        all = only(own);
        if (is_root()) {
            comm_.gather(in_place, all, root);
            require(all == gathered(0), "gather in place");
            all = only(own);
            comm_.gatherv(in_place, all, counts_, root);
            require(all == gathered(0), "gatherv in place");
        } else {
            comm_.gather(own, none, root);
            comm_.gatherv(own, none, {}, root);
        }
    }

    void scatters() {
        const Ints expected = blocks_from(root, rank_);
        Ints own = block_of(mine(), rank_);
        comm_.bcast(own, root);
        require(own == blocks_from(root, root), "bcast");
        Ints all = mine();
        const std::span<const int> none;
        comm_.scatter(is_root() ? std::span<const int>(all) : none, own, root);
        require(own == expected, "scatter");
        own.assign(block, 0);
        comm_.scatterv(all, own, counts_, root, displacements_);
        require(own == expected, "scatterv");
        if (is_root()) {
            comm_.scatter(all, in_place, root);
            comm_.scatterv(all, in_place, counts_, root);
            require(all == mine(), "scatter in place");
        } else {
            own.assign(block, 0);
            comm_.scatter(none, own, root);
            require(own == expected, "scatter");
            own.assign(block, 0);
            comm_.scatterv(none, own, {}, root);
            require(own == expected, "scatterv");
        }
    }

    void exchanges() {
        Ints all = nothing();
        comm_.alltoall(mine(), all);
        require(all == gathered(rank_), "alltoall");
        for (const int way : {0, 1, 2, 3}) {
            all = mine();
            if (way == 0) {
                comm_.alltoall(all);
            } else if (way == 1) {
                comm_.alltoall(in_place, all);
            } else {
                comm_.alltoallv(in_place, all, counts_, way == 2 ? Sizes() : displacements_);
            }
            require(all == gathered(rank_), "alltoall in place");
        }
        for (const Sizes& places : {Sizes(), displacements_}) {
            all = nothing();
            comm_.alltoallv(mine(), counts_, all, counts_, places, places);
            require(all == gathered(rank_), "alltoallv");
        }
    }

    /// Each collective, as `calls` makes it; `end` ends it.
    template <typename Calls, typename End>
    void all_in_flight(Calls calls, End end) {
        const Ints send = mine(), own = block_of(send, 0);
        Ints recv = nothing(), part(block);
        end(calls.allreduce(send, recv));
        require(recv == sums(), "allreduce in flight");
        end(calls.reduce(send, recv, root));
        end(calls.scan(send, recv));
        end(calls.exscan(send, recv));
        end(calls.reduce_scatter(send, part));
        end(calls.reduce_scatterv(send, part, counts_));
        require(part == block_of(sums(), rank_), "reduce_scatterv in flight");
        end(calls.allgather(own, recv));
        end(calls.allgatherv(own, recv, counts_));
        require(recv == gathered(0), "allgatherv in flight");
        end(calls.bcast(part, root));
        end(calls.gather(own, recv, root));
        end(calls.gatherv(own, recv, counts_, root));
        end(calls.scatter(send, part, root));
        end(calls.scatterv(send, part, counts_, root));
        require(part == blocks_from(root, rank_), "scatterv in flight");
        end(calls.alltoall(send, recv));
        end(calls.alltoallv(send, counts_, recv, counts_));
        require(recv == gathered(rank_), "alltoallv in flight");
        Ints pair(2 * block), both = blocks_from(rank_, 0);
        both.insert(both.end(), own.begin(), own.end());
        const Sizes two(2, block);
        end(calls.neighbor_allgather(own, pair));
        end(calls.neighbor_allgatherv(own, pair, two));
        end(calls.neighbor_alltoall(both, pair));
        end(calls.neighbor_alltoallv(both, two, pair, two));
        require(block_of(pair, 1) == blocks_from((rank_ + 1) % ranks_, 0), "neighbours in flight");
        end(calls.barrier());
    }
    void requests() {
        all_in_flight(comm_.begin(), [](trefoil::Request request) { request.wait(); });
        all_in_flight(comm_.prepare(), [](trefoil::Request request) {
            for (int i = 0; i < 2; ++i) {
                request.start();
                while (!request.test()) {
                }
            }
            request.free();
        });
        std::vector<trefoil::Request> two;
        two.push_back(comm_.prepare().barrier());
        two.push_back(comm_.prepare().barrier());
        trefoil::Requests both(two);
        both.start();
        comm_.progress();
        require(both.wait_any() >= 0, "wait_any");
        both.wait();
        require(both.test() && comm_.in_flight() == 0, "test");
    }

    void exchanges_with_neighbours() {
        const int before = (rank_ + ranks_ - 1) % ranks_, behind = (rank_ + 1) % ranks_;
        const auto both = [](Ints first, const Ints& second) {
            first.insert(first.end(), second.begin(), second.end());
            return first;
        };
        const Ints send = both(blocks_from(rank_, 0), blocks_from(rank_, 1));
        const Ints exchanged = both(blocks_from(before, 1), blocks_from(behind, 0));
        const Ints gathered = both(blocks_from(before, 0), blocks_from(behind, 0));
        const Sizes counts(2, block);
        Ints recv(send.size());
        comm_.neighbor_alltoall(send, recv);
        require(recv == exchanged, "neighbor_alltoall");
        recv.assign(send.size(), 0);
        comm_.neighbor_alltoallv(send, counts, recv, counts);
        require(recv == exchanged, "neighbor_alltoallv");
        comm_.neighbor_allgather(block_of(send, 0), recv);
        require(recv == gathered, "neighbor_allgather");
        recv.assign(send.size(), 0);
        comm_.neighbor_allgatherv(block_of(send, 0), recv, counts);
        require(recv == gathered, "neighbor_allgatherv");
    }

    /// Lengths that do not fit are refused by this rank alone, before anybody waits.
    void mistakes() {
        Ints all = mine(), shorter(block - 1);
        const Sizes too_many(counts_.size() + 1, block);
        const auto refused = [](auto&& call) {
            require(status_of(call) == TREFOIL_ERROR_INVALID_ARGUMENT,
                    "a length that does not fit");
        };
        refused([&] { comm_.allreduce(all, shorter); });
        refused([&] { comm_.allgather(shorter, all); });
        refused([&] { comm_.reduce_scatter(all, shorter); });
        refused([&] { comm_.allgatherv(in_place, all, too_many); });
        refused([&] { comm_.alltoallv(all, counts_, shorter, counts_); });
        refused([&] { comm_.alltoallv(in_place, all, counts_, Sizes(counts_.size(), 1)); });
        refused([&] { comm_.neighbor_allgather(all, shorter); });
        refused([&] { comm_.neighbor_alltoallv(all, too_many, all, counts_); });
        all.pop_back();
        refused([&] { comm_.alltoall(all); });
        refused([&] { comm_.alltoallv(in_place, all, counts_, displacements_); });
        refused([&] { comm_.reduce_scatterv(in_place, all, counts_); });
    }

  private:
    bool is_root() const { return rank_ == root; }
    Ints nothing() const { return Ints(static_cast<std::size_t>(ranks_ * block)); }

    template <typename Element>
    Ints blocks(Element&& element) const {
        Ints all;
        for (int r = 0; r < ranks_; ++r) {
            for (int i = 0; i < block; ++i) {
                all.push_back(element(r, i));
            }
        }
        return all;
    }
    Ints mine() const {
        return blocks([&](int to, int i) { return value(rank_, to, i); });
    }
    Ints sums() const {
        return blocks([&](int to, int i) {
            return 1000 * ranks_ * (ranks_ - 1) / 2 + ranks_ * (10 * to + i);
        });
    }
    /// Block `to` of every rank.
    Ints gathered(int to) const {
        return blocks([&](int from, int i) { return value(from, to, i); });
    }
    static Ints block_of(const Ints& all, int r) {
        return {all.begin() + r * block, all.begin() + (r + 1) * block};
    }
    static Ints blocks_from(int from, int to) { return {value(from, to, 0), value(from, to, 1)}; }
    /// The own block in its place, and nothing else.
    Ints only(const Ints& own) const {
        Ints all = nothing();
        std::copy(own.begin(), own.end(), all.begin() + rank_ * block);
        return all;
    }

    trefoil::Comm& comm_;
    int rank_, ranks_;
    Sizes counts_, displacements_;
};

void about_the_job(trefoil::Comm& comm) {
    require(trefoil::version() == TREFOIL_VERSION, "version");
    trefoil::log(TREFOIL_LOG_DEBUG, "call", "nobody wants this");
    require(status_of([] { trefoil::log(TREFOIL_LOG_INFO, "weather", "rain"); }) ==
                TREFOIL_ERROR_INVALID_ARGUMENT,
            "a topic that there is none of");
    require(trefoil::version_string() == trefoil_version_string(), "version_string");
    require(trefoil::datatype_size(trefoil::datatype_of<trefoil::Float16>()) == 2, "datatype_size");
    require(comm.torus() == Ints{comm.size()} && !comm.torus_source().empty(), "torus");
    require(comm.ranks_per_node() == 1, "ranks_per_node");
    require(comm.coordinates(comm.rank()) == Ints{comm.rank()}, "coordinates");
    require(comm.transport().backend == "memory" && comm.transport().provider.empty(), "transport");
    comm.set_algorithm("allreduce", "ring");
    require(comm.algorithm<float>("allreduce", 8) == "ring", "algorithm");
    comm.set_algorithm("allreduce", "auto");
    require(status_of([&] { comm.set_algorithm("allreduce", "rink"); }) == TREFOIL_ERROR_NOT_FOUND,
            "an algorithm that there is none of");
    require(
        status_of([&] { comm.set_schedule("allreduce", "{}"); }) == TREFOIL_ERROR_INVALID_ARGUMENT,
        "a schedule that is none");
    comm.set_rewire([](const trefoil_circuit_t*, int, void*) { return 1; });
    comm.set_rewire(nullptr);
}

}  // namespace

int main() {
    try {
        trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
        config.backend = "memory";
        trefoil::Comm comm(config);
        about_the_job(comm);
        Rank rank(comm);
        rank.reductions();
        rank.own_operations();
        rank.gathers();
        rank.scatters();
        rank.exchanges();
        rank.exchanges_with_neighbours();
        rank.requests();
        rank.mistakes();
        const std::string wrong = communicators_from_others(comm);
        require(wrong.empty(), wrong.c_str());
        std::vector<int> buffer(10);
        comm.register_memory(std::span(buffer));
        comm.deregister_memory(std::span(buffer));
        comm.free(comm.alloc(100));
        require(comm.resources().peers > 0 && comm.port(0).puts > 0, "what was used");
        require(!comm.status().empty(), "status");
        require(comm.failure().empty(), "failure");
        comm.barrier();
        std::printf("rank %d of %d is right\n", comm.rank(), comm.size());
        return EXIT_SUCCESS;
    } catch (const trefoil::CallFailed& error) {
        std::printf("%s: %s\n", trefoil_status_string(error.status()), error.what());
        return EXIT_FAILURE;
    }
}
