// SPDX-License-Identifier: BSD-3-Clause
// Algorithms for one call against each other: in turns, checked, until it is clear which is the
// fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/perf/session.hpp"
#include "bench/perf/workload.hpp"

namespace trefoil::tool {

/// How one of them did.
struct Contender {
    std::string algorithm = {};  ///< as trefoil_comm_set_algorithm takes it
    /// Per call, of each round that it took part in; where it is in the final, of those alone.
    std::vector<double> seconds = {};
    double median = 0;
    bool took_part = true;  ///< false: the library refused it for this call
    bool in_final = true;   ///< false: it dropped out
};

struct ContestRules {
    int rounds = 7;
    double slice = 3e-3;  ///< seconds of calls in a round
    /// Who in its best round is so many times slower than the leader in its median drops out,
    /// after one round and after three.
    double slower_at_once = 2, slower_in_the_end = 1.25;
    /// Whoever leads after these rounds may have been lucky. Where somebody else is near, or the
    /// first one dropped out, they go through so many more, of so many slices each, which alone
    /// decide.
    std::size_t most_in_final = 3;
    int final_rounds = 9;
    double final_slices = 4;
};

/// One contest after the other; all ranks hold the same ones in the same order.
class Contests {
  public:
    Contests(Session& session, const ContestRules& rules)
        : session_(session), rules_(rules), patterns_(session.rank(), session.torus().ranks()) {}

    /// In the order of `algorithms`; equal on all ranks. The first one is in the final whenever
    /// there is one. Throws what the library reports.
    std::vector<Contender> hold(const Case& what, const std::vector<std::string>& algorithms);
    /// Elements that were wrong so far, over all ranks.
    std::int64_t wrong() const { return wrong_; }

  private:
    bool admit(Contender& one, Workload& workload);
    void hold_final(std::vector<Contender>& all, const std::vector<int>& calls, Workload& workload);
    void time(Contender& one, Workload& workload, int calls);

    Session& session_;
    ContestRules rules_;
    Patterns patterns_;
    std::uint64_t salt_ = 0;
    std::int64_t wrong_ = 0;
};

}  // namespace trefoil::tool
