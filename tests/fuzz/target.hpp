// SPDX-License-Identifier: BSD-3-Clause
// What the fuzz targets share: how they refuse, and how they complain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "topo/error.hpp"

/// The head of the target fuzz_NAME, which gets any bytes: `size` of them, from `data` on. A
/// finding is whatever ends the process: a sanitizer's report, an exception that is no
/// trefoil::Error, require().
#define FUZZ_TARGET(name)                                                   \
    extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size); \
    extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size)

namespace trefoil::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "fuzz: %s\n", what);
        std::abort();
    }
}

/// Runs `work`. True: it threw an Error, which must say something.
template <typename Work>
bool refuses(Work&& work) {
    try {
        work();
        return false;
    } catch (const Error& error) {
        require(error.status() != Status::success, "an error without a status");
        require(!std::string_view(error.what()).empty(), "an error without words");
        return true;
    }
}

/// Takes the input apart, byte by byte.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(text_of(data, size)) {}

    bool empty() const { return rest_.empty(); }
    std::uint8_t byte() {
        const std::string_view one = text(1);
        return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
    }
    std::string_view text(std::size_t most) {
        const std::string_view front = rest_.substr(0, most);
        rest_.remove_prefix(front.size());
        return front;
    }
    std::string_view rest() { return text(rest_.size()); }

  private:
    std::string_view rest_;
};

}  // namespace trefoil::fuzz
