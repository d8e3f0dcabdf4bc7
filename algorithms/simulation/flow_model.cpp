// SPDX-License-Identifier: BSD-3-Clause
// The flow model: events in the order of time, rates that change with each of them.
#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/simulation/flows.hpp"
#include "algorithms/simulation/models.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// What happens within this share of the time happens at once: sums of equal parts differ by less.
constexpr double same_time = 1e-12;

/// From 0 to 1, the same for the same numbers, without pattern (the mixer of SplitMix64).
double noise(std::uint64_t seed, std::uint64_t number) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15U + number;
    for (const std::uint64_t factor : {0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU}) {
        z = (z ^ z >> 29) * factor;
    }
    return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
}

/// A message of the schedule: its place (rank, part, step) and its number among all.
struct Posted {
    std::uint32_t rank = 0;  ///< by class
    std::uint32_t place = 0;
    std::uint64_t number = 0;
};

class Simulation {
  public:
    Simulation(const Network& network, const Traffic& traffic, double vector_bytes,
               const MessageCosts& costs, const FlowOptions& options, FlowObserver* observer)
        : network_(network),
          traffic_(traffic),
          bytes_(vector_bytes),
          costs_(costs),
          options_(options),
          observer_(observer),
          flows_(network, observer),
          missing_(traffic.places()),
          open_(static_cast<std::size_t>(traffic.classes()) * traffic.parts()),
          free_at_(costs.has_work() ? static_cast<std::size_t>(traffic.classes()) : 0) {
        for (std::size_t place = 0; place < missing_.size(); ++place) {
            missing_[place] = static_cast<std::int32_t>(
                traffic.receives(place) +
                (options.sends_complete ? traffic.sends(place).size() : 0));
        }
        if (has_ports()) {
            ports_.resize(static_cast<std::size_t>(traffic.classes() * network.torus().ports()));
        }
    }

    double run() {
        for (Rank r = 0; r < traffic_.classes(); ++r) {
            for (std::size_t p = 0; p < traffic_.parts() && traffic_.steps() > 0; ++p) {
                post(r, p);
            }
            advance(r);
        }
        serve_ports();
        while (true) {
            const double next =
                std::min(events_.empty() ? forever : events_.top().time, flows_.next_end());
            if (!(next < forever)) {
                break;
            }
            now_ = std::max(now_, next);
            end_messages();
            handle_events();
            take_in();
            serve_ports();
            flows_.share(now_);
        }
        require_all_done();
        return last_;
    }

  private:
    static constexpr double forever = 1e300;

    enum class Kind : std::uint8_t { ready, start, taken, worked };
    struct Event {
        double time;
        std::uint64_t order;  ///< of those at the same time
        Posted posted;        ///< of worked: rank, and the part instead of the place
        Kind kind;
        bool operator>(const Event& other) const {
            return time != other.time ? time > other.time : order > other.order;
        }
    };
    struct Open {  ///< step of a part
        std::uint32_t step = 0;
        bool applying = false;  ///< all has arrived
        bool complete = false;
    };
    struct UnderWay {
        Posted posted;
        double begin = 0;
    };
    struct PortState {
        int busy = 0;
        std::deque<Posted> waiting;
        double started = -forever, taken = -forever;  ///< the last message, with gaps
    };

    bool has_gaps() const { return options_.gap > 0; }
    bool has_ports() const { return options_.per_port > 0 || has_gaps(); }
    double gap(Port port) const {
        return network_.torus().is_host(port.dimension()) ? 0 : options_.gap;
    }

    std::size_t slot(Rank rank, std::size_t part) const {
        return static_cast<std::size_t>(rank) * traffic_.parts() + part;
    }
    double soon() const { return now_ * (1 + same_time); }
    const TrafficMessage& message(const Posted& posted) const {
        return traffic_.sends(posted.place)[posted.number - traffic_.first_message(posted.place)];
    }
    void add_event(double time, Kind kind, const Posted& posted) {
        events_.push({time, ++order_, posted, kind});
    }

    /// When the rank is through with this, too.
    double work(Rank rank, double seconds) {
        double& free_at = free_at_[static_cast<std::size_t>(rank)];
        free_at = std::max(free_at, now_) + seconds;
        return free_at;
    }

