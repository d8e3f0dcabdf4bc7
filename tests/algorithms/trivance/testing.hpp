// SPDX-License-Identifier: BSD-3-Clause
// What Trivance's tests share: builders as table entries, proofs, and the steps that are due.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/trivance/builders.hpp"
#include "algorithms/trivance/runs.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil::testing_trivance {

template <auto build>
Algorithm trivance() {
    Algorithm algorithm;
    algorithm.name = "trivance";
    algorithm.shape_refusal = table::every_torus;
    if constexpr (std::is_invocable_v<decltype(build), const Torus&, Rank>) {
        algorithm.builder = table::without_options<build>;
    } else {
        algorithm.builder = build;
    }
    return algorithm;
}

inline int due_steps(const Torus& torus) {
    int steps = 0;
    for (const Rank size : torus.sizes()) {
        steps += trivance_steps(size);
    }
    return steps;
}

inline std::vector<std::string> tori() {
    return {"2x2", "2x3", "3x3", "2x4", "3x4",   "4x4",   "3x5",   "5x5", "2x6", "4x8",   "8x2",
            "3x9", "1x1", "1x3", "3x1", "2x2x2", "3x3x3", "2x3x4", "6x6", "8x8", "2x1x2", "5x2"};
}

/// The verifier's proof, and the number of steps.
inline void prove_steps(const Algorithm& algorithm, const std::vector<std::string>& shapes,
                        bool identical, int phases) {
    for (const std::string& shape : shapes) {
        SCOPED_TRACE(shape);
        const Torus torus = Torus::parse(shape);
        const Verification proof = verify(torus, algorithm);
        ASSERT_TRUE(proof.ok()) << proof.errors[0];
        if (identical) {
            EXPECT_TRUE(proof.identical_results);
        }
        EXPECT_EQ(summarize(torus, algorithm).steps, phases * due_steps(torus));
    }
}

}  // namespace trefoil::testing_trivance
