// SPDX-License-Identifier: BSD-3-Clause
// Agreement among the ranks: all go on or all throw, and nobody waits for a rank that cannot.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"

namespace trefoil {

/// Stages of set-up that all ranks go through together, each with an out-of-band allgather at its
/// end that tells how every rank fared. Invariant: a stage returns on all ranks or throws on all,
/// on each rank its own error if it has one, else the first rank's, which it names.
class Agreement {
  public:
    explicit Agreement(Bootstrap& bootstrap) : bootstrap_(bootstrap) {}

    /// What `work` returned, by rank. `stage` says in messages what is set up: "ports". Collective;
    /// whatever work throws, this rank takes part.
    std::vector<std::string> allgather(const std::string& stage,
                                       const std::function<std::string()>& work);
    void for_all(const std::string& stage, const std::function<void()>& work);
    /// Whether `work` returned true on every rank.
    bool all_say_yes(const std::string& stage, const std::function<bool()>& work);

    /// What has gone through the bootstrap so far, in bytes: what this rank told, and what all told
    /// each other, which each rank gets.
    struct Traffic {
        std::size_t allgathers = 0, told = 0, heard = 0;
    };
    const Traffic& traffic() const { return traffic_; }

  private:
    Bootstrap& bootstrap_;
    Traffic traffic_;
};

/// Throws Error(mismatch) when the texts, by rank, differ: "rank 3: X, but rank 0: Y".
void require_agreement(const std::vector<std::string>& texts, const std::string& about);

}  // namespace trefoil
