// SPDX-License-Identifier: BSD-3-Clause
// The times of trials, and who wins.
#include "mpi/tuning.hpp"

#include <algorithm>

namespace trefoil::mpi {

void Trials::note(Kind kind, std::size_t bytes, std::uint64_t number, bool trefoils,
                  std::chrono::nanoseconds took) {
    has_run_trefoil_ = has_run_trefoil_ || trefoils;
    const std::uint64_t length = block(kind, bytes);
    if (number % length < length / 4) {
        return;  // behind the other's calls
    }
    auto& samples = cells_[place_of(kind, bytes)].samples;
    if (samples == nullptr) {
        samples = std::make_unique<Both>();
    }
    Samples& own = (*samples)[trefoils ? trefoil : mpi];
    Samples::Block* present = &own.latest[(own.blocks + Samples::kept - 1) % Samples::kept];
    if (own.blocks == 0 || present->number != number / length) {
        present = &own.latest[own.blocks++ % Samples::kept];
        *present = {.number = number / length};
    }
    present->nanoseconds += static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 1));
    ++present->calls;
    ++own.calls;
}

// A mean of all would tell more of the time slices that other programs took.
std::uint64_t Trials::Samples::median() const {
    if (blocks < warm_up + least) {
        return 0;
    }
    std::array<std::uint64_t, kept> times{};
    const std::size_t first = blocks <= kept ? warm_up : 0;
    const std::size_t count = std::min(blocks, kept) - first;
    for (std::size_t i = 0; i < count; ++i) {
        const Block& one = latest[first + i];
        times[i] = std::max<std::uint64_t>(one.nanoseconds / one.calls, 1);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(times.begin(), middle, times.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
}

bool Trials::is_due(std::uint64_t number, std::uint64_t early) {
    if (number < due_) {
        return false;
    }
    constexpr std::uint64_t fewest = 64;  // both have had a few blocks of the shortest kind
    due_ = 2 * std::bit_floor(number);
    if (number >= early + fewest) {
        due_ = std::min(due_, early + 2 * std::bit_floor(number - early));
    } else {
        due_ = std::min(due_, early + fewest);
    }
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
        const std::size_t weight =
            is_for_all_sizes(i) ? (*samples)[trefoil].calls + (*samples)[mpi].calls : 1;
        times[2 * decision_on(i) + trefoil] += weight * by_trefoil;
        times[2 * decision_on(i) + mpi] += weight * by_mpi;
    }
}

void Trials::decide(std::span<const std::uint64_t, 2 * cells> times) {
    for (std::size_t i = 0; i < cells; ++i) {
        const std::uint64_t by_trefoil = times[2 * decision_on(i) + trefoil];
        const std::uint64_t by_mpi = times[2 * decision_on(i) + mpi];
        if (by_trefoil != 0 && by_mpi != 0) {
            // MPI keeps what is about as fast: a trial does not see all that a call costs on its
            // way to Trefoil.
            const bool gains = by_trefoil + by_trefoil / 16 <= by_mpi;
            cells_[i].state = gains ? State::trefoil_wins : State::mpi_wins;
            cells_[i].samples = nullptr;
        }
    }
}

}  // namespace trefoil::mpi
