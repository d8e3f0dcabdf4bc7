// SPDX-License-Identifier: BSD-3-Clause
// The timeline of a rank: what its workers did and when, kept in rings of fixed size and written as
// trace events for Perfetto and chrome://tracing in the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Nanoseconds of CLOCK_MONOTONIC: one clock for all processes of a host. Never 0.
inline std::int64_t trace_clock() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

/// Something that took from `begin` to `end`. What a kind has no use for stays zero.
struct TraceEvent {
    enum class Kind : std::uint8_t {
        prepare,  ///< a plan was made; text
        call,     ///< text
        wait,     ///< nothing to do, asleep or polling
        put,      ///< posting it, what is gathered for it included; peer, port, bytes, message
        arrival,  ///< taking it in, with all that it sets off; peer, port, message
        copy,     ///< bytes
        reduce,   ///< bytes of the result
        joint,    ///< the same, of two inputs in one pass
        pull,     ///< reading a peer's vector by the kernel; peer, bytes
        segment,  ///< from start to completion
        step      ///< from when its puts may leave until all is done
    };
    Kind kind = Kind::call;
    std::uint8_t lane = 0;  ///< of segments in flight: which of the places it has
    std::int16_t port = 0;  ///< the own port
    Rank peer = 0;
    std::int64_t begin = 0, end = 0;
    std::size_t bytes = 0;
    const char* text = nullptr;  ///< kept by Trace
    std::uint64_t segment = 0;   ///< running number, alike on all ranks
    std::uint32_t of = 0;        ///< of which calls the segment is: alike on all ranks
    std::uint32_t part = 0, step = 0;
    std::uint32_t message = 0;  ///< its number on its channel in the segment
};
static_assert(sizeof(TraceEvent) == 64, "a cache line, as users are told");

/// The events of one worker; when it is full, a new one takes the place of the oldest. Not
/// thread-safe.
class TraceRing {
  public:
    explicit TraceRing(std::size_t capacity) : events_(capacity) {}

    void add(const TraceEvent& event) noexcept {
        events_[next_] = event;
        next_ = next_ + 1 == events_.size() ? 0 : next_ + 1;
        ++added_;
    }
    std::size_t kept() const { return added_ < events_.size() ? added_ : events_.size(); }
    std::uint64_t dropped() const { return added_ - kept(); }
    /// Those that are kept, in no particular order.
    const TraceEvent& operator[](std::size_t i) const { return events_[i]; }

  private:
    std::vector<TraceEvent> events_;
    std::size_t next_ = 0;
    std::uint64_t added_ = 0;
};

/// Where a rank's trace goes: `pattern` with its %r replaced by the rank, or, if there is none,
/// with the rank before the extension: "out.json" -> "out.3.json".
std::string trace_file(const std::string& pattern, Rank rank);

/// What a trace is made with.
struct TraceOptions {
    std::string pattern;  ///< see trace_file()
    std::size_t events = 0;
    Rank rank = 0;
    std::string host;
    std::vector<std::string> workers;  ///< their names: a ring each
};

/// All rings of one rank. A worker's ring belongs to whoever drives the worker; plans have a ring
/// of their own, since any thread may make one while workers run.
class Trace {
  public:
    /// Takes the memory and makes the file. A process's second trace of the same name gets a
    /// number: "out.3-2.json". Throws Error(invalid_argument) when the file cannot be written.
    explicit Trace(TraceOptions options);

    TraceRing& ring(std::size_t worker) { return rings_[worker]; }
    const std::string& file() const { return file_; }
    /// The plan of the call `text` was made from `begin` until now. Returns the same text, for as
    /// long as the trace lives. Thread-safe; may allocate.
    const char* add_plan(const std::string& text, std::int64_t begin);
    std::uint64_t dropped() const;
    /// An array of events, one in a line, so that files can be joined. Returns whether all of it is
    /// in the file.
    bool write() const;

  private:
    TraceOptions options_;
    std::string file_;
    std::vector<TraceRing> rings_;  // of the workers; the last one is for plans
    std::mutex mutex_;              // of the ring for plans and their texts
    std::set<std::string> texts_;
};

}  // namespace trefoil
