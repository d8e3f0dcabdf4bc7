// SPDX-License-Identifier: BSD-3-Clause
// An array that one thread makes longer while others use what is in it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>

namespace trefoil {

/// What is in it stays where it is: it grows by chunks, each as large as all before it. An index
/// below size(), or one that came with a release of another kind, may be used by any thread; who
/// changes an element is between its users. One thread at a time appends.
template <typename T>
class GrowingArray {
  public:
    GrowingArray() = default;
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
        const std::size_t number = chunk_number(i);
        if (owned_[number] == nullptr) {
            owned_[number] = std::make_unique<T[]>(number == 0 ? first_chunk : first_of(number));
            chunks_[number].store(owned_[number].get(), std::memory_order_release);
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
    static constexpr std::size_t first_chunk = 16;
    static constexpr std::size_t most_chunks = 32;

    /// 0 for the first 16, 1 for the next 16, 2 for the next 32, ...
    static std::size_t chunk_number(std::size_t i) noexcept {
        return static_cast<std::size_t>(std::bit_width(i / first_chunk));
    }
    static std::size_t first_of(std::size_t number) noexcept {
        return number == 0 ? 0 : first_chunk << (number - 1);
    }
    T* place(std::size_t i) const noexcept {
        if (i < first_chunk) {
            return chunks_[0].load(std::memory_order_acquire) + i;
        }
        const std::size_t number = chunk_number(i);
        return chunks_[number].load(std::memory_order_acquire) + (i - first_of(number));
    }

    std::array<std::atomic<T*>, most_chunks> chunks_{};
    std::array<std::unique_ptr<T[]>, most_chunks> owned_{};
    std::atomic<std::size_t> size_{0};
};

}  // namespace trefoil
