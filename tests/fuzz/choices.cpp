// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes algorithms with modifiers, as users name them.
#include "comm/plan/choices.hpp"

#include <string>

#include "tests/fuzz/target.hpp"

FUZZ_TARGET(choices) {
    using namespace trefoil;
    fuzz::Input input(data, size);
    const auto collective = static_cast<Collective>(input.byte() % collective_count);
    const std::string text(input.rest());
    fuzz::refuses([&] {
        const Choice choice = parse_choice(collective, text);
        fuzz::require(parse_choice(collective, to_string(choice)) == choice,
                      "its own name is another choice");
    });
    for (const char* const torus : {"3x3", "2x4", "7", "1"}) {
        fuzz::refuses([&] {
            const Choice choice = parse_choice(collective, text, Torus::parse(torus));
            fuzz::require(
                choice.algorithm == nullptr || refusal(choice, Torus::parse(torus)).empty(),
                "a choice that does not run");
        });
    }
    fuzz::refuses([&] {
        for (const AlgorithmRule& rule : split_choices(text)) {
            fuzz::require(!rule.bytes.is_reversed(), "a range that is reversed");
            fuzz::refuses([&] { (void)parse_choice(rule.collective, rule.algorithm); });
        }
    });
    return 0;
}
