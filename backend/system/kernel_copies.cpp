// SPDX-License-Identifier: BSD-3-Clause
// A race between process_vm_readv and memcpy.
#include "backend/system/kernel_copies.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace trefoil {

namespace {

constexpr std::size_t copied_bytes = std::size_t{256} << 10;
constexpr int most_turns = 64;
constexpr int turns_without_gain = 8;
constexpr double most_ratio = 2.5;

enum class Verdict : std::uint8_t { none, fast, slow };
std::atomic<Verdict> verdict{Verdict::none};

template <typename Copy>
std::chrono::nanoseconds time_of(Copy&& copy) {
    const auto begin = std::chrono::steady_clock::now();
    copy();
    return std::chrono::steady_clock::now() - begin;
}

bool win_race() {
    std::vector<std::byte> from(copied_bytes, std::byte{1}), to(copied_bytes);
    iovec there{from.data(), from.size()}, here{to.data(), to.size()};
    const auto kernel = [&]() -> std::optional<std::chrono::nanoseconds> {
        ssize_t copied = 0;
        const auto took =
            time_of([&] { copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0); });
        return copied == static_cast<ssize_t>(copied_bytes) ? std::optional(took) : std::nullopt;
    };
    std::size_t turn = 0;
    const auto processor = [&] {
        const auto took = time_of([&] { std::memcpy(to.data(), from.data(), to.size()); });
        from[turn++ % copied_bytes] = to.back();  // so that no copy can be left out
        return std::optional(took);
    };
    return kernel_keeps_up(kernel, processor);
}

}  // namespace

bool kernel_keeps_up(const TimedCopy& kernel, const TimedCopy& processor) {
    auto by_kernel = std::chrono::nanoseconds::max(), by_processor = by_kernel;
    for (int turn = 0, last_gain = 0; turn < most_turns && turn - last_gain <= turns_without_gain;
         ++turn) {
        const auto first = kernel();
        const auto second = first ? processor() : std::nullopt;
        if (!second) {
            return false;
        }
        if (*first < by_kernel || *second < by_processor) {
            last_gain = turn;
        }
        by_kernel = std::min(by_kernel, *first);
        by_processor = std::min(by_processor, *second);
    }
    return static_cast<double>(by_kernel.count()) <=
           most_ratio * static_cast<double>(by_processor.count());
}

std::optional<bool> kernel_copies_known() {
    const Verdict known = verdict.load(std::memory_order_relaxed);
    return known == Verdict::none ? std::nullopt : std::optional(known == Verdict::fast);
}

bool kernel_copies_are_fast() {
    static const bool fast = [] {
        const bool won = win_race();
        verdict.store(won ? Verdict::fast : Verdict::slow, std::memory_order_relaxed);
        return won;
    }();
    return fast;
}

}  // namespace trefoil
