// SPDX-License-Identifier: BSD-3-Clause
// From schedules to a table of messages.
#include "algorithms/simulation/traffic.hpp"

#include <cmath>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

std::string mebibytes(double bytes) {
    return std::to_string(std::llround(std::ceil(bytes / (1 << 20)))) + " MiB";
}

}  // namespace

Traffic::Traffic(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                 std::size_t most_bytes)
    : ranks_(torus.ranks()), steered_(algorithm.traits.steered) {
    for (Rank r = 0; r < ranks_; ++r) {
        const Schedule schedule = algorithm.build(torus, r, options);
        if (r == 0) {
            parts_ = schedule.parts.size();
            steps_ = schedule.parts.front().steps.count;
            const double ranks = ranks_;
            const double needed =
                ranks * (static_cast<double>(schedule.sends.size() * sizeof(TrafficMessage)) +
                         static_cast<double>(parts_ * steps_ * 12));
            if (needed > static_cast<double>(most_bytes)) {
                throw Error(Status::unsupported,
                            "the messages of " + std::string(algorithm.name) + " on " +
                                torus.name() + " need about " + mebibytes(needed) +
                                " of memory, and " + mebibytes(static_cast<double>(most_bytes)) +
                                " are allowed; take the step model, a smaller torus, or --memory");
            }
            receives_.reserve(static_cast<std::size_t>(ranks_) * parts_ * steps_);
            starts_.reserve(receives_.capacity() + 1);
            messages_.reserve(schedule.sends.size() * static_cast<std::size_t>(ranks_));
        }
        add(schedule, algorithm.collective == Collective::alltoall);
    }
    starts_.push_back(messages_.size());
}

void Traffic::add(const Schedule& schedule, bool alltoall) {
    for (const Part& part : schedule.parts) {
        const double blocks = static_cast<double>(part.vector_blocks) / (alltoall ? 2 : 1);
        const double block = 1 / blocks / static_cast<double>(parts_);
        for (const Step& step : schedule.of(part)) {
            starts_.push_back(messages_.size());
            receives_.push_back(step.receives.count);
            for (const Send& send : schedule.sends_of(step)) {
                messages_.push_back(
                    {send.peer, send.port,
                     block * static_cast<double>(block_count(schedule.extents_of(send)))});
            }
        }
    }
}

}  // namespace trefoil
