// SPDX-License-Identifier: BSD-3-Clause
// All collectives with arguments that are right, and all mistakes that can be made with them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trefoil/trefoil.h"

namespace trefoil::test {

constexpr std::size_t count = 4;  ///< of a vector or a block
constexpr int default_root = 1;
constexpr std::int32_t untouched = 77;

/// All that a collective can be given; those that it does not have are ignored.
struct Arguments {
    const void* send = nullptr;
    void* recv = nullptr;
    std::size_t count = test::count, own_count = test::count;
    const std::size_t* counts = nullptr;
    const std::size_t* displacements = nullptr;
    const std::size_t* send_counts = nullptr;  ///< of alltoallv
    const std::size_t* send_displacements = nullptr;
    trefoil_datatype_t type = TREFOIL_INT32;
    trefoil_op_t op = TREFOIL_SUM;
    int root = 0;
    trefoil_comm_t comm = nullptr;
};

/// Who reads `send` and who writes `recv`.
enum class By { nobody, all, the_root, all_but_first };

struct Kind {
    const char* name;
    By sends, receives;
    bool reduces, rooted, counted, displaced;
    std::function<trefoil_status_t(const Arguments&)> call;
};

/// Every collective but the barrier, which has no arguments.
const std::vector<Kind>& kinds();

/// The arguments of one rank, right at first, with the memory behind them.
struct Caller {
    Caller(const Kind& its_kind, int number, int of, trefoil_comm_t comm)
        : kind(its_kind),
          rank(number),
          ranks(of),
          send(count * of, 1),
          recv(count * of, untouched),
          counts(of, count),
          displacements(of),
          send_counts(of, count),
          send_displacements(of) {
        for (int r = 0; r < of; ++r) {
            displacements[r] = send_displacements[r] = r * count;
        }
        a = {send.data(),
             recv.data(),
             count,
             count,
             counts.data(),
             displacements.data(),
             send_counts.data(),
             send_displacements.data(),
             TREFOIL_INT32,
             TREFOIL_SUM,
             default_root % of,
             comm};
    }
    bool uses(By who) const {
        return who == By::all || (who == By::the_root && rank == a.root) ||
               (who == By::all_but_first && rank > 0);
    }
    bool sends() const { return uses(kind.sends); }
    bool receives() const { return uses(kind.receives); }

    const Kind& kind;
    int rank, ranks;
    std::vector<std::int32_t> send, recv;
    std::vector<std::size_t> counts, displacements, send_counts, send_displacements;
    Arguments a;
};

struct Mistake {
    const char* name;
    /// Makes it; false: this rank of this collective cannot make it.
    std::function<bool(Caller&)> make;
    std::vector<std::string> says;
    trefoil_status_t status = TREFOIL_ERROR_INVALID_ARGUMENT;
};

/// Every mistake, with the words that its message must have.
std::vector<Mistake> mistakes();

/// What a rank sends another is known to these two alone.
bool is_alltoallv(const Kind& kind);

/// Its one buffer is in the place of the receive buffer.
bool is_bcast(const Caller& r);

}  // namespace trefoil::test
