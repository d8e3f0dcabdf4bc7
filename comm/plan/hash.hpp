// SPDX-License-Identifier: BSD-3-Clause
// Hashes of plan keys and of calls in words.
#pragma once

#include <cstdint>
#include <string_view>

namespace trefoil {

inline std::uint64_t mix_hash(std::uint64_t h, std::uint64_t value) {
    h ^= value + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    h *= 0xbf58476d1ce4e5b9ULL;
    return h ^ h >> 29;
}

inline std::uint64_t text_hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (const char c : text) {
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return mix_hash(h, text.size());
}

}  // namespace trefoil
