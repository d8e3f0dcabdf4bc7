// SPDX-License-Identifier: BSD-3-Clause
// Which of a rank's read guards are in use, and by agreement with other ranks whose they become.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "backend/ports/read_guard.hpp"

namespace trefoil {

/// A communicator whose ranks read each other's vectors needs a guard at the same place on all of
/// them. So each of its ranks offers some places that are free here, and all take the lowest that
/// everybody has offered. What is offered is offered to nobody else meanwhile.
///
/// Thread-safe.
class ReadPlaces {
  public:
    /// Ends with the offer, but for the place that was taken of it.
    class Offer {
      public:
        /// A bit for each place.
        std::uint64_t bits() const { return bits_; }
        /// `by_all`: what all ranks have offered, this one included. None: it is nothing.
        std::optional<int> take(std::uint64_t by_all) {
            if ((by_all & bits_) == 0) {
                return {};
            }
            const int place = std::countr_zero(by_all & bits_);
            bits_ &= ~(std::uint64_t{1} << place);
            return place;
        }

        Offer(Offer&& other) noexcept
            : places_(other.places_), bits_(std::exchange(other.bits_, 0)) {}
        Offer& operator=(Offer&&) = delete;
        ~Offer() { places_.taken_.fetch_and(~bits_, std::memory_order_relaxed); }

      private:
        friend class ReadPlaces;
        Offer(ReadPlaces& places, std::uint64_t bits) : places_(places), bits_(bits) {}

        ReadPlaces& places_;
        std::uint64_t bits_;
    };

    /// Nothing is free before: ranks cannot read each other's memory. Place 0 is the first
    /// communicator's.
    void open() noexcept { taken_.store(1, std::memory_order_relaxed); }

    /// Some are left for communicators that other threads make at the same time.
    Offer offer() {
        constexpr int most_offered = 16;
        std::uint64_t taken = taken_.load(std::memory_order_relaxed), bits = 0;
        do {
            bits = 0;
            for (int place = 0; place < read_guards && std::popcount(bits) < most_offered;
                 ++place) {
                bits |= ~taken & std::uint64_t{1} << place;
            }
        } while (!taken_.compare_exchange_weak(taken, taken | bits, std::memory_order_relaxed));
        return {*this, bits};
    }
    void give_back(int place) noexcept {
        taken_.fetch_and(~(std::uint64_t{1} << place), std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> taken_{~std::uint64_t{0}};
};

}  // namespace trefoil
