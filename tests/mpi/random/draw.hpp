// SPDX-License-Identifier: BSD-3-Clause
// What random programs are made of: numbers that all ranks draw alike, and digests of results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "mpi/api.hpp"

namespace trefoil::mpi::test {

inline std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
    return bits ^ bits >> 31;
}

inline std::uint64_t hash_of(std::initializer_list<std::uint64_t> numbers) {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
    for (const std::uint64_t number : numbers) {
        hash = mixed(hash + number);
    }
    return hash;
}

class Draw {
  public:
    explicit Draw(std::uint64_t seed) : state_(mixed(seed)) {}
    std::uint64_t bits() { return mixed(state_ += 0x9e3779b97f4a7c15ULL); }
    int below(int end) { return static_cast<int>(bits() % static_cast<std::uint64_t>(end)); }
    int between(int first, int last) { return first + below(last - first + 1); }
    bool chance(int percent) { return below(100) < percent; }
    template <typename T>
    const T& of(const std::vector<T>& all) {
        return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    }
    template <typename T>
    void shuffle(std::vector<T>& all) {
        for (std::size_t i = all.size(); i > 1; --i) {
            std::swap(all[i - 1], all[static_cast<std::size_t>(below(static_cast<int>(i)))]);
        }
    }

  private:
    std::uint64_t state_;
};

/// Of all that a rank has seen, in order.
class Digest {
  public:
    void add(std::uint64_t number) { value_ = mixed(value_ * 31 + number + 1); }
    void add_bytes(const void* from, std::size_t bytes) {
        add(bytes);
        const auto* at = static_cast<const unsigned char*>(from);
        for (; bytes >= 8; bytes -= 8, at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, 8);
            add(word);
        }
        for (; bytes > 0; --bytes, ++at) {
            add(*at);
        }
    }
    /// MPI's class of what a call returned: codes are not alike with Trefoil and without.
    void add_code(int code) {
        int error_class = MPI_SUCCESS;
        if (code != MPI_SUCCESS) {
            PMPI_Error_class(code, &error_class);
        }
        add(static_cast<std::uint64_t>(error_class));
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0;
};

}  // namespace trefoil::mpi::test
