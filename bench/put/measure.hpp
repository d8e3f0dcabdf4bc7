// SPDX-License-Identifier: BSD-3-Clause
// Times and checks puts of one size: round trips for the latency, a stream for the bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/put/link.hpp"

namespace trefoil::tool {

struct PutCase {
    std::size_t bytes = 0;
    int iterations = 1, warmup = 0;  ///< per repetition
    int repetitions = 1;
    std::size_t window = 1;  ///< puts under way in a stream, each to a place of its own
    PutInto into = PutInto::landing;

    /// From one place to the next: whole cache lines.
    std::size_t stride() const { return (bytes + 63) / 64 * 64; }
    std::size_t memory() const { return window * stride(); }
};

/// Complete on rank 0; on rank 1 only `what` means anything.
struct PutFigures {
    PutCase what;
    /// Microseconds, half of a round trip: over all round trips of all repetitions.
    double p50 = 0, p99 = 0, min = 0, mean = 0;
    std::vector<double> bandwidths;  ///< bytes per second of each repetition, ascending
    std::uint64_t wrong = 0;         ///< messages with wrong bytes, of both ranks

    double bandwidth() const { return bandwidths[bandwidths.size() / 2]; }
};

/// Both ranks call with the same cases in the same order.
///
/// Every message ends in its number (8 bytes, or as many as it has), and its receiver compares them
/// during the timed runs, too: whoever announces bytes that are not there is caught, and a put is
/// worth its time only once the bytes can be read. With `check`, further messages, which are not
/// timed, are compared whole.
class PutMeter {
  public:
    PutMeter(PutLink& link, bool check) : link_(link), check_(check) {}

    /// Throws what the link throws.
    PutFigures measure(const PutCase& what);

  private:
    using Clock = std::chrono::steady_clock;

    /// How a run of messages is written and compared.
    enum class Content { stamped, whole };

    void write(std::size_t at, const PutCase& what, Content content);
    void compare(std::size_t at, const PutCase& what, Content content);
    std::uint64_t notification() const { return number_ & 0x7fffffff; }
    void require_order(std::uint64_t notification) const;
    void round_trips(const PutCase& what, int count, Content content,
                     std::vector<Clock::time_point>* starts);
    void stream(const PutCase& what, int count, Content content);
    void send_stream(const PutCase& what, int count, Content content);
    void receive_stream(const PutCase& what, int count, Content content);

    PutLink& link_;
    bool check_;
    std::uint64_t number_ = 0;  ///< of the last message, alike on both ranks
    std::uint64_t wrong_ = 0;
};

}  // namespace trefoil::tool
