// SPDX-License-Identifier: BSD-3-Clause
// One test per algorithm of the table: proved on a list of shapes, with the traits it claims.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "algorithms/analysis/verify.hpp"

namespace trefoil {

/// What the runtime relies on: the most that any rank receives from one peer through one port.
inline double largest_landing(const Torus& torus, const Algorithm& algorithm,
                              const BuildOptions& options = {}) {
    double largest = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = algorithm.build(torus, r, options);
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

/// The roots for which an algorithm is proved: first, second, middle and last.
inline std::set<Rank> proof_roots(const Torus& torus, const Algorithm& algorithm) {
    if (!traits_of(algorithm.collective).rooted()) {
        return {0};
    }
    const Rank p = torus.ranks();
    return {0, std::min(1, p - 1), p / 2, p - 1};
}

/// All that can be asked of an algorithm, from each root.
inline std::vector<BuildOptions> proof_options(const Torus& torus, const Algorithm& algorithm) {
    using enum Layout;
    std::vector<BuildOptions> all;
    for (const Rank root : proof_roots(torus, algorithm)) {
        for (const bool single_port : {false, true}) {
            for (const Layout layout :
                 {automatic, block_by_block, permute, send, two_transmissions}) {
                all.push_back({.root = root, .layout = layout, .single_port = single_port});
            }
        }
    }
    std::erase_if(all, [&](const BuildOptions& o) { return !algorithm.refusal(torus, o).empty(); });
    return all;
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
            for (const BuildOptions& options : proof_options(torus, algorithm)) {
                prove(torus, algorithm, options);
            }
        }
    }

  private:
    static void prove(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
        SCOPED_TRACE("root " + std::to_string(options.root) + ", layout " +
                     std::string(to_string(options.layout)) +
                     (options.single_port ? ", single-port" : ""));
        const Verification proof = verify(torus, algorithm, options);
        ASSERT_TRUE(proof.ok()) << proof.errors[0];
        if (algorithm.traits.identical_results) {
            EXPECT_TRUE(proof.identical_results);
        }
        if (algorithm.traits.order_preserving && traits_of(algorithm.collective).reduces) {
            EXPECT_TRUE(proof.order_preserving);
        }
        EXPECT_LE(largest_landing(torus, algorithm, options),
                  algorithm.landing_vectors(torus, options) * (1 + 1e-9));
    }
};

/// So that test output names the algorithm.
inline void PrintTo(const Algorithm& algorithm, std::ostream* out) {
    *out << algorithm.name;
}

inline std::string algorithm_name(const testing::TestParamInfo<Algorithm>& info) {
    std::string name(to_string(info.param.collective));
    name += "_" + std::string(info.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

}  // namespace trefoil
