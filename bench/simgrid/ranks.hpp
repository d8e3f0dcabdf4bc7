// SPDX-License-Identifier: BSD-3-Clause
// Ranks that go on when they have what they need, and messages as actors of SimGrid.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/simgrid/job.hpp"
#include "bench/simgrid/platform.hpp"

namespace trefoil::simgrid_engine {

/// A rank opens step 0 of every part at once, and step s + 1 of a part when all messages to it of
/// step s have arrived (with step_sync: of step s of all parts, then all parts together). A message
/// is an actor: it sleeps for its delay, sends over all its ways, and has arrived when all are
/// done.
class Ranks {
  public:
    /// Simulated times and bytes are `scale` times the real ones, so that bytes can be whole
    /// numbers and short times are no rounding errors.
    static constexpr double scale = 1 << 20;

    Ranks(const Job& job, const Platform& platform, double vector_bytes);

    /// Opens the first steps; the engine runs after that.
    void begin();
    /// Seconds, real ones, until the last message had arrived.
    double last() const { return last_; }
    /// Messages that nobody has sent, since somebody waits for ever: 0 after a proper run.
    std::size_t left() const { return left_; }

  private:
    struct Place {
        std::vector<std::size_t> sends;
        std::size_t missing = 0;
        bool open = false;
    };
    Place& place(int rank, std::size_t part, std::size_t step) {
        return places_[(static_cast<std::size_t>(rank) * job_.parts + part) * job_.steps + step];
    }
    /// Messages, by their numbers.
    using Posted = std::vector<std::size_t>;
    void open(int rank, std::size_t part, std::size_t step, Posted& posted);
    void open_all(int rank, std::size_t step, Posted& posted);
    bool complete(int rank, std::size_t step);
    void post(Place& place, Posted& posted);
    /// To make an actor lets others run. So first all is noted that a message changes.
    void start(const Posted& posted);
    void travel(const Message& message);

    const Job& job_;
    const Platform& platform_;
    double vector_bytes_;
    std::vector<Place> places_;
    std::size_t left_;
    double last_ = 0;
};

}  // namespace trefoil::simgrid_engine
