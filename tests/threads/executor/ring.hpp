// SPDX-License-Identifier: BSD-3-Clause
// Ranks in a ring, each a thread with an engine and executors over it: no communicator.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/registry/transports.hpp"
#include "program_writer.hpp"
#include "tests/threads/connections/prove.hpp"
#include "threads/executor/executor.hpp"
#include "threads/executor/handshake.hpp"

namespace trefoil::test {

/// One rank's part in a communicator of all ranks. Channel 0 of each rank leads through port +0 to
/// the next rank and back, channel 1 through port -0 to the one before.
class RingMember {
  public:
    static constexpr std::size_t slot_bytes = 4096;

    /// The engine outlives it.
    RingMember(Engine& engine, Rank rank, Rank ranks, std::uint64_t communicator,
               const ExecutorOptions& options) {
        channels_.groups = engine.groups();
        channels_.rank = rank;
        channels_.host = "here";
        channels_.rings = LandingRings(slot_bytes, 256);
        channels_.communicator = channels_.key = communicator;
        channels_.cards = engine.cards();
        executor_ = std::make_unique<Executor>(channels_, engine, options);
        const Rank peers[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
        for (const int channel : {0, 1}) {
            EXPECT_EQ(channels_.add_in(peers[channel], Port{channel}),
                      static_cast<std::uint32_t>(channel));
            EXPECT_EQ(channels_.add_out(peers[channel], Port{channel}),
                      static_cast<std::uint32_t>(channel));
        }
    }

    ProgramWriter writer() const {
        return ProgramWriter({channels_.out[0].group, channels_.out[1].group});
    }
    Channels& channels() { return channels_; }
    Executor& executor() { return *executor_; }

    Status run(const Program& program, std::vector<std::int32_t>& data, std::size_t segments = 1,
               std::uint64_t signature = 1) {
        return executor_->run(call_of(program, data, segments_, segments, signature),
                              in_place(data));
    }
    static CallVectors in_place(std::vector<std::int32_t>& data) {
        auto* const bytes = reinterpret_cast<std::byte*>(data.data());
        return {bytes, bytes};
    }
    /// A call on `data` in place; `list` holds its segments.
    static Call call_of(const Program& program, std::vector<std::int32_t>& data,
                        std::vector<CallSegment>& list, std::size_t segments = 1,
                        std::uint64_t signature = 1) {
        const std::size_t bytes = data.size() * sizeof data[0] / segments;
        list.clear();
        for (std::size_t i = 0; i < segments; ++i) {
            list.push_back({&program, i * bytes});
        }
        Call call;
        call.segments = list;
        call.kernels = reduce_kernels(DataType::int32, Operation::sum);
        call.signature = signature;
        call.text = "a test call";
        call.agreement = "make the same";
        return call;
    }

  private:
    Channels channels_;
    std::vector<CallSegment> segments_;
    std::unique_ptr<Executor> executor_;
};

/// With two workers each port has a group and a worker of its own. It is a member of a first
/// communicator, and of others that the test makes.
class RingRank {
  public:
    static constexpr std::uint64_t first_communicator = 100;

    RingRank(std::vector<std::unique_ptr<PortGroup>> groups, Rank rank, Rank ranks, bool may_spin)
        : rank_(rank),
          ranks_(ranks),
          threads_(groups.size() == 1 ? 0 : static_cast<int>(groups.size()), {}) {
        for (auto& group : groups) {
            groups_.push_back(std::move(group));
        }
        engine_ =
            std::make_unique<Engine>(groups_, Engine::Member{rank, ranks}, threads_, may_spin);
    }

    Engine& engine() { return *engine_; }
    const std::vector<std::shared_ptr<PortGroup>>& groups() const { return groups_; }
    std::string card() const {
        Card card = engine_->card();
        card.host = "here";
        return encode(card);
    }
    void meet(const std::shared_ptr<const Cards>& cards, const Prove& its_proof = prove) {
        engine_->meet(cards, its_proof);
    }
    /// The ranks have met.
    std::unique_ptr<RingMember> join(std::uint64_t communicator,
                                     const ExecutorOptions& options = {}) {
        return std::make_unique<RingMember>(*engine_, rank_, ranks_, communicator, options);
    }
    void join_first(const ExecutorOptions& options) { first_ = join(first_communicator, options); }
    /// Throws what Handshake throws.
    void greet(std::chrono::milliseconds timeout = std::chrono::seconds(30), bool far = false) {
        Handshake::Options options;
        options.timeout = timeout;
        options.is_far = [far](Rank) { return far; };
        Handshake handshake(
            *engine_, {{(rank_ + 1) % ranks_, Port{0}}, {(rank_ + ranks_ - 1) % ranks_, Port{1}}},
            options);
        handshake.begin();
        while (!handshake.greet_for(timeout)) {
        }
    }
    void leave_first() { first_.reset(); }
    /// Its groups stay: peers may put into their memory until they have ended, too.
    void end() {
        first_.reset();
        engine_->end();
    }

