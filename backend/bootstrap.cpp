// SPDX-License-Identifier: BSD-3-Clause
// Bootstraps that need no network of their own: one rank alone, and the caller's callback.
#include "backend/bootstrap.hpp"

#include "topo/error.hpp"

namespace trefoil {

namespace {
class SingleBootstrap final : public Bootstrap {
  public:
    Rank rank() const override { return 0; }
    Rank ranks() const override { return 1; }
    std::vector<std::string> allgather(std::string_view mine) override {
        return {std::string(mine)};
    }
};
}  // namespace

std::unique_ptr<Bootstrap> make_single_bootstrap() {
    return std::make_unique<SingleBootstrap>();
}

}  // namespace trefoil
