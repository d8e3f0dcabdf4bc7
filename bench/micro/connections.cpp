// SPDX-License-Identifier: BSD-3-Clause
// Channels of one more communicator, and set-up by number of ranks, on backend memory: one thread
// drives all ranks in turns, so that no time is spent on waiting.
#include <benchmark/benchmark.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "backend/registry/transports.hpp"
#include "backend/system/secrets.hpp"
#include "bench/micro/groups.hpp"
#include "bench/micro/heap.hpp"
#include "threads/connections/wiring.hpp"

namespace trefoil::micro {

namespace {

std::unique_ptr<PortGroup> open_group(Rank rank) {
    BackendConfig config;
    config.groups = {{Port{0}, Port{1}, Port{2}, Port{3}}};
    config.rank = rank;
    return std::move(open_backend("memory", config)[0]);
}

std::uint64_t prove(std::string_view text) {
    return number_of(keyed_hash("a secret", text));
}

struct End {
    End(Rank rank, Rank ranks)
        : group(open_group(rank)),
          arena([this](std::size_t bytes) { return group->allocate(bytes); }),
          post(*group, arena, rank, ranks),
          wiring(post, arena, 1U << 18, {}) {}

    bool progress() {
        bool moved = wiring.progress();
        Event events[16];
        for (std::size_t count = group->poll(events); count > 0; --count) {
            const Event& event = events[count - 1];
            moved |= event.kind == Event::Kind::arrived ? post.take(event.notification)
                                                        : post.sent(event.cookie);
        }
        return moved;
    }

    std::unique_ptr<PortGroup> group;
    LandingArena arena;
    PostOffice post;
    Wiring wiring;
};

class World {
  public:
    explicit World(Rank ranks) {
        std::vector<std::string> encoded;
        for (Rank rank = 0; rank < ranks; ++rank) {
            ends_.push_back(std::make_unique<End>(rank, ranks));
            encoded.push_back(encode({"here", {ends_.back()->post.card()}}));
        }
        card_bytes_ = encoded[0].size();
        cards_ = std::make_unique<Cards>(std::move(encoded));
        for (const auto& end : ends_) {
            end->post.open(*cards_, prove);
        }
    }
    End& operator[](Rank rank) { return *ends_[rank]; }
    /// What a rank gives to the allgather, and what it keeps of all.
    std::size_t card_bytes() const { return card_bytes_; }
    std::size_t cards_bytes() const { return cards_->bytes(); }
    void settle() {
        bool moved = true;
        while (moved) {
            moved = false;
            for (const auto& end : ends_) {
                moved |= end->progress();
            }
        }
    }

  private:
    std::vector<std::unique_ptr<End>> ends_;
    std::unique_ptr<Cards> cards_;
    std::size_t card_bytes_ = 0;
};

/// Resident memory of the process in bytes, shared memory included.
std::size_t resident() {
    std::ifstream status("/proc/self/status");
    std::string word;
    std::size_t kib = 0;
    while (status >> word) {
        if (word == "VmRSS:") {
            status >> kib;
        }
    }
    return kib << 10;
}

/// From want() at both ends to both wires, without the end.
void wire_two_ranks(benchmark::State& state) {
    World world(2);
    std::uint64_t communicator = 0;
    const auto wire = [&] {
        ++communicator;
        for (const Rank rank : {0, 1}) {
            world[rank].wiring.begin(communicator);
            (void)world[rank].wiring.want({communicator, 1 - rank, Port{rank}}, 128, 4);
        }
        world.settle();
    };
    wire();
    const std::size_t heap = heap_in_use(), used = world[0].arena.bytes_used(), rss = resident();
    for (auto _ : state) {
        wire();
        if (world[0].wiring.wire_of({communicator, 1, Port{0}}) == nullptr) {
            state.SkipWithError("no wire");
            break;
        }
    }
    const auto count = static_cast<double>(state.iterations()) * 2;  // of both ranks
    state.counters["heap/peer"] = static_cast<double>(heap_in_use() - heap) / count;
    state.counters["landing/peer"] =
        static_cast<double>(world[0].arena.bytes_used() - used) / count * 2;
    state.counters["resident/peer"] = static_cast<double>(resident() - rss) / count;
}

/// The same and its end, again and again: memory is used again.
void wire_and_end(benchmark::State& state) {
    World world(2);
    std::uint64_t communicator = 0;
    for (auto _ : state) {
        ++communicator;
        for (const Rank rank : {0, 1}) {
            world[rank].wiring.begin(communicator);
            (void)world[rank].wiring.want({communicator, 1 - rank, Port{rank}}, 128, 4);
        }
        world.settle();
        for (const Rank rank : {0, 1}) {
            world[rank].wiring.end(communicator);
        }
        world.settle();
    }
    state.counters["landing_held"] = static_cast<double>(world[0].arena.bytes_held());
}

/// All ranks of a ring of rings, each with channels from and to its neighbours and, as
/// dissemination has it, the ranks at distances 1, 2, 4 ...
void set_up(benchmark::State& state) {
    const auto ranks = static_cast<Rank>(state.range(0));
    std::size_t heap = 0, records = 0, said = 0, connections = 0, cards = 0, card = 0, rss = 0;
    for (auto _ : state) {
        const std::size_t heap_before = heap_in_use(), rss_before = resident();
        World world(ranks);
        for (Rank rank = 0; rank < ranks; ++rank) {
            world[rank].wiring.begin(1);
            for (Rank distance = 1; distance < ranks; distance *= 2) {
                const Rank peer = (rank + ranks - distance) % ranks;
                (void)world[rank].wiring.want({1, peer, Port{1}}, 128, 4);
            }
        }
        world.settle();
        heap = heap_in_use() - heap_before;
        rss = resident() - rss_before;
        records = world[0].post.statistics().records;
        said = world[0].post.statistics().record_bytes;
        connections = world[0].post.connections();
        cards = world.cards_bytes();
        card = world.card_bytes();
    }
    state.counters["card"] = static_cast<double>(card);
    state.counters["cards"] = static_cast<double>(cards);
    state.counters["connections"] = static_cast<double>(connections);
    state.counters["records"] = static_cast<double>(records);
    state.counters["said"] = static_cast<double>(said);
    state.counters["heap/rank"] = static_cast<double>((heap - cards) / ranks);
    state.counters["resident/rank"] = static_cast<double>((rss - cards) / ranks);
}

}  // namespace

void register_connections() {
    benchmark::RegisterBenchmark("connections/wire", wire_two_ranks)->Iterations(2000);
    benchmark::RegisterBenchmark("connections/wire_and_end", wire_and_end);
    benchmark::RegisterBenchmark("connections/set_up", set_up)
        ->RangeMultiplier(4)
        ->Range(2, 512)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
}

}  // namespace trefoil::micro