    /// The step that is open begins: its moves, then its messages.
    void post(Rank rank, std::size_t part) {
        const std::size_t place = traffic_.place(rank, part, open_[slot(rank, part)].step);
        double moved = now_;
        if (costs_.has_work()) {
            const TrafficWork& moves = traffic_.work(place);
            if (moves.copied_before > 0 || moves.reduced_before > 0) {
                moved = work(rank, costs_.copying(moves.copied_before * bytes_) +
                                       costs_.reducing(moves.reduced_before * bytes_));
            }
        }
        Posted posted{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(place),
                      traffic_.first_message(place)};
        for (const TrafficMessage& m : traffic_.sends(place)) {
            const double gathering = m.gathered ? costs_.copying(m.share * bytes_) : 0;
            const double ready = gathering > 0 ? work(rank, gathering) : moved;
            if (ready > now_) {
                add_event(ready, Kind::ready, posted);
            } else {
                enter_port(posted);
            }
            ++posted.number;
        }
    }

    PortState& port_at(Rank rank, Port port) {
        return ports_[static_cast<std::size_t>(rank * network_.torus().ports() + port.index)];
    }
    PortState& port_of(const Posted& posted) {
        return port_at(static_cast<Rank>(posted.rank), Port{message(posted).port});
    }

    void enter_port(const Posted& posted) {
        if (has_ports()) {
            entering_.push_back(posted);
        } else {
            start_up(posted, now_);
        }
    }

    void leave_port(const Posted& posted) {
        if (options_.per_port > 0) {
            --port_of(posted).busy;
            left_.push_back(&port_of(posted));
        }
    }

    /// Once all that happens at this time is known: who comes at the same time queues in the order
    /// of parts, with gaps in that of steps, so that nothing depends on the order of the events.
    void serve_ports() {
        if (has_gaps()) {
            sort_by_step(entering_);
        } else {
            std::ranges::sort(entering_, {}, &Posted::number);
        }
        for (const Posted& posted : entering_) {
            PortState& port = port_of(posted);
            if (has_gaps()) {
                port.started = std::max(now_, port.started + gap(Port{message(posted).port}));
                start_up(posted, port.started);
            } else {
                port.waiting.push_back(posted);
                left_.push_back(&port);
            }
        }
        entering_.clear();
        for (PortState* const port : left_) {
            while (port->busy < options_.per_port && !port->waiting.empty()) {
                ++port->busy;
                start_up(port->waiting.front(), now_);
                port->waiting.pop_front();
            }
        }
        left_.clear();
    }

    void start_up(const Posted& posted, double begin) {
        network_.route(traffic_.journey(static_cast<Rank>(posted.rank), message(posted)), ways_);
        const double late =
            options_.jitter > 0 ? options_.jitter * noise(options_.seed, posted.number) : 0;
        add_event(begin + ways_.delay(costs_.alpha, costs_.hop) + late, Kind::start, posted);
    }

    /// Applies what has arrived if that is all of the open step; true: the step is complete.
    bool try_complete(Rank rank, std::size_t part) {
        Open& open = open_[slot(rank, part)];
        if (open.step == traffic_.steps()) {
            return false;
        }
        const std::size_t place = traffic_.place(rank, part, open.step);
        if (!open.applying && missing_[place] == 0) {
            open.applying = true;
            const double done = costs_.has_work() ? apply(rank, place) : now_;
            open.complete = done <= now_;
            if (!open.complete) {
                add_event(done, Kind::worked,
                          {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(part), 0});
            }
        }
        return open.complete;
    }

    double apply(Rank rank, std::size_t place) {
        const TrafficWork& all = traffic_.work(place);
        const bool moves = all.copied_before > 0 || all.reduced_before > 0;
        if (!moves && all.copied_after <= 0 && all.reduced_after <= 0) {
            return now_;
        }
        return work(rank, costs_.copying(all.copied_after * bytes_) +
                              costs_.reducing(all.reduced_after * bytes_));
    }

    /// Opens what can be opened.
    void advance(Rank rank) {
        if (!options_.step_sync) {
            for (std::size_t p = 0; p < traffic_.parts(); ++p) {
                while (try_complete(rank, p)) {
                    go_on(rank, p);
                }
            }
            return;
        }
        while (true) {
            bool all = true;
            for (std::size_t p = 0; p < traffic_.parts(); ++p) {
                all = try_complete(rank, p) && all;
            }
            if (!all) {
                return;
            }
            for (std::size_t p = 0; p < traffic_.parts(); ++p) {
                go_on(rank, p);
            }
        }
    }

    void go_on(Rank rank, std::size_t part) {
        last_ = std::max(last_, now_);
        Open& open = open_[slot(rank, part)];
        if (observer_ != nullptr) {
            observer_->completed(traffic_.place(rank, part, open.step), now_);
        }
        open = {open.step + 1, false, false};
        if (open.step < traffic_.steps()) {
            post(rank, part);
        }
    }

    std::size_t places_of_rank() const { return traffic_.parts() * traffic_.steps(); }
    Rank receiver(const Posted& posted) const {
        return traffic_.symmetry().class_of(message(posted).to);
    }

