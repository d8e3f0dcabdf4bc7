// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the reader of tuning files.
#include "comm/setup/tuning.hpp"
#include "tests/fuzz/target.hpp"

FUZZ_TARGET(tuning) {
    using namespace trefoil;
    fuzz::refuses([&] {
        const TuningFile file = parse_tuning_file(fuzz::text_of(data, size), "file");
        for (const TuningEntry& entry : file.entries) {
            fuzz::require(file.find(entry.key) == &entry, "two entries for the same jobs");
            for (const TuningRule& rule : entry.rules) {
                fuzz::require(!rule.bytes.is_reversed(), "a range that is reversed");
                fuzz::require(
                    rule.algorithm->refusal(Torus::parse(entry.key.torus), rule.options).empty(),
                    "an algorithm that does not run");
            }
        }
    });
    return 0;
}
