// SPDX-License-Identifier: BSD-3-Clause
// What libFuzzer calls: one of the targets, which FUZZED names.
#include <cstddef>
#include <cstdint>

extern "C" int FUZZED(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return FUZZED(data, size);
}
