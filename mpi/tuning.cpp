// SPDX-License-Identifier: BSD-3-Clause
// The times of trials, and who wins.
#include "mpi/tuning.hpp"

#include <algorithm>
#include <limits>

namespace trefoil::mpi {

void Trials::note(Kind kind, std::size_t bytes, bool trefoils, std::chrono::nanoseconds took) {
    auto& samples = cells_[place_of(kind, bytes)].samples;
    if (samples == nullptr) {
        samples = std::make_unique<Both>();
    }
    has_run_trefoil_ = has_run_trefoil_ || trefoils;
    Samples& own = (*samples)[trefoils ? trefoil : mpi];
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    own.nanoseconds[own.calls++ % Samples::kept] =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(took.count(), 1, most));
}

// A mean would tell more of the time slices that other programs took.
std::uint64_t Trials::Samples::median() const {
    if (calls < warm_up + least) {
        return 0;
    }
    std::array<std::uint32_t, kept> sorted = nanoseconds;
    const auto begin = sorted.begin() + (calls <= kept ? warm_up : 0);
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(calls, kept));
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end);
    return *middle;
}

bool Trials::is_due(std::uint64_t number) {
    if (number < due_) {
        return false;
    }
    due_ = 2 * std::bit_floor(number);
    return has_run_trefoil_;
}

void Trials::tell(std::span<std::uint64_t, 2 * cells> times) const {
    std::ranges::fill(times, 0);
    for (std::size_t i = 0; i < cells; ++i) {
        const Both* const samples = cells_[i].samples.get();
        if (samples == nullptr) {
            continue;
        }
        const std::uint64_t by_trefoil = (*samples)[trefoil].median();
        const std::uint64_t by_mpi = (*samples)[mpi].median();
        if (by_trefoil == 0 || by_mpi == 0) {
            continue;
        }
        const bool of_all_sizes = may_give_room(static_cast<Kind>(i / classes));
        const std::size_t place = of_all_sizes ? i / classes * classes : i;
        const std::size_t weight =
            of_all_sizes ? (*samples)[trefoil].calls + (*samples)[mpi].calls : 1;
        times[2 * place + trefoil] += weight * by_trefoil;
        times[2 * place + mpi] += weight * by_mpi;
    }
}

void Trials::decide(std::span<const std::uint64_t, 2 * cells> times) {
    for (std::size_t i = 0; i < cells; ++i) {
        const bool of_all_sizes = may_give_room(static_cast<Kind>(i / classes));
        const std::size_t place = of_all_sizes ? i / classes * classes : i;
        const std::uint64_t by_trefoil = times[2 * place + trefoil],
                            by_mpi = times[2 * place + mpi];
        if (by_trefoil != 0 && by_mpi != 0) {
            cells_[i].state = by_trefoil <= by_mpi ? State::trefoil_wins : State::mpi_wins;
            cells_[i].samples = nullptr;
        }
    }
}

}  // namespace trefoil::mpi
