// SPDX-License-Identifier: BSD-3-Clause
// Circuits port by port: they carry their step, and circuits that do not are found out.
#include "algorithms/rewiring/port_circuits.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry/registry.hpp"
#include "algorithms/rewiring/rewiring.hpp"

namespace trefoil {
namespace {

std::vector<PortCircuit> all_circuits(const Torus& torus, const Rewiring& rewiring, std::size_t g,
                                      const WiringLimits& limits) {
    std::vector<PortCircuit> all;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const auto one = port_circuits(torus, j, rewiring.wiring(g, j), limits);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

TEST(PortCircuits, carry_a_step_exactly_where_its_cost_is_finite) {
    for (const char* shape : {"8", "9", "11", "16", "4x6", "3x3x3"}) {
        const Torus torus = Torus::parse(shape);
        for (const char* name : {"swing", "trivance", "recursive-halving", "bine", "bucket"}) {
            for (const bool single : {false, true}) {
                for (const bool paired : {false, true}) {
                    const Algorithm& algorithm = find_algorithm(Collective::reduce_scatter, name);
                    BuildOptions build;
                    build.single_port = single && algorithm.abilities.single_port;
                    const WiringLimits limits{paired};
                    const Rewiring rewiring(torus, algorithm, build,
                                            {.candidates = Candidates::shifted, .limits = limits});
                    for (std::size_t g = 0; g < rewiring.wirings(); ++g) {
                        const auto circuits = all_circuits(torus, rewiring, g, limits);
                        for (std::size_t i = 0; i < rewiring.steps(); ++i) {
                            const std::string why =
                                circuits_refusal(torus, rewiring.step(i), circuits);
                            // Of messages across dimensions only shifted rings are priced.
                            EXPECT_TRUE(!rewiring.load(i, g).reaches() || why.empty()) << why;
                            if (rewiring.step(i).straight) {
                                EXPECT_EQ(rewiring.load(i, g).reaches(), why.empty())
                                    << name << " on " << shape << ", wiring " << g << ": " << why;
                            }
                        }
                    }
                }
            }
        }
    }
}

TEST(PortCircuits, that_do_not_carry_a_step_are_found_out) {
    const Torus torus({8});
    const Rewiring rewiring(torus, find_algorithm(Collective::reduce_scatter, "swing"), {}, {});
    const StepLegs& step = rewiring.step(0);
    const auto good = port_circuits(torus, 0, {}, {});
    ASSERT_EQ(16U, good.size());
    EXPECT_EQ("", circuits_refusal(torus, step, good));

    auto missing = good;
    std::erase_if(missing, [](const PortCircuit& c) { return c.to == 3; });
    EXPECT_EQ("step 0: there is no way from rank 2 to rank 3",
              circuits_refusal(torus, step, missing));
    auto twice = good;
    twice[1].out = twice[0].out;
    EXPECT_EQ("port +0 of rank 0 sends into two circuits", circuits_refusal(torus, step, twice));
    auto met = good;
    met[2].to = met[0].to;
    met[2].in = met[0].in;
    EXPECT_EQ("port -0 of rank 1 receives from two circuits", circuits_refusal(torus, step, met));

    const Torus flat({2, 4});
    const PortCircuit across{0, Port::plus(0), 5, Port::minus(0)};
    EXPECT_EQ("the circuit from port +0 of rank 0 to port -0 of rank 5 leaves its row",
              circuits_refusal(flat, StepLegs{.legs = {{}, {}}}, {across}));
}

}  // namespace
}  // namespace trefoil