    // Of its first communicator.
    RingMember& first() { return *first_; }
    ProgramWriter writer() const { return first_->writer(); }
    Executor& executor() { return first_->executor(); }
    Status run(const Program& program, std::vector<std::int32_t>& data, std::size_t segments = 1,
               std::uint64_t signature = 1) {
        return first_->run(program, data, segments, signature);
    }

  private:
    Rank rank_, ranks_;
    std::vector<std::shared_ptr<PortGroup>> groups_;
    PortThreads threads_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<RingMember> first_;
};

using MakeGroups =
    std::function<std::vector<std::unique_ptr<PortGroup>>(Rank, std::vector<std::vector<Port>>)>;

inline std::vector<std::unique_ptr<PortGroup>> memory_groups(Rank rank,
                                                             std::vector<std::vector<Port>> ports) {
    BackendConfig config;
    config.groups = std::move(ports);
    config.rank = rank;
    return open_backend("memory", config);
}

/// The ranks of a ring, which have met. Nobody's groups end before all ranks have.
class RingOfRanks {
  public:
    using ProveAs = std::function<Prove(Rank)>;

    RingOfRanks(
        int ranks, int workers, const MakeGroups& make, bool may_spin = false,
        const ProveAs& prove_as = [](Rank) { return Prove(prove); }) {
        std::vector<std::string> cards;
        for (int r = 0; r < ranks; ++r) {
            std::vector<std::vector<Port>> ports = {{Port{0}, Port{1}}};
            if (workers == 2) {
                ports = {{Port{0}}, {Port{1}}};
            }
            const auto rank = static_cast<Rank>(r);
            ranks_.push_back(std::make_unique<RingRank>(make(rank, ports), rank,
                                                        static_cast<Rank>(ranks), may_spin));
            cards.push_back(ranks_.back()->card());
        }
        const auto all = std::make_shared<const Cards>(std::move(cards));
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            ranks_[r]->meet(all, prove_as(static_cast<Rank>(r)));
        }
    }
    ~RingOfRanks() {
        on_each([](Rank, RingRank& rank) { rank.end(); });
    }
    RingOfRanks(const RingOfRanks&) = delete;
    RingOfRanks& operator=(const RingOfRanks&) = delete;

    RingRank& operator[](std::size_t rank) { return *ranks_[rank]; }
    /// In a thread each.
    void on_each(const std::function<void(Rank, RingRank&)>& body) {
        std::vector<std::thread> threads;
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            threads.emplace_back([&, r] { body(static_cast<Rank>(r), *ranks_[r]); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

  private:
    std::vector<std::unique_ptr<RingRank>> ranks_;
};

/// Runs `body` on each rank of a ring, in a thread each, where the first communicator exists.
inline void on_ring(int ranks, int workers, const MakeGroups& make, const ExecutorOptions& options,
                    const std::function<void(Rank, RingRank&)>& body) {
    RingOfRanks ring(ranks, workers, make, options.may_spin);
    for (int r = 0; r < ranks; ++r) {
        ring[static_cast<std::size_t>(r)].join_first(options);
    }
    ring.on_each(body);
}

/// Everybody's vector of `count` elements is added up in place: it travels once around the ring.
/// Synchronising: everybody hears from everybody.
template <typename RankOrMember>
Program ring_sum(const RankOrMember& rank, int ranks, std::size_t count) {
    ProgramWriter w = rank.writer();
    const std::size_t bytes = count * sizeof(std::int32_t);
    Location from{Location::output, 0};
    w.part();
    std::vector<Location> landed;
    for (int step = 0; step + 1 < ranks; ++step) {
        w.step();
        w.put(0, from, bytes);
        from = w.arrival(1, bytes);
        landed.push_back(from);
    }
    for (const Location& location : landed) {  // nobody adds before its own has left
        w.after(ProgramOp::reduce({Location::output, 0}, {Location::output, 0}, location, count));
    }
    return w.take(false);
}

}  // namespace trefoil::test
