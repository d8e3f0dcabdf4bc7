// SPDX-License-Identifier: BSD-3-Clause
// What goes in and what must come out is what `trefoil perf` fills and checks, too; the numbers are
// others.
#include "collective_check.hpp"

#include "bench/perf/call.hpp"
#include "bench/perf/role.hpp"

namespace trefoil::test {
namespace {

using tool::Buffer;
using tool::Content;
using tool::RankCall;
using tool::Role;
using tool::RoleRange;

constexpr std::int64_t untouched = -777;
constexpr std::size_t guard = 3;  // elements around each buffer

/// A vector between guards.
class Guarded {
  public:
    explicit Guarded(std::size_t count) : values_(count + 2 * guard, untouched) {}
    std::int64_t* data() { return values_.data() + guard; }
    bool guards_hold() const {
        for (std::size_t i = 0; i < guard; ++i) {
            if (values_[i] != untouched || values_[values_.size() - 1 - i] != untouched) {
                return false;
            }
        }
        return true;
    }

  private:
    std::vector<std::int64_t> values_;
};

RankCall rank_call_of(trefoil_comm_t comm, const CollectiveCase& what) {
    RankCall rank_call{what.collective, what.count, what.in_place, what.root, 0, 1, {}, what.gap};
    trefoil_comm_rank(comm, &rank_call.rank);
    trefoil_comm_size(comm, &rank_call.ranks);
    if (traits_of(what.collective).with_neighbours()) {
        rank_call.neighbours = tool::neighbours_of(comm);
    }
    if (!what.counts.empty()) {
        // In place, as many elements of an alltoallv go the other way.
        const bool pairs = traits_of(what.collective).blocks_both_ways();
        const int turn = !pairs ? 0 : what.in_place ? 1 : 2;
        rank_call.block_count = [&what, turn, ranks = rank_call.ranks](Rank from, Rank to) {
            return what.counts[static_cast<std::size_t>((from + to * turn) % ranks)];
        };
    }
    return rank_call;
}

class Checker {
  public:
    Checker(trefoil_comm_t comm, const CollectiveCase& what)
        : comm_(comm),
          what_(what),
          rank_call_(rank_call_of(comm, what)),
          role_(role_of(rank_call_)),
          send_(role_.send_count),
          recv_(role_.receive_count) {}

    std::string run() {
        const std::string name(to_string(what_.collective));
        if (trefoil_comm_set_algorithm(comm_, name.c_str(), what_.algorithm.c_str()) !=
            TREFOIL_SUCCESS) {
            return trefoil_last_error(nullptr);
        }
        for (const RoleRange& range : role_.before) {
            for (std::size_t i = 0; i < range.count; ++i) {
                address(range)[i] = expected(range, i);
            }
        }
        if (call() != TREFOIL_SUCCESS) {
            return trefoil_last_error(nullptr);
        }
        for (const RoleRange& range : role_.after) {
            for (std::size_t i = 0; i < range.count; ++i) {
                if (address(range)[i] != expected(range, i)) {
                    return difference(range, i);
                }
            }
        }
        return send_.guards_hold() && recv_.guards_hold() ? "" : "wrote outside a buffer";
    }

  private:
    /// Where the collective has nothing for this rank, its arguments may be null or not.
    bool gives_null() const { return (rank_call_.rank + what_.salt) % 2 == 0; }
    bool is_root() const { return rank_call_.rank == what_.root; }

    trefoil_status_t call() {
        const CollectiveTraits& row = traits_of(what_.collective);
        tool::CollectiveCall call{what_.collective, send_.data(), recv_.data(), role_.count,
                                  TREFOIL_INT64,    TREFOIL_SUM,  what_.root};
        const auto lists = [](const tool::RoleBlocks& blocks, bool gaps) {
            return tool::BlockLists{blocks.counts.empty() ? nullptr : blocks.counts.data(),
                                    gaps ? blocks.displacements.data() : nullptr};
        };
        call.sent = lists(role_.sent, what_.gap > 0);
        call.received = lists(role_.received, what_.gap > 0);
        if (role_.send_in_place) {
            call.send = TREFOIL_IN_PLACE;
            call.sent = row.reduces ? call.sent : tool::BlockLists{};
        } else if (!row.in.held_by(rank_call_.rank, rank_call_.root) && gives_null()) {
            call.send = nullptr;
        }
        if (role_.receive_in_place) {
            call.recv = TREFOIL_IN_PLACE;
        } else if (!row.out.held_by(rank_call_.rank, rank_call_.root) && gives_null()) {
            call.recv = nullptr;
        }
        return call_collective(comm_, call);
    }

    std::int64_t* address(const RoleRange& range) {
        return (range.buffer == Buffer::send ? send_ : recv_).data() + range.first;
    }

    /// Element i of a range. Where vectors are reduced rank r's is r + 1 times the first one's.
    std::int64_t expected(const RoleRange& range, std::size_t i) const {
        if (range.content == Content::untouched) {
            return untouched;
        }
        const std::int64_t value =
            static_cast<std::int64_t>(i) * 131 + range.block * 7919 + what_.salt;
        const CollectiveTraits& row = traits_of(what_.collective);
        const std::int64_t ranks = row.contributors(rank_call_.rank, rank_call_.ranks);
        return !row.reduces                      ? value
               : range.content == Content::input ? value * (rank_call_.rank + 1)
                                                 : value * (ranks * (ranks + 1) / 2);
    }

    std::string difference(const RoleRange& range, std::size_t i) {
        constexpr const char* names[] = {"input", "result", "untouched"};
        return std::string(range.buffer == Buffer::send ? "send" : "receive") + " buffer, " +
               names[static_cast<std::size_t>(range.content)] + " block " +
               std::to_string(range.block) + ": element " + std::to_string(i) + " is " +
               std::to_string(address(range)[i]) + ", not " + std::to_string(expected(range, i));
    }

    trefoil_comm_t comm_;
    const CollectiveCase& what_;
    RankCall rank_call_;
    Role role_;
    Guarded send_, recv_;
};

}  // namespace

std::string check_collective(trefoil_comm_t comm, const CollectiveCase& what) {
    return Checker(comm, what).run();
}

std::string describe(const CollectiveCase& what) {
    std::string text = std::string(to_string(what.collective)) + " by " + what.algorithm +
                       ", count " + std::to_string(what.count) + ", root " +
                       std::to_string(what.root) + (what.in_place ? ", in place" : "");
    for (const std::size_t n : what.counts) {
        text += " " + std::to_string(n);
    }
    return text + (what.gap > 0 ? ", with gaps" : "");
}

}  // namespace trefoil::test
