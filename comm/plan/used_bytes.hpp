// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of its buffers a rank reads and writes in a call.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "comm/plan/request.hpp"

namespace trefoil {

/// Bytes that lie side by side.
struct ByteRange {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;

    const std::byte* end() const { return begin + bytes; }
};

/// Of one buffer; what lies side by side is one range. Gaps between blocks are not in it. Nothing
/// is allocated for the first range: few buffers have more.
class ByteRanges {
  public:
    std::size_t size() const { return first_.bytes == 0 ? 0 : 1 + more_.size(); }
    bool empty() const { return size() == 0; }
    const ByteRange& operator[](std::size_t i) const { return i == 0 ? first_ : more_[i - 1]; }
    /// From the first byte to the last one.
    ByteRange hull() const;

    void clear() {
        first_ = {};
        more_.clear();
    }
    /// No bytes: nothing changes.
    void add(const std::byte* begin, std::size_t bytes);

  private:
    ByteRange first_;
    std::vector<ByteRange> more_;
};

/// What a call uses on one rank.
struct UsedBytes {
    ByteRanges reads, writes;
    std::string_view name;  ///< of the collective

    /// `send` and `recv` as Communicator::run() takes them: null where the rank has none.
    void set(const Request& request, const Torus& torus, Rank rank, const void* send,
             const void* recv);
};

/// The first bytes that are in both; none: 0 bytes.
ByteRange first_overlap(const ByteRanges& one, const ByteRanges& other);

}  // namespace trefoil
