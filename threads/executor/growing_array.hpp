// SPDX-License-Identifier: BSD-3-Clause
// An array that one thread makes longer while others use what is in it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>

namespace trefoil {

/// What is in it stays where it is: it grows by chunks, each as large as all before it. The first
/// is short, because most arrays of most communicators are, and quickly found. At most
/// `most_elements`, which whoever appends looks after. An index below size(), or one that came with
/// a release of another kind, may be used by any thread; who changes an element is between its
/// users. One thread at a time appends.
template <typename T>
class GrowingArray {
  public:
    static constexpr std::size_t first_chunk = 16;
    static constexpr std::size_t most_chunks = 16;
    static constexpr std::size_t most_elements = first_chunk << (most_chunks - 1);

    GrowingArray() = default;
    ~GrowingArray() {
        for (const std::atomic<T*>& chunk : chunks_) {
            delete[] chunk.load(std::memory_order_relaxed);
        }
    }
    GrowingArray(const GrowingArray&) = delete;
    GrowingArray& operator=(const GrowingArray&) = delete;

    /// The acquire pairs with emplace_back().
    std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
    bool empty() const noexcept { return size() == 0; }
    T& operator[](std::size_t i) noexcept { return *place(i); }
    const T& operator[](std::size_t i) const noexcept { return *place(i); }
    T& back() noexcept { return (*this)[size() - 1]; }

    /// Appends an element as its default constructor makes it; `fill(element)` before anybody sees
    /// it. Throws bad_alloc, and then nothing has changed.
    template <typename Fill>
    T& append(Fill&& fill) {
        const std::size_t i = size_.load(std::memory_order_relaxed);
        std::atomic<T*>& chunk = chunks_[chunk_number(i)];
        if (chunk.load(std::memory_order_relaxed) == nullptr) {
            // Whoever has an index below size() has also got the chunk.
            chunk.store(std::make_unique<T[]>(std::max(i, first_chunk)).release(),
                        std::memory_order_relaxed);
        }
        T& element = (*this)[i];
        fill(element);
        size_.store(i + 1, std::memory_order_release);
        return element;
    }

    template <typename Array, typename Element>
    class Iterator {
      public:
        Iterator(Array* array, std::size_t i) : array_(array), i_(i) {}
        Element& operator*() const { return (*array_)[i_]; }
        Iterator& operator++() {
            ++i_;
            return *this;
        }
        bool operator==(const Iterator& other) const { return i_ == other.i_; }
        bool operator!=(const Iterator& other) const { return i_ != other.i_; }

      private:
        Array* array_;
        std::size_t i_;
    };
    auto begin() { return Iterator<GrowingArray, T>(this, 0); }
    auto end() { return Iterator<GrowingArray, T>(this, size()); }
    auto begin() const { return Iterator<const GrowingArray, const T>(this, 0); }
    auto end() const { return Iterator<const GrowingArray, const T>(this, size()); }

  private:
    /// 0 for the first 16 elements, 1 for the next 16, 2 for the next 32, 3 for the next 64, ...
    static std::size_t chunk_number(std::size_t i) noexcept {
        return static_cast<std::size_t>(std::bit_width(i / first_chunk));
    }
    T* place(std::size_t i) const noexcept {
        if (i < first_chunk) [[likely]] {
            return chunks_[0].load(std::memory_order_relaxed) + i;
        }
        const std::size_t number = chunk_number(i);
        return chunks_[number].load(std::memory_order_relaxed) +
               (i - (first_chunk << (number - 1)));
    }

    std::array<std::atomic<T*>, most_chunks> chunks_{};
    std::atomic<std::size_t> size_{0};
};

}  // namespace trefoil
