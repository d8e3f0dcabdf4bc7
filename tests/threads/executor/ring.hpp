// SPDX-License-Identifier: BSD-3-Clause
// Ranks in a ring, each a thread with an executor over channels made by hand: no communicator.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "backend/registry/transports.hpp"
#include "program_writer.hpp"
#include "threads/executor/executor.hpp"

namespace trefoil::test {

/// Channel 0 of each rank leads through port +0 to the next rank and back, channel 1 through port
/// -0 to the one before. With two workers each has a group and a worker of its own.
class RingRank {
  public:
    static constexpr std::size_t slot_bytes = 4096;

    RingRank(std::vector<std::unique_ptr<PortGroup>> groups, Rank rank)
        : threads_(groups.size() == 1 ? 0 : static_cast<int>(groups.size()), {}) {
        for (auto& group : groups) {
            channels_.groups.push_back(std::move(group));
        }
        channels_.rank = rank;
        channels_.host = "here";
        channels_.slot_bytes = slot_bytes;
        channels_.in_by_id.resize(channels_.groups.size());
    }

    int group_of(std::uint32_t channel) const {
        return channels_.groups.size() == 1 ? 0 : static_cast<int>(channel);
    }
    ProgramWriter writer() const { return ProgramWriter({group_of(0), group_of(1)}); }
    Channels& channels() { return channels_; }
    Executor& executor() { return *executor_; }

    /// Makes room for what `peer` sends through `channel`.
    void expect(std::uint32_t channel, Rank peer) {
        const int group = group_of(channel);
        InChannel in;
        in.peer = peer;
        in.port = Port{static_cast<int>(channel)};
        in.group = group;
        memory_[channel] = channels_.groups[group]->allocate(channels_.landing_bytes());
        in.landing = memory_[channel].data;
        in.opposite = channel;
        channels_.in_by_id[group].push_back(static_cast<std::uint32_t>(channels_.in.size()));
        channels_.in.push_back(in);
    }
    /// Connects `channel` to that channel of `peer` which ends here.
    void connect(std::uint32_t channel, RingRank& peer) {
        const std::uint32_t theirs = 1 - channel;
        PortGroup& own = *channels_.groups[group_of(channel)];
        PortGroup& other = *peer.channels_.groups[peer.group_of(theirs)];
        OutChannel out;
        out.peer = peer.channels_.rank;
        out.port = Port{static_cast<int>(channel)};
        out.group = group_of(channel);
        out.endpoint = own.connect(out.port, other.address(Port{static_cast<int>(theirs)}));
        out.landing = own.import_memory(other.describe(peer.memory_[theirs]));
        out.id = peer.channels_.groups.size() == 1 ? theirs : 0;
        channels_.out.push_back(out);
    }
    void open(const ExecutorOptions& options) {
        engine_ = std::make_unique<Engine>(channels_.groups, threads_, options.may_spin);
        executor_ = std::make_unique<Executor>(channels_, *engine_, options);
    }
    void greet() {
        const Engine::Exclusive held(*engine_);
        executor_->greet(0, 0);
    }
    void announce_connecting() {
        const Engine::Exclusive held(*engine_);
        executor_->announce_connecting();
    }
    Status run(const Program& program, std::vector<std::int32_t>& data, std::size_t segments = 1,
               std::uint64_t signature = 1) {
        return executor_->run(call_of(program, data, pieces_, segments, signature));
    }
    /// A call on `data` in place; `pieces` holds its segments.
    static Call call_of(const Program& program, std::vector<std::int32_t>& data,
                        std::vector<CallSegment>& pieces, std::size_t segments = 1,
                        std::uint64_t signature = 1) {
        const std::size_t bytes = data.size() * sizeof data[0] / segments;
        pieces.clear();
        for (std::size_t i = 0; i < segments; ++i) {
            pieces.push_back({&program, i * bytes});
        }
        Call call;
        call.segments = pieces;
        call.input = call.output = reinterpret_cast<std::byte*>(data.data());
        call.kernels = reduce_kernels(DataType::int32, Operation::sum);
        call.signature = signature;
        call.text = "a test call";
        call.agreement = "make the same";
        return call;
    }

  private:
    Channels channels_;
    PortThreads threads_;
    LocalMemory memory_[2];
    std::vector<CallSegment> pieces_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<Executor> executor_;
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

/// Runs `body` on each rank of a ring, in a thread each. Nobody's groups end before all are done.
inline void on_ring(int ranks, int workers, const MakeGroups& make, const ExecutorOptions& options,
                    const std::function<void(Rank, RingRank&)>& body) {
    std::vector<std::unique_ptr<RingRank>> ring;
    for (int r = 0; r < ranks; ++r) {
        std::vector<std::vector<Port>> ports = {{Port{0}, Port{1}}};
        if (workers == 2) {
            ports = {{Port{0}}, {Port{1}}};
        }
        const auto rank = static_cast<Rank>(r);
        ring.push_back(std::make_unique<RingRank>(make(rank, ports), rank));
        ring[r]->expect(0, static_cast<Rank>((r + 1) % ranks));
        ring[r]->expect(1, static_cast<Rank>((r + ranks - 1) % ranks));
    }
    for (int r = 0; r < ranks; ++r) {
        ring[r]->connect(0, *ring[(r + 1) % ranks]);
        ring[r]->connect(1, *ring[(r + ranks - 1) % ranks]);
        ring[r]->open(options);
    }
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) {
        threads.emplace_back([&, r] { body(static_cast<Rank>(r), *ring[r]); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// Everybody's vector of `count` elements is added up in place: it travels once around the ring.
/// Synchronising: everybody hears from everybody.
inline Program ring_sum(const RingRank& rank, int ranks, std::size_t count) {
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
        w.after(reduce_op({Location::output, 0}, location, count));
    }
    return w.take(false);
}

}  // namespace trefoil::test