    void arrive(const Posted& posted) {
        leave_port(posted);
        if (options_.sends_complete) {
            complete_one(static_cast<Rank>(posted.rank), posted.place);
        }
        if (has_gaps()) {
            arrived_.push_back(posted);
        } else {
            count(posted);
        }
    }

    /// The receiver counts it in the same part and step.
    void count(const Posted& posted) {
        last_ = std::max(last_, now_);
        const Rank to = receiver(posted);
        const std::size_t place =
            static_cast<std::size_t>(to) * places_of_rank() + posted.place % places_of_rank();
        complete_one(to, place);
    }

    void complete_one(Rank rank, std::size_t place) {
        if (--missing_[place] == 0) {
            advance(rank);
        }
    }

    /// A rank that waits for nobody opens all its steps at once.
    void sort_by_step(std::vector<Posted>& messages) const {
        std::ranges::sort(messages, {}, [this](const Posted& posted) {
            return std::pair(posted.place % traffic_.steps(), posted.number);
        });
    }

    /// What has arrived at this time, one after the other.
    void take_in() {
        sort_by_step(arrived_);
        for (const Posted& posted : arrived_) {
            const Port through = Port{message(posted).port}.opposite();
            PortState& in = port_at(receiver(posted), through);
            in.taken = std::max(now_, in.taken + gap(through));
            if (in.taken <= soon()) {
                count(posted);
            } else {
                add_event(in.taken, Kind::taken, posted);
            }
        }
        arrived_.clear();
    }

    void start(const Posted& posted) {
        const TrafficMessage& m = message(posted);
        const double bytes = m.share * bytes_;
        if (bytes <= 0) {
            tell_arrival(posted, now_);
            arrive(posted);
            return;
        }
        network_.route(traffic_.journey(static_cast<Rank>(posted.rank), m), ways_);
        if (free_.empty()) {
            free_.push_back(under_way_.size());
            under_way_.emplace_back();
        }
        const std::uint64_t tag = free_.back();
        free_.pop_back();
        under_way_[tag] = {posted, now_};
        flows_.start(now_, bytes, ways_, tag);
    }

    void end_messages() {
        std::uint64_t tag = 0;
        while (flows_.take_ended(soon(), tag)) {
            free_.push_back(tag);
            const UnderWay message = under_way_[tag];
            tell_arrival(message.posted, message.begin);
            arrive(message.posted);
        }
    }

    void tell_arrival(const Posted& posted, double begin) {
        if (observer_ != nullptr) {
            observer_->arrived(posted.number, begin, now_);
        }
    }

    void handle_events() {
        while (!events_.empty() && events_.top().time <= soon()) {
            const Event event = events_.top();
            events_.pop();
            switch (event.kind) {
                case Kind::ready:
                    enter_port(event.posted);
                    break;
                case Kind::start:
                    start(event.posted);
                    break;
                case Kind::taken:
                    count(event.posted);
                    break;
                case Kind::worked:
                    open_[slot(static_cast<Rank>(event.posted.rank), event.posted.place)].complete =
                        true;
                    advance(static_cast<Rank>(event.posted.rank));
                    break;
            }
        }
    }

    void require_all_done() const {
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (open_[i].step != traffic_.steps()) {
                throw Error(Status::internal,
                            "the simulation ended while rank " +
                                std::to_string(traffic_.symmetry().representative(
                                    static_cast<Rank>(i / traffic_.parts()))) +
                                " still waited for a message; please report this");
            }
        }
    }

    const Network& network_;
    const Traffic& traffic_;
    double bytes_;
    MessageCosts costs_;
    FlowOptions options_;
    FlowObserver* observer_;
    Flows flows_;
    std::vector<std::int32_t>
        missing_;                   ///< receives, by place; may have come before the step opened
    std::vector<Open> open_;        ///< by rank and part
    std::vector<double> free_at_;   ///< by rank: when it is through with its work
    std::vector<PortState> ports_;  ///< by rank and port
    std::vector<Posted> entering_;  ///< at this time
    std::vector<PortState*> left_;  ///< ports whose queues have changed
    std::vector<Posted> arrived_;   ///< at this time
    double now_ = 0, last_ = 0;
    std::uint64_t order_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<UnderWay> under_way_;
    std::vector<std::uint64_t> free_;
    Ways ways_;
};

}  // namespace

double flow_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs, const FlowOptions& options, FlowObserver* observer) {
    if (observer != nullptr && !traffic.symmetry().trivial()) {
        throw Error(Status::invalid_argument,
                    "an observer needs a run of all ranks, not of one for many");
    }
    return Simulation(network, traffic, vector_bytes, costs, options, observer).run();
}

}  // namespace trefoil
