// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in a drawn call: its buffers, the call of the C interface, and what has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/reliability/calls/draw.hpp"
#include "trefoil/requests.h"

namespace trefoil::calls {

/// A communicator, and what calls need to know of it.
struct Group {
    trefoil_comm_t comm = nullptr;
    std::string name;
    int rank = 0, ranks = 1, ports = 0;
    std::vector<int> neighbours;  ///< in the order of trefoil.h

    Group(trefoil_comm_t made, std::string called);
};

/// What each Operation that is created is to the library.
using CreatedOperations = std::vector<trefoil_op_t>;

constexpr std::size_t guard = 64;  ///< bytes around each buffer

/// Elements in one of the buffers.
struct Piece {
    bool received = false;  ///< in the receive buffer
    std::size_t first = 0, count = 0;
    std::uint64_t source = 0;  ///< whose elements these are: a rank, or a pair of ranks
    std::size_t offset = 0;    ///< of the first one in what the source has
    int ranks = 0;             ///< above 0: reduced over so many ranks
};

struct Blocks {
    std::vector<std::size_t> counts, displacements;
};

class OwnCall {
  public:
    OwnCall(const Group& group, const Call& call, const CreatedOperations& created);
    OwnCall(const OwnCall&) = delete;
    OwnCall& operator=(const OwnCall&) = delete;

    /// Other values, for the next start of a persistent call.
    void fill(std::uint64_t salt);
    /// Makes, begins or prepares the call, by its form.
    trefoil_status_t make();
    trefoil_request_t request = TREFOIL_REQUEST_NULL;

    struct Outcome {
        std::uint64_t hash = 0;  ///< of all bytes that are defined
        std::string wrong;       ///< "": nothing that can be seen here
        bool checked = false;    ///< the values are known
    };
    /// After the call has ended so. `flip` changes a bit first.
    Outcome outcome(trefoil_status_t status, bool flip);

    const Call& call() const { return call_; }
    const Group& group() const { return group_; }
    std::size_t count() const { return count_; }

  private:
    using Bytes = std::vector<std::byte>;

    std::size_t block_count(std::uint64_t block) const;
    void lay_out();
    void lay_out_neighbours();
    void lay_out_rooted();
    Blocks place(const std::vector<std::uint64_t>& blocks, bool received, bool with_gaps,
                 std::vector<Piece>& pieces);

    std::byte* at(const Piece& piece, Bytes& send, Bytes& recv) const;
    bool is_root() const { return group_.rank == root_; }
    std::uint64_t me() const { return static_cast<std::uint64_t>(group_.rank); }
    std::vector<std::uint64_t> one_of_each_rank() const;

    const Group& group_;
    Call call_;
    const CreatedOperations& created_;
    Traits traits_;
    std::size_t bytes_;  ///< of an element
    std::size_t count_ = 0;
    int root_ = 0;
    std::vector<Piece> in_, out_;
    Blocks sent_, received_;
    std::size_t send_count_ = 0, recv_count_ = 0;  ///< elements of the buffers
    std::uint64_t counts_salt_;
    /// Elements of the receive buffer from here on may be anything.
    std::size_t undefined_from_ = std::numeric_limits<std::size_t>::max();
    bool send_in_place_ = false, recv_in_place_ = false;
    Bytes send_, recv_, send_before_, recv_before_;
};

}  // namespace trefoil::calls
