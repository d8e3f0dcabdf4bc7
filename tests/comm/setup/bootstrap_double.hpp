// SPDX-License-Identifier: BSD-3-Clause
// An out-of-band allgather without other processes: every rank says what this one says, unless the
// test speaks for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"

namespace trefoil::test {

class BootstrapDouble final : public Bootstrap {
  public:
    /// What `rank` says when this rank says `mine`.
    using Speaker = std::function<std::string(Rank rank, const std::string& mine)>;

    BootstrapDouble(Rank rank, Rank ranks, Speaker speaker = {})
        : rank_(rank), ranks_(ranks), speaker_(std::move(speaker)) {}

    Rank rank() const override { return rank_; }
    Rank ranks() const override { return ranks_; }
    std::vector<std::string> allgather(std::string_view mine) override {
        ++allgathers;
        std::vector<std::string> all(ranks_, std::string(mine));
        for (Rank r = 0; speaker_ && r < ranks_; ++r) {
            all[r] = r == rank_ ? all[r] : speaker_(r, all[r]);
        }
        return all;
    }
    int allgathers = 0;

  private:
    Rank rank_, ranks_;
    Speaker speaker_;
};

}  // namespace trefoil::test
