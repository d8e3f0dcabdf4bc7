// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes tori as users write them: "3x3", "2d".
#include "topo/torus.hpp"

#include <string>

#include "comm/setup/torus_map.hpp"
#include "tests/fuzz/target.hpp"

FUZZ_TARGET(torus) {
    using namespace trefoil;
    fuzz::Input input(data, size);
    const Rank ranks = 1 + input.byte();
    const std::string text(input.rest());
    fuzz::refuses([&] {
        const Torus torus = Torus::parse(text);
        fuzz::require(Torus::parse(torus.name()) == torus, "a name of another torus");
        fuzz::require(torus.ranks() >= 1, "a torus without ranks");
        const Rank last = torus.ranks() - 1;
        fuzz::require(torus.rank(torus.coordinates(last)) == last, "coordinates of another rank");
    });
    fuzz::refuses([&] {
        const TorusMap map = make_torus_map({"the fuzzer", text, {}}, ranks);
        fuzz::require(map.torus.ranks() == ranks, "a torus of another size");
    });
    return 0;
}
