// SPDX-License-Identifier: BSD-3-Clause
// Round trips and streams of puts.
#include "bench/put/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "bench/common/percentile.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr std::byte poison{0xa5};

/// The bytes of message `number`: no two neighbours alike, and another row for each number.
std::byte pattern(std::uint64_t number, std::size_t i) {
    const std::uint64_t mixed = (i / 8 + number * 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
    return static_cast<std::byte>((mixed >> (i % 8 * 8)) + i);
}

}  // namespace

void PutMeter::write(std::size_t at, const PutCase& what, Content content) {
    std::byte* message = link_.outbox() + at;
    if (content == Content::whole) {
        for (std::size_t i = 0; i < what.bytes; ++i) {
            message[i] = pattern(number_, i);
        }
        return;
    }
    const std::size_t stamp = std::min(what.bytes, sizeof number_);
    std::memcpy(message + what.bytes - stamp, &number_, stamp);
}

void PutMeter::compare(std::size_t at, const PutCase& what, Content content) {
    std::byte* message = link_.received(at, what.bytes);
    if (content == Content::whole) {
        bool right = true;
        for (std::size_t i = 0; i < what.bytes; ++i) {
            right = right && message[i] == pattern(number_, i);
            message[i] = poison;
        }
        wrong_ += right ? 0 : 1;
        return;
    }
    const std::size_t stamp = std::min(what.bytes, sizeof number_);
    wrong_ += std::memcmp(message + what.bytes - stamp, &number_, stamp) == 0 ? 0 : 1;
}

/// One port keeps the order; without it, a place could be written again before it was read.
void PutMeter::require_order(std::uint64_t received) const {
    if (received != notification()) {
        throw Error(Status::internal, fmt::format("message {} came where {} was due, through {}",
                                                  received, notification(), link_.port_text()));
    }
}

/// `starts` gets the time after each put of rank 0, when the message is on its way already: reading
/// the clock costs nothing then.
void PutMeter::round_trips(const PutCase& what, int count, Content content,
                           std::vector<Clock::time_point>* starts) {
    const bool first = link_.rank() == 0;
    for (int i = 0; i < count; ++i) {
        ++number_;
        if (first) {
            write(0, what, content);
            link_.put(0, what.bytes, notification());
            if (starts != nullptr) {
                starts->push_back(Clock::now());
            }
        }
        require_order(link_.await());
        compare(0, what, content);
        if (!first) {
            write(0, what, content);
            link_.put(0, what.bytes, notification());
        }
    }
}

void PutMeter::stream(const PutCase& what, int count, Content content) {
    if (link_.rank() == 0) {
        send_stream(what, count, content);
    } else {
        receive_stream(what, count, content);
    }
}

/// Ends when the receiver has acknowledged the last message.
void PutMeter::send_stream(const PutCase& what, int count, Content content) {
    const auto all = static_cast<std::size_t>(count);
    std::size_t acknowledged = 0;
    const auto take_answer = [&] {
        std::uint64_t answer = 0;
        while (link_.next(answer)) {
            acknowledged = std::max<std::size_t>(acknowledged, answer);
        }
    };
    for (std::size_t i = 0; i < all; ++i) {
        if (i - acknowledged >= what.window) {
            acknowledged = link_.await();
            take_answer();
        }
        ++number_;
        const std::size_t at = i % what.window * what.stride();
        write(at, what, content);
        link_.put(at, what.bytes, notification());
    }
    while (acknowledged < all) {
        acknowledged = link_.await();
    }
}

/// Half a window at a time is acknowledged, so that the sender need not stop.
void PutMeter::receive_stream(const PutCase& what, int count, Content content) {
    const auto all = static_cast<std::size_t>(count);
    const std::size_t batch = std::max<std::size_t>(1, what.window / 2);
    for (std::size_t i = 0; i < all; ++i) {
        ++number_;
        require_order(link_.await());
        compare(i % what.window * what.stride(), what, content);
        if ((i + 1) % batch == 0 || i + 1 == all) {
            link_.put(0, 0, static_cast<std::uint32_t>(i + 1));
        }
    }
}

PutFigures PutMeter::measure(const PutCase& what) {
    PutFigures figures;
    figures.what = what;
    wrong_ = 0;
    link_.put_into(what.into);
    if (check_) {
        round_trips(what, 4, Content::whole, nullptr);
        stream(what, static_cast<int>(2 * what.window) + 1, Content::whole);
    }
    std::vector<double> halves;
    std::vector<Clock::time_point> starts;
    starts.reserve(static_cast<std::size_t>(what.iterations) + 1);
    for (int r = 0; r < what.repetitions; ++r) {
        round_trips(what, what.warmup, Content::stamped, nullptr);
        starts.clear();
        round_trips(what, what.iterations + 1, Content::stamped, &starts);
        for (std::size_t i = 1; i < starts.size(); ++i) {
            halves.push_back(std::chrono::duration<double>(starts[i] - starts[i - 1]).count() / 2);
        }
        stream(what, what.warmup, Content::stamped);
        link_.exchange(0);
        const auto start = Clock::now();
        stream(what, what.iterations, Content::stamped);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        figures.bandwidths.push_back(static_cast<double>(what.bytes) * what.iterations / seconds);
    }
    figures.wrong = wrong_ + link_.exchange(wrong_);
    if (halves.empty()) {
        return figures;  // rank 1
    }
    std::sort(figures.bandwidths.begin(), figures.bandwidths.end());
    std::sort(halves.begin(), halves.end());
    figures.p50 = percentile(halves, 0.50) * 1e6;
    figures.p99 = percentile(halves, 0.99) * 1e6;
    figures.min = halves.front() * 1e6;
    figures.mean = std::accumulate(halves.begin(), halves.end(), 0.0) /
                   static_cast<double>(halves.size()) * 1e6;
    return figures;
}

}  // namespace trefoil::tool
