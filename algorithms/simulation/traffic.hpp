// SPDX-License-Identifier: BSD-3-Clause
// What the ranks' schedules send, in one flat table: all that a simulator needs of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/simulation/network.hpp"
#include "topo/symmetry.hpp"

namespace trefoil {

/// One message. `share` is its part of the vector: sizes are real numbers, never rounded.
struct TrafficMessage {
    double share = 0;
    Rank to = 0;
    std::uint8_t port = 0;
    bool gathered = false;  ///< from several places
};

/// What a rank does with its memory in a step of a part; shares of the vector.
struct TrafficWork {
    double copied_before = 0, reduced_before = 0;  ///< moves, before the messages leave
    double copied_after = 0, reduced_after = 0;    ///< what the messages that arrived are for
};

/// The translations that neither the algorithm's schedules nor the network notice; trivial when
/// `options` ask for anything but a root. Takes 4 bytes per rank unless it is trivial.
std::shared_ptr<const Symmetry> common_symmetry(const Network& network, const Algorithm& algorithm,
                                                const BuildOptions& options);

/// Of one rank of each class of a symmetry; ranks are counted by class here, but for the targets of
/// messages. Memory: 16 bytes per message, 12 per rank, part and step, and 32 with work.
class Traffic {
  public:
    struct Limits {
        std::size_t most_bytes = std::size_t{2} << 30;
        bool with_work = false;
    };
    /// Builds the schedules one after the other. Throws Error(unsupported) with the figures when
    /// the table would need more than `most_bytes`. A few of the ranks that the symmetry leaves out
    /// are compared with those that stand for them.
    Traffic(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
            const Limits& limits, std::shared_ptr<const Symmetry> symmetry);
    /// Of all ranks.
    Traffic(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
            std::size_t most_bytes);

    Rank classes() const { return symmetry_->classes(); }
    const Symmetry& symmetry() const { return *symmetry_; }
    std::size_t parts() const { return parts_; }
    std::size_t steps() const { return steps_; }
    /// Where (class, part, step) stands in lists of all of them.
    std::size_t place(Rank one, std::size_t part, std::size_t step) const {
        return (static_cast<std::size_t>(one) * parts_ + part) * steps_ + step;
    }
    std::size_t places() const { return receives_.size(); }
    std::span<const TrafficMessage> sends(std::size_t place) const {
        return std::span(messages_).subspan(starts_[place], starts_[place + 1] - starts_[place]);
    }
    /// The number of the place's first message among all of them.
    std::size_t first_message(std::size_t place) const { return starts_[place]; }
    std::uint32_t receives(std::size_t place) const { return receives_[place]; }
    /// Only where work was asked for.
    const TrafficWork& work(std::size_t place) const { return work_[place]; }
    /// A message of a class as the network sees it: from its representative.
    Journey journey(Rank one, const TrafficMessage& message) const {
        return {symmetry_->representative(one), message.to, Port{message.port}, steered_};
    }

  private:
    void add(const Schedule& schedule);
    double block_share(const Part& part) const;
    TrafficWork work_of(const Schedule& schedule, const Part& part, const Step& step) const;
    void compare(const Torus& torus, const Algorithm& algorithm, const Schedule& schedule) const;

    std::shared_ptr<const Symmetry> symmetry_;
    std::size_t parts_ = 0, steps_ = 0;
    const CollectiveTraits& row_;
    bool steered_ = false, with_work_ = false;
    std::vector<TrafficMessage> messages_;
    std::vector<std::size_t> starts_;  ///< by place, and the end
    std::vector<std::uint32_t> receives_;
    std::vector<TrafficWork> work_;
};

}  // namespace trefoil
