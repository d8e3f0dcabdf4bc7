// SPDX-License-Identifier: BSD-3-Clause
// What every backend must do, written once against backend/ports/port_group.hpp. A backend's own
// test instantiates the suite Conformance with its transports.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ports/powers.hpp"
#include "backend/registry/transports.hpp"

namespace trefoil::conformance {

/// A transport under test, and whether its ranks are threads or processes.
struct Subject {
    std::string name;  ///< of the test: letters, digits and underscores
    std::string backend;
    std::string provider;
    bool processes = false;
    /// Asked before each test, which is skipped where it is not offered here; null: it always is.
    bool (*offered)(const Subject&) = nullptr;
    /// Why the library below does not survive a peer that abandons its puts; null: it does.
    const char* why_not_abandoned = nullptr;
    bool registers = true;  ///< its groups have the power Registering, which is tested then
    friend void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
};

/// The suite. A transport runs it by one line:
/// INSTANTIATE_TEST_SUITE_P(Memory, Conformance, threads_and_processes("memory"), test_name);
class Conformance : public testing::TestWithParam<Subject> {
  protected:
    void SetUp() override {
        if (GetParam().offered != nullptr && !GetParam().offered(GetParam())) {
            GTEST_SKIP() << GetParam().backend << " does not offer " << GetParam().provider
                         << " here";
        }
    }
};

/// The ways to run the ranks: threads of the test's process, processes forked from it, or both.
inline auto as_threads(const std::string& backend) {
    return testing::Values(Subject{backend + "_threads", backend, "", false});
}
inline auto as_processes(const std::string& backend) {
    return testing::Values(Subject{backend + "_processes", backend, "", true});
}
inline auto threads_and_processes(const std::string& backend) {
    return testing::Values(Subject{backend + "_threads", backend, "", false},
                           Subject{backend + "_processes", backend, "", true});
}

std::string test_name(const testing::TestParamInfo<Subject>& info);

struct SharedBoard;

/// One rank of a test: exchanges blobs with the others through memory that threads and forked
/// processes share. Every wait ends at the deadline of the run, or when another rank fails.
class Node {
  public:
    Node(SharedBoard& board, Rank rank, Rank ranks) : board_(board), rank_(rank), ranks_(ranks) {}
    Rank rank() const { return rank_; }
    Rank ranks() const { return ranks_; }
    /// Every rank's blob; `idle` is called while waiting (ports must be polled).
    std::vector<std::string> allgather(std::string_view mine,
                                       const std::function<void()>& idle = {});
    /// Throws when the run is over its deadline or another rank has failed.
    void check() const;

  private:
    SharedBoard& board_;
    Rank rank_;
    Rank ranks_;
    std::uint64_t round_ = 0;
};

/// Runs `body` on `ranks` threads, or forked processes; a failure of one is a failure of the test.
void run_ranks(const Subject& subject, Rank ranks, const std::function<void(Node&)>& body);

/// One group with memory to land in and to send from, and what polling it has returned so far.
class Driver {
  public:
    Driver(std::unique_ptr<PortGroup> group, std::size_t bytes);

    PortGroup& group() { return *group_; }
    std::byte* inbox() { return inbox_.data; }
    std::byte* outbox() { return outbox_.data; }
    const LocalMemory& inbox_memory() const { return inbox_; }
    const LocalMemory& outbox_memory() const { return outbox_; }

    /// What peers need: addresses of all ports and the inbox.
    std::string describe() const;
    /// Connects all ports to those of `description`, made by describe() of rank `peer`: port p to
    /// the peer's opposite of p, if that is there.
    void connect(Rank peer, const std::string& description);

    /// Puts outbox[at, at + bytes) to the peer's inbox at `to`; polls while told to try again.
    void put(const Node& node, Port port, Rank peer, std::size_t at, std::size_t to,
             std::size_t bytes, std::uint64_t notification);
    /// From any memory to any memory of the peer's.
    void put_to(const Node& node, Port port, Rank peer, const void* source, void* descriptor,
                const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                std::uint64_t notification);
    /// As made by connect().
    Peer peer(Port port, Rank rank) const { return peers_.at({port.index, rank}); }
    /// One put, no retry; `cookie` is expected back if it is queued.
    PutResult try_put(Port port, Rank peer, std::size_t at, std::size_t to, std::size_t bytes,
                      std::uint64_t notification);

    void poll();
    /// The next notification that arrived; polls, or sleeps in wait(`nap`) if `nap` is not 0.
    std::uint64_t next_notification(const Node& node, std::chrono::microseconds nap = {});
    /// Polls until all queued puts were reported as sent.
    void flush(const Node& node);
    std::size_t unread() const { return arrived_.size(); }

  private:
    PutResult try_put(Port port, Rank peer, const void* source, void* descriptor,
                      const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                      std::uint64_t notification);

    std::unique_ptr<PortGroup> group_;
    LocalMemory inbox_;
    LocalMemory outbox_;
    std::map<std::pair<int, Rank>, Peer> peers_;
    std::map<std::pair<int, Rank>, RemoteMemory> inboxes_;
    std::deque<std::uint64_t> arrived_;
    std::set<std::uint64_t> queued_;
    std::uint64_t next_cookie_ = 1;
};

/// Two ports, of one thread.
inline const std::vector<std::vector<Port>> one_group{{Port{0}, Port{1}}};

/// Opens `groups`, each with inbox and outbox of `bytes`, and connects them to all other ranks.
std::vector<std::unique_ptr<Driver>> wire(Node& node, const Subject& subject,
                                          const std::vector<std::vector<Port>>& groups,
                                          std::size_t bytes);

/// All ranks come here after their last notification; polls until everybody has come.
void finish(Node& node, const std::vector<std::unique_ptr<Driver>>& drivers);

/// Byte `i` of the pattern number `seed`.
std::byte pattern(std::uint64_t seed, std::size_t i);
void fill(std::byte* data, std::size_t bytes, std::uint64_t seed);
/// The first byte that differs from the pattern, or `bytes`.
std::size_t first_wrong(const std::byte* data, std::size_t bytes, std::uint64_t seed);

}  // namespace trefoil::conformance
