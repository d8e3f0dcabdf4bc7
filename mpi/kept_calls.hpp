// SPDX-License-Identifier: BSD-3-Clause
// The latest calls that were left to MPI. A call like one of them goes there without another look.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "mpi/api.hpp"
#include "mpi/collective_kind.hpp"
#include "mpi/form.hpp"

namespace trefoil::mpi {

/// What decides who runs a call on a communicator, or on all of so many `ranks`: its arguments but
/// the communicator, which comes last: numbers, handles, and whether an address is MPI_IN_PLACE. A
/// handle counts as itself, so calls with handles that the program may free, and get again for
/// something else, must not be kept.
struct CallMark {
    static constexpr std::size_t words = 8;
    std::array<std::uint64_t, words> values;
    /// Word by word, so that what is compared need not be in memory.
    [[gnu::always_inline]] constexpr bool operator==(const CallMark& other) const {
        return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
            return (((values[I] ^ other.values[I]) | ...)) == 0;
        }
        (std::make_index_sequence<words>());
    }
};

/// Counts, displacements or types for each rank, which a mark does not hold.
template <typename Argument>
inline constexpr bool is_list =
    std::is_pointer_v<Argument> && !std::is_void_v<std::remove_pointer_t<Argument>> &&
    !std::is_class_v<std::remove_pointer_t<Argument>>;

/// Among neighbours the bytes of a call depend on the communicator, too.
template <Kind K, typename... Arguments>
inline constexpr bool has_mark = !is_among_neighbours(K) && !(is_list<Arguments> || ...);

template <Kind K, typename... Arguments>
[[gnu::always_inline]] inline CallMark mark_of(Way way, std::size_t ranks, Arguments... arguments) {
    static_assert(has_mark<K, Arguments...> &&
                  1 + (!std::is_void_v<std::remove_pointer_t<Arguments>> + ...) <= CallMark::words);
    CallMark mark{};
    std::uint64_t& first = mark.values[0];
    first = index(K) * ways + static_cast<std::size_t>(way);
    mark.values[1] = ranks;
    std::size_t place = 2, left = sizeof...(Arguments);
    unsigned bit = 16;
    const auto add = [&](auto argument) {
        using Argument = decltype(argument);
        if (--left == 0) {
            return;
        }
        if constexpr (std::is_void_v<std::remove_pointer_t<Argument>>) {
            first |= std::uint64_t{argument == MPI_IN_PLACE} << bit++;
        } else if constexpr (std::is_pointer_v<Argument>) {
            mark.values[place++] = number_of(argument);
        } else {
            mark.values[place++] = static_cast<std::uint64_t>(argument);
        }
    };
    (add(arguments), ...);
    return mark;
}

/// All zeros: none.
class KeptCalls {
  public:
    /// The `number`-th call, counted from 1 on, is MPI's.
    [[gnu::always_inline]] bool has(const CallMark& mark, std::uint64_t number) const {
        const Entry& entry = entries_[place_of(mark)];
        return number <= entry.until && entry.mark == mark;
    }
    void keep(const CallMark& mark, std::uint64_t until) {
        entries_[place_of(mark)] = {mark, until};
    }

  private:
    struct Entry {
        CallMark mark;
        std::uint64_t until;
    };
    static std::size_t place_of(const CallMark& mark) {
        const auto& v = mark.values;
        const std::uint64_t mixed = v[0] + 3 * v[2] + 5 * (v[3] / 16) + 7 * (v[4] / 16);
        return static_cast<std::size_t>(mixed ^ mixed >> 6) % places;
    }
    static constexpr std::size_t places = 8;
    std::array<Entry, places> entries_;
};

/// What is known of a communicator's calls. All zeros: there was none.
struct CallRecord {
    std::uint64_t number;  ///< of the present call of the program's, whoever runs it
    /// Up to this number calls that block are MPI's, as the ranks could not afford a set-up.
    std::uint64_t refused;
    /// Of the call that blocks in which ranks agree on trials next.
    std::uint64_t next_agreement;
    KeptCalls kept;
};

/// A thread keeps calls that are MPI's on every communicator of so many ranks, by their arguments.
class KeptByArguments {
  public:
    static bool has(const CallMark& mark, std::uint64_t number) { return here.has(mark, number); }
    static void keep(const CallMark& mark, std::uint64_t until) { here.keep(mark, until); }

  private:
    static constinit thread_local KeptCalls here;
};

}  // namespace trefoil::mpi
