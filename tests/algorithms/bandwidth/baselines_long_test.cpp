// SPDX-License-Identifier: BSD-3-Clause
// The known figures of the baselines on large tori.
#include <gtest/gtest.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil::baselines_long_test {
namespace {

double deficiency(std::string_view name, const char* shape) {
    const Torus torus = Torus::parse(shape);
    const CostSummary cost = summarize(torus, find_algorithm(Collective::allreduce, name));
    return torus.dimensions() * cost.sum_link_load;
}

TEST(BruckBLong, HasTheKnownDeficiency) {
    EXPECT_NEAR(deficiency("bruck-b", "81x81"), 3.885, 5e-4);
    EXPECT_NEAR(deficiency("bruck-b", "27x27x27"), 3.222, 5e-4);
    EXPECT_NEAR(deficiency("bruck-b", "9x9x9x9"), 3.000, 5e-4);
}

}  // namespace
}  // namespace trefoil::baselines_long_test
