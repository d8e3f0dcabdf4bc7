// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_LEARN: the first calls of a kind try algorithms in turns. Which ones, how long they take,
// and which is kept.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "comm/plan/chooser.hpp"

namespace trefoil {

/// The calls of one kind: of one collective, whose vectors have as many bits in their number of
/// bytes. Those of the first one's size take part.
class Trial {
  public:
    /// `names`: not empty, what `auto` takes first.
    Trial(const TuningRule& calls, std::size_t bytes, std::vector<std::string> names)
        : calls_(calls), bytes_(bytes), names_(std::move(names)), seconds_(names_.size()) {
        reserve();
    }

    bool is_for(std::size_t bytes) const { return !over_ && bytes == bytes_; }
    /// Whose turn the next call is.
    const std::string& name() const { return names_[turn_]; }
    Collective collective() const { return calls_.collective; }
    /// The call has taken so long on this rank. True: that was the last one.
    bool note(double seconds) noexcept;
    /// The library has refused it; all ranks alike.
    void drop();

    /// This rank's medians, by name; of what was dropped, a number that is larger than all times.
    std::vector<double> medians() const;
    /// What is kept, and words for the log.
    struct Verdict {
        TuningRule rule;
        std::string text;
    };
    /// `slowest`: the largest of all ranks' medians.
    Verdict decide(const std::vector<double>& slowest) const;

  private:
    /// For all times that note() takes.
    void reserve();

    TuningRule calls_;
    std::size_t bytes_;
    std::vector<std::string> names_;
    std::vector<std::vector<double>> seconds_;  ///< by name; of a turn's calls but the first
    std::size_t turn_ = 0;
    int calls_in_turn_ = 0, rounds_ = 0;
    bool over_ = false;
};

/// Those of a communicator. Pure: alike on all ranks, which make the same calls.
class Learner {
  public:
    /// `chooser` outlives this. `access`: for single copy.
    Learner(const Chooser& chooser, const PeerAccess& access)
        : chooser_(chooser), access_(access) {}

    /// The trial that a blocking call takes part in; null: none.
    Trial* trial_of(const Request& request);

  private:
    using Kind = std::tuple<Collective, bool, int>;  ///< bits in any order; bits of the size
    std::vector<std::string> names_for(const Request& request) const;

    const Chooser& chooser_;
    PeerAccess access_;
    std::map<Kind, Trial> trials_;
};

}  // namespace trefoil
