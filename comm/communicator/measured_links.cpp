// SPDX-License-Identifier: BSD-3-Clause
// How fast the links of a job are, by messages between neighbours (TREFOIL_LINKS=measured).
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/communicator/communicator.hpp"
#include "comm/setup/found_links.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;
using Counts = std::vector<std::size_t>;

/// A message that takes long beside starting it, but not so long that ranks wait for the job.
constexpr std::chrono::milliseconds long_enough{1};
constexpr std::size_t first_bytes = std::size_t{64} << 10, most_bytes = std::size_t{1} << 20;
constexpr int repetitions = 3;

/// A rank that sends receives nothing meanwhile: what it takes is then what its link takes. Ranks
/// send in turns, those at odd places and those at even ones; the last of an odd ring alone.
constexpr Rank turns = 3;
Rank turn_of(const Torus& torus, Rank position, int dimension) {
    const Rank at = torus.coordinate(position, dimension);
    const Rank size = torus.size(dimension);
    return size % 2 != 0 && at == size - 1 ? 2 : at % 2;
}

}  // namespace

/// By own port, the nanoseconds that a message takes from the neighbour behind it to this rank.
std::vector<std::uint64_t> Communicator::time_links() {
    const Torus& torus = geometry_.map.torus;
    const Rank position = geometry_.map.position_of[static_cast<std::size_t>(rank_)];
    const auto ports = static_cast<std::size_t>(torus.ports());
    std::vector<std::byte> sent, received;
    Counts places(ports);
    const auto make_room = [&](std::size_t bytes) {
        sent.resize(ports * bytes);
        received.resize(ports * bytes);
        for (std::size_t p = 0; p < ports; ++p) {
            places[p] = p * bytes;
        }
    };
    const auto agree_on_most = [&](std::uint64_t mine) {
        std::uint64_t most = 0;
        run_unchecked({.collective = Collective::allreduce,
                       .type = DataType::uint64,
                       .op = Operation::max,
                       .count = 1},
                      &mine, &most);
        return most;
    };
    const auto exchange = [&](const Counts& out, const Counts& in) {
        const auto begin = Clock::now();
        run_unchecked({.collective = Collective::neighbor_alltoall,
                       .counts = in,
                       .displacements = places,
                       .send_counts = out,
                       .send_displacements = places},
                      sent.data(), received.data());
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
    };
    std::size_t bytes = first_bytes;
    make_room(bytes);
    while (bytes < most_bytes &&
           agree_on_most(exchange(Counts(ports, bytes), Counts(ports, bytes))) <
               std::uint64_t(std::chrono::nanoseconds(long_enough).count())) {
        bytes *= 2;
        make_room(bytes);
    }
    std::vector<std::uint64_t> times(ports);
    for (int p = 0; p < torus.ports(); ++p) {
        const Port in{p}, out = in.opposite();
        const int dimension = in.dimension();
        if (torus.size(dimension) == 1) {
            continue;
        }
        const Rank from = torus.neighbour(position, in);
        for (Rank turn = 0; turn < turns; ++turn) {
            Counts out_counts(ports), in_counts(ports);
            const bool sends = turn_of(torus, position, dimension) == turn;
            const bool receives = turn_of(torus, from, dimension) == turn;
            out_counts[static_cast<std::size_t>(slot_of(out))] = sends ? bytes : 0;
            in_counts[static_cast<std::size_t>(slot_of(in))] = receives ? bytes : 0;
            for (int i = 0; i <= repetitions; ++i) {  // connections are made by the first one
                (void)agree_on_most(0);               // all begin at once
                const std::uint64_t took = exchange(out_counts, in_counts);
                std::uint64_t& best = times[static_cast<std::size_t>(p)];
                if (receives && i > 0) {
                    best = best == 0 ? took : std::min(best, took);
                }
            }
        }
    }
    return times;
}

/// Replaces the torus by what is found; before the first call.
void Communicator::measure_links() {
    Fabric fabric = world_->fabric();
    if (!fabric.is_torus()) {
        throw Error(Status::unsupported,
                    "TREFOIL_LINKS=measured works only on tori without missing nodes or twists, "
                    "not on " +
                        fabric.name() + "; TREFOIL_LINKS=asked takes what the NICs say");
    }
    const Torus torus = geometry_.map.torus;
    const auto ports = static_cast<std::size_t>(torus.ports());
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks()) * ports);
    world_->agreement().for_all("the speed of links", [&] {
        const std::vector<std::uint64_t> mine = time_links();
        run_unchecked(
            {.collective = Collective::allgather, .type = DataType::uint64, .count = ports},
            mine.data(), all.data());
    });
    std::vector<std::vector<std::uint64_t>> times(static_cast<std::size_t>(ranks()),
                                                  std::vector<std::uint64_t>(ports));
    for (Rank position = 0; position < torus.ranks(); ++position) {
        const auto rank =
            static_cast<std::size_t>(geometry_.map.rank_at[static_cast<std::size_t>(position)]);
        for (int p = 0; p < torus.ports(); ++p) {
            const Rank from = torus.neighbour(position, Port{p});
            times[static_cast<std::size_t>(from)]
                 [static_cast<std::size_t>(Port{p}.opposite().index)] =
                     all[rank * ports + static_cast<std::size_t>(p)];
        }
    }
    world_->describe(with_times(std::move(fabric), times), "messages between neighbours");
    geometry_ = world_->geometry();
    lanes_.for_each([](Lane& lane) { lane.forget_schedules(); });
}

}  // namespace trefoil
