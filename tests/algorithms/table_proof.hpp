// SPDX-License-Identifier: BSD-3-Clause
// One test per algorithm of the table: proved on a list of shapes, with the traits it claims.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "algorithms/verify.hpp"

namespace trefoil {

/// What the runtime relies on: the most that any rank receives from one peer through one port.
inline double largest_landing(const Torus& torus, const Algorithm& algorithm) {
    double largest = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = algorithm.build(torus, r);
        std::map<std::pair<Rank, Port>, double> received;
        for (const Part& part : schedule.parts) {
            const double block =
                1.0 / (static_cast<double>(schedule.parts.size()) * part.vector_blocks);
            for (const Step& step : schedule.of(part)) {
                for (const Receive& receive : schedule.receives_of(step)) {
                    const auto applications = schedule.applications_of(receive);
                    if (!applications.empty()) {
                        const auto blocks = block_count(schedule.extents_of(applications[0]));
                        received[{receive.peer, receive.port}] +=
                            block * static_cast<double>(blocks);
                    }
                }
            }
        }
        for (const auto& [from, vectors] : received) {
            largest = std::max(largest, vectors);
        }
    }
    return largest;
}

class TableProof : public testing::TestWithParam<Algorithm> {
  protected:
    void prove(const std::vector<std::string>& shapes) {
        const Algorithm& algorithm = GetParam();
        for (const std::string& shape : shapes) {
            SCOPED_TRACE(std::string(algorithm.name) + " on " + shape);
            const Torus torus = Torus::parse(shape);
            if (!algorithm.refusal(torus).empty()) {
                continue;
            }
            const Verification proof = verify(torus, algorithm);
            ASSERT_TRUE(proof.ok()) << proof.errors[0];
            if (algorithm.traits.identical_results) {
                EXPECT_TRUE(proof.identical_results);
            }
            EXPECT_LE(largest_landing(torus, algorithm),
                      algorithm.landing_vectors(torus) * (1 + 1e-9));
        }
    }
};

/// So that test output names the algorithm.
inline void PrintTo(const Algorithm& algorithm, std::ostream* out) {
    *out << algorithm.name;
}

inline std::string algorithm_name(const testing::TestParamInfo<Algorithm>& info) {
    std::string name(info.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

}  // namespace trefoil
