// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading the small binary blobs that ranks tell each other at set-up.
#pragma once

#include <algorithm>
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
    void blame(const Blame& value) {
        number(value.culprit);
        number(value.evidence);
        number(value.finder);
        number(value.since);
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
    Blame blame() {
        Blame value(number<std::int32_t>());
        value.evidence = std::min(number<Evidence>(), last_evidence);
        value.finder = number<std::int32_t>();
        value.since = number<Blame::Time>();
        return value;
    }
    /// The same, without a copy.
    std::string_view view() { return take(number<std::uint64_t>()); }
    /// How many things follow, each of `least` bytes or more: never so many that room for them
    /// could not be made.
    template <typename T>
    std::size_t count(std::size_t least) {
        const T count = number<T>();
        require(count <= rest_.size() / least);
        return count;
    }
    bool empty() const { return rest_.empty(); }

  private:
    static void require(bool is_there) {
        if (!is_there) {
            throw Error(Status::mismatch,
                        "a rank sent less set-up data than expected; do all ranks run the same "
                        "version of Trefoil?");
        }
    }
    std::string_view take(std::uint64_t count) {
        require(count <= rest_.size());
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    std::string_view rest_;
};

}  // namespace trefoil
