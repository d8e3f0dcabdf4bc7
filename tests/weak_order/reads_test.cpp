// SPDX-License-Identifier: BSD-3-Clause
// Reads of peers' vectors: an owner that gives up its call harms no reader. And the failure that
// says so.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
#include "tests/weak_order/quiet_group.hpp"
// The product's headers, over them. executor_files.cpp has the rest.
#include "threads/executor/failure.hpp"
#include "threads/executor/peer_reads.hpp"

namespace trefoil::weak {
namespace {

constexpr std::uint64_t call_hash = 42;
constexpr std::uint32_t channel = 0;

/// A rank that reaches its peer through one channel.
struct Reader {
    Reader(Reach reach, ReadGuard& own, const ReadGuard& peers) {
        const auto group = std::make_shared<QuietGroup>(Port{0});
        group->its_reach = reach;
        group->own = &own;
        group->peers = &peers;
        channels.groups.push_back(group);
        channels.out.append([](OutChannel& out) { out.connected.store(true); });
        reads.open(call_hash);
    }
    Channels channels;
    WakeUp wake_up{channels.groups};
    Failure failure{wake_up, 0};
    PeerReads reads{channels, failure};
};

/// Both are in one call. The vector is the owner's, and anybody's once the owner has given up.
struct Both {
    explicit Both(Reach reach)
        : owner(reach, guards[0], guards[1]), reader(reach, guards[1], guards[0]) {}

    std::array<ReadGuard, 2> guards{};
    Reader owner, reader;
    int vector = 0;
    std::atomic<int> copied{0};  ///< by the kernel, which orders nothing
};

Threads read_by_addresses() {
    const auto both = std::make_shared<Both>(Reach::addresses);
    return {[both] {
                if (both->reader.reads.begin({&channel, 1})) {
                    note_read(&both->vector);
                    both->reader.reads.end({&channel, 1});
                }
            },
            [both] {
                both->owner.reads.withdraw();
                note_write(&both->vector);
            }};
}

Threads read_by_copies() {
    const auto both = std::make_shared<Both>(Reach::copies);
    return {[both] {
                if (both->reader.reads.begin({&channel, 1})) {
                    const int read = both->copied.load(std::memory_order_relaxed);
                    both->reader.reads.end({&channel, 1});
                    require(read == 0 || both->reader.failure.happened(), "a wrong vector counts");
                }
            },
            [both] {
                both->owner.reads.withdraw();
                both->copied.store(1, std::memory_order_relaxed);
            }};
}

/// Whoever sees the status sees what led to it.
Threads a_failure_is_seen() {
    const auto both = std::make_shared<Both>(Reach::none);
    return {[both] {
                note_write(&both->vector);
                both->owner.failure.set(Cause{Status::peer_lost});
            },
            [both] {
                if (both->owner.failure.status() != Status::success) {
                    note_read(&both->vector);
                }
            }};
}

TEST(PeerReads, EveryOrderingIsNeeded) {
    prove(
        {"threads/executor/peer_reads.cpp", "threads/executor/failure.hpp",
         "threads/executor/failure.cpp"},
        {{"read by addresses", read_by_addresses},
         {"read by copies", read_by_copies},
         {"a failure is seen", a_failure_is_seen}},
        {{"peer_reads.cpp", "(void)guard->call.load(std::memory_order_seq_cst);",
          "it keeps later stores behind an earlier one, and in the model none overtakes another"}});
}

}  // namespace
}  // namespace trefoil::weak
