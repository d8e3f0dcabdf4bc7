// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading the small binary blobs that ranks tell each other at set-up.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "topo/error.hpp"

namespace trefoil {

class BlobWriter {
  public:
    template <typename T>
    void number(T value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view value) {
        number(static_cast<std::uint64_t>(value.size()));
        bytes_.append(value);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

/// Throws Error(mismatch) when the blob ends too early: the ranks run different versions.
class BlobReader {
  public:
    explicit BlobReader(std::string_view bytes) : rest_(bytes) {}

    template <typename T>
    T number() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string text() { return std::string(view()); }
    /// The same, without a copy.
    std::string_view view() { return take(number<std::uint64_t>()); }
    bool empty() const { return rest_.empty(); }

  private:
    std::string_view take(std::uint64_t count) {
        if (count > rest_.size()) {
            throw Error(Status::mismatch,
                        "a rank sent less set-up data than expected; do all ranks run the same "
                        "version of Trefoil?");
        }
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    std::string_view rest_;
};

}  // namespace trefoil
