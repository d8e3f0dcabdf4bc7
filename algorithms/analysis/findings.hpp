// SPDX-License-Identifier: BSD-3-Clause
// What a proof has found to be wrong. Internal to the verifier.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// The errors found so far, up to a handful.
class Findings {
  public:
    bool enough() const { return errors_.size() >= 16; }
    bool none() const { return errors_.empty(); }
    void add(std::string error);
    void add(std::size_t part, std::size_t step, Rank rank, const std::string& text);
    std::vector<std::string> take() { return std::move(errors_); }

  private:
    std::vector<std::string> errors_;
};

}  // namespace trefoil
