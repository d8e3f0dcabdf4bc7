// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_MPI_TUNE: finds out, while a program runs, whether Trefoil or the MPI below is faster.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mpi/collective_kind.hpp"

namespace trefoil::mpi {

/// Which calls that block are tried out. Whether Trefoil or MPI runs a sum of floating-point
/// numbers changes its bits, and a measurement may end otherwise in the next run of a program: such
/// calls are `exact` only for whoever asks.
enum class Tuning : std::uint8_t { off, exact, all };

/// The trials of one communicator: while a collective's calls of one class of sizes are on trial,
/// Trefoil and MPI run them in turns; then all take Trefoil if it was a sixteenth faster. The ranks
/// of a communicator make the same calls, so the number of a call tells all of them whose turn it
/// is.
class Trials {
  public:
    /// Trefoil runs the communicator's `number`-th call.
    bool is_trefoils(Kind kind, std::size_t bytes, std::uint64_t number) const {
        const State state = cell(kind, bytes).state;
        return state == State::open ? is_turn_of_trefoil(number / block(kind, bytes))
                                    : state == State::trefoil_wins;
    }
    /// MPI has won for all sizes of a kind that does not go by them.
    bool are_lost(Kind kind) const {
        return cells_[place_of(kind, unknown_bytes)].state == State::mpi_wins;
    }
    bool is_open(Kind kind, std::size_t bytes) const {
        return cell(kind, bytes).state == State::open;
    }
    /// Of the `number`-th call, which is on trial.
    void note(Kind kind, std::size_t bytes, std::uint64_t number, bool trefoils,
              std::chrono::nanoseconds took);

    /// Before the `number`-th call the ranks are to agree: where the number, or how many calls
    /// there were since the `early` ones, which are all MPI's, is a power of two. So it is soon
    /// where calls are long and few, and soon after trials have begun, but hardly ever later. Not
    /// before Trefoil has run one.
    bool is_due(std::uint64_t number, std::uint64_t early);
    std::uint64_t next_agreement() const { return due_; }
    static constexpr std::size_t classes = 15, cells = kinds * classes;
    /// For each cell what a typical call took this rank, Trefoil's and then MPI's, in ns; 0: too
    /// few calls yet, or decided. For a kind that does not go by size, one cell is for all sizes,
    /// which count as often as they came.
    void tell(std::span<std::uint64_t, 2 * cells> times) const;
    /// `times` are the slowest rank's, since its peers wait for it: alike on all ranks.
    void decide(std::span<const std::uint64_t, 2 * cells> times);

  private:
    enum class State : std::uint8_t { open, trefoil_wins, mpi_wins };
    enum Carrier : std::uint8_t { trefoil, mpi, carriers };
    /// The latest blocks of one carrier. The first is not typical: plans are made in it.
    struct Samples {
        static constexpr std::size_t warm_up = 1, least = 2, kept = 16;
        struct Block {
            std::uint64_t number = 0, nanoseconds = 0, calls = 0;
        };
        std::array<Block, kept> latest{};
        std::size_t blocks = 0, calls = 0;
        /// Of a call, in ns.
        std::uint64_t median() const;
    };
    using Both = std::array<Samples, carriers>;
    struct Cell {
        State state = State::open;
        std::unique_ptr<Both> samples;
    };

    /// Calls take their turns in blocks, as one costs less behind its like: where no rank waits for
    /// the others, ranks run ahead. Long calls gain little by that, and are tried less often; so
    /// are those with lists, as each list that is new costs Trefoil a plan.
    static std::uint64_t block(Kind kind, std::size_t bytes) {
        if (has_lists(kind)) {
            return 8;
        }
        return goes_by_size(kind) && bytes >= 65536 && bytes != unknown_bytes ? 4 : 32;
    }
    /// In the order of Thue and Morse: each has as many, and no loop of a program keeps in step.
    static bool is_turn_of_trefoil(std::uint64_t block) { return std::popcount(block) % 2 != 0; }
    /// A class spans a factor of four.
    static std::size_t class_of(std::size_t bytes) {
        if (bytes == unknown_bytes) {
            return classes - 1;
        }
        const auto width = static_cast<std::size_t>(std::bit_width(bytes));
        return width < 2 * (classes - 2) ? (width + 1) / 2 : classes - 2;
    }
    static std::size_t place_of(Kind kind, std::size_t bytes) {
        return index(kind) * classes + class_of(bytes);
    }
    /// Where the decision on a cell's calls is kept: for kinds that do not go by size, one place is
    /// for all sizes.
    static bool is_for_all_sizes(std::size_t place) {
        return !goes_by_size(static_cast<Kind>(place / classes));
    }
    static std::size_t decision_on(std::size_t place) {
        return is_for_all_sizes(place) ? place / classes * classes : place;
    }
    const Cell& cell(Kind kind, std::size_t bytes) const { return cells_[place_of(kind, bytes)]; }

    std::array<Cell, cells> cells_{};
    std::uint64_t due_ = 16;
    bool has_run_trefoil_ = false;
};

}  // namespace trefoil::mpi
