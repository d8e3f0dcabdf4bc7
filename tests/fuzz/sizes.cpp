// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes sizes as users write them: "64K".
#include "topo/sizes.hpp"

#include <charconv>
#include <string>

#include "tests/fuzz/target.hpp"

FUZZ_TARGET(sizes) {
    using namespace trefoil;
    fuzz::Input input(data, size);
    const std::size_t most = std::size_t{1} << input.byte() % 64;
    const std::string text(input.rest());
    const auto bytes = parse_bytes(text, most);
    if (bytes) {
        fuzz::require(*bytes <= most, "a size above the largest");
        fuzz::require(parse_bytes(std::to_string(*bytes), most) == bytes, "another size");
        std::size_t digits = 0;
        std::from_chars(text.data(), text.data() + text.size(), digits);
        fuzz::require(*bytes == digits || (*bytes >> 10 >= digits && digits > 0),
                      "a unit that does not multiply");
    }
    return 0;
}
