// SPDX-License-Identifier: BSD-3-Clause
// From schedules to legs.
#include "algorithms/rewiring/step_legs.hpp"

#include <algorithm>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

class Collector {
  public:
    Collector(const Torus& torus, const Algorithm& algorithm, Tie tie)
        : torus_(torus),
          steered_(algorithm.traits.steered),
          // What goes out and what comes in are blocks of their own in alltoall.
          vectors_(algorithm.collective == Collective::alltoall ? 2 : 1),
          tie_(tie) {}

    void add(const Schedule& schedule) {
        for (const Part& part : schedule.parts) {
            const double block =
                vectors_ / part.vector_blocks / static_cast<double>(schedule.parts.size());
            std::size_t number = 0;
            for (const Step& step : schedule.of(part)) {
                while (steps_.size() <= number) {
                    steps_.push_back({.step = static_cast<int>(steps_.size()),
                                      .legs = std::vector<std::vector<Leg>>(torus_.dimensions())});
                }
                for (const Send& send : schedule.sends_of(step)) {
                    const auto blocks = block_count(schedule.extents_of(send));
                    message(steps_[number], schedule.rank, send,
                            block * static_cast<double>(blocks));
                }
                ++number;
            }
        }
    }

    std::vector<StepLegs> take() {
        std::erase_if(steps_, [](const StepLegs& s) {
            return std::ranges::all_of(s.legs, &std::vector<Leg>::empty);
        });
        return std::move(steps_);
    }

  private:
    void message(StepLegs& step, Rank from, const Send& send, double share) {
        std::vector<Rank> displacement(torus_.dimensions());
        Rank here = from;
        int crossed = 0;
        for (int j = 0; j < torus_.dimensions(); ++j) {
            const Rank target = torus_.coordinate(send.peer, j);
            const Rank apart = target - torus_.coordinate(here, j);
            if (apart == 0) {
                continue;
            }
            const Rank next = torus_.with_coordinate(here, j, target);
            const bool own = send.port.dimension() == j;
            step.legs[j].push_back({.from = here,
                                    .to = next,
                                    .port = own ? send.port : Port::plus(j),
                                    .share = share,
                                    .split = tie_ == Tie::both && !(steered_ && own)});
            displacement[j] = apart < 0 ? apart + torus_.size(j) : apart;
            here = next;
            ++crossed;
        }
        if (crossed < 2) {
            return;
        }
        if (step.straight) {
            step.straight = false;
            step.crossing_from = from;
            step.crossing_to = send.peer;
        }
        step.displacements.insert(std::move(displacement));
    }

    const Torus& torus_;
    bool steered_;
    double vectors_;  ///< in a part's vector blocks
    Tie tie_;
    std::vector<StepLegs> steps_;
};

}  // namespace

std::vector<StepLegs> legs_of(const Torus& torus, const Algorithm& algorithm,
                              const BuildOptions& options, Tie tie) {
    if (algorithm.traits.reads_peers) {
        throw Error(Status::unsupported,
                    std::string(algorithm.name) +
                        " reads its peers' memory instead of sending messages, so there is nothing "
                        "to wire; take another algorithm");
    }
    Collector collector(torus, algorithm, tie);
    for (Rank r = 0; r < torus.ranks(); ++r) {
        collector.add(algorithm.build(torus, r, options));
    }
    return collector.take();
}

}  // namespace trefoil
