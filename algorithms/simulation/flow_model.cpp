// SPDX-License-Identifier: BSD-3-Clause
// The flow model: events in the order of time, rates that change with each of them.
#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "algorithms/simulation/fair_rates.hpp"
#include "algorithms/simulation/models.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// What happens within this share of the time happens at once: sums of equal parts differ by less.
constexpr double same_time = 1e-12;

class Simulation {
  public:
    Simulation(const Network& network, const Traffic& traffic, double vector_bytes,
               const MessageCosts& costs, const FlowOptions& options)
        : network_(network),
          traffic_(traffic),
          bytes_(vector_bytes),
          costs_(costs),
          options_(options),
          rates_(network),
          missing_(traffic.places()),
          open_(static_cast<std::size_t>(traffic.ranks()) * traffic.parts()),
          unfinished_(static_cast<std::size_t>(traffic.ranks())) {
        for (std::size_t place = 0; place < missing_.size(); ++place) {
            missing_[place] = static_cast<std::int32_t>(traffic.receives(place));
        }
    }

    double run() {
        for (Rank r = 0; r < traffic_.ranks(); ++r) {
            begin(r);
        }
        while (!starts_.empty() || !ends_.empty()) {
            const double next = std::min(starts_.empty() ? forever : starts_.top().time,
                                         ends_.empty() ? forever : ends_.top().time);
            now_ = std::max(now_, next);
            end_flows();
            start_messages();
            change_rates();
        }
        require_all_done();
        return last_;
    }

  private:
    static constexpr double forever = 1e300;

    struct Start {
        double time;
        Rank from;
        std::uint32_t part, step;
        const TrafficMessage* message;
        bool operator>(const Start& other) const { return time > other.time; }
    };
    struct End {
        double time;
        std::uint32_t flow, version;
        bool operator>(const End& other) const { return time > other.time; }
    };
    struct Message {  ///< on its way
        Rank to;
        std::uint32_t part, step, ways;
    };
    struct Flow {
        std::uint32_t message = 0, version = 0;
        double left = 0, rate = 0, since = 0;
        bool running = false;
    };

    std::size_t slot(Rank rank, std::size_t part) const {
        return static_cast<std::size_t>(rank) * traffic_.parts() + part;
    }
    double soon() const { return now_ * (1 + same_time); }

    void begin(Rank rank) {
        unfinished_[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(traffic_.parts());
        for (std::size_t p = 0; p < traffic_.parts(); ++p) {
            post(rank, p);
        }
        advance(rank);
    }

    /// Posts the messages of the step that is open.
    void post(Rank rank, std::size_t part) {
        const std::uint32_t step = open_[slot(rank, part)];
        for (const TrafficMessage& m : traffic_.sends(traffic_.place(rank, part, step))) {
            network_.route(rank, m.to, traffic_.steered(m), ways_);
            starts_.push({now_ + costs_.alpha + costs_.hop * ways_.hops(), rank,
                          static_cast<std::uint32_t>(part), step, &m});
        }
    }

    bool complete(Rank rank, std::size_t part) const {
        const std::uint32_t step = open_[slot(rank, part)];
        return step < traffic_.steps() && missing_[traffic_.place(rank, part, step)] == 0;
    }

    /// Opens what can be opened.
    void advance(Rank rank) {
        if (!options_.step_sync) {
            for (std::size_t p = 0; p < traffic_.parts(); ++p) {
                while (complete(rank, p)) {
                    go_on(rank, p);
                }
            }
            return;
        }
        const auto all_complete = [&] {
            for (std::size_t p = 0; p < traffic_.parts(); ++p) {
                if (!complete(rank, p)) {
                    return false;
                }
            }
            return true;
        };
        while (all_complete()) {
            for (std::size_t p = 0; p < traffic_.parts(); ++p) {
                go_on(rank, p);
            }
        }
    }

    void go_on(Rank rank, std::size_t part) {
        last_ = std::max(last_, now_);
        if (++open_[slot(rank, part)] < traffic_.steps()) {
            post(rank, part);
        } else {
            --unfinished_[static_cast<std::size_t>(rank)];
        }
    }

    void arrive(const Message& m) {
        --missing_[traffic_.place(m.to, m.part, m.step)];
        last_ = std::max(last_, now_);
        if (missing_[traffic_.place(m.to, m.part, m.step)] == 0) {
            advance(m.to);
        }
    }

    void start_messages() {
        while (!starts_.empty() && starts_.top().time <= soon()) {
            const Start start = starts_.top();
            starts_.pop();
            network_.route(start.from, start.message->to, traffic_.steered(*start.message), ways_);
            const double bytes = start.message->share * bytes_;
            const Message message{start.message->to, start.part, start.step,
                                  static_cast<std::uint32_t>(ways_.count())};
            if (bytes <= 0) {
                arrive(message);
                continue;
            }
            const std::uint32_t number = take_message(message);
            for (std::size_t w = 0; w < ways_.count(); ++w) {
                const std::uint32_t flow = rates_.add(ways_.links(w));
                if (flow >= flows_.size()) {
                    flows_.resize(flow + 1);
                }
                flows_[flow] = {number, flows_[flow].version + 1, bytes * ways_.share(w), 0, now_,
                                true};
            }
        }
    }

    std::uint32_t take_message(const Message& message) {
        if (free_messages_.empty()) {
            messages_.push_back(message);
            return static_cast<std::uint32_t>(messages_.size() - 1);
        }
        const std::uint32_t number = free_messages_.back();
        free_messages_.pop_back();
        messages_[number] = message;
        return number;
    }

    void end_flows() {
        while (!ends_.empty() && ends_.top().time <= soon()) {
            const End end = ends_.top();
            ends_.pop();
            Flow& flow = flows_[end.flow];
            if (!flow.running || flow.version != end.version) {
                continue;
            }
            flow.running = false;
            ++flow.version;
            rates_.remove(end.flow);
            Message& message = messages_[flow.message];
            if (--message.ways == 0) {
                const Message arrived = message;
                free_messages_.push_back(flow.message);
                arrive(arrived);
            }
        }
    }

    void change_rates() {
        for (const std::uint32_t number : rates_.update()) {
            Flow& flow = flows_[number];
            const double rate = rates_.rate(number);
            if (rate == flow.rate) {
                continue;
            }
            flow.left = std::max(0.0, flow.left - flow.rate * (now_ - flow.since));
            flow.since = now_;
            flow.rate = rate;
            ++flow.version;
            ends_.push({now_ + flow.left / rate, number, flow.version});
        }
    }

    void require_all_done() const {
        for (Rank r = 0; r < traffic_.ranks(); ++r) {
            if (unfinished_[static_cast<std::size_t>(r)] != 0) {
                throw Error(Status::internal,
                            "the simulation ended while rank " + std::to_string(r) +
                                " still waited for a message; please report this");
            }
        }
    }

    const Network& network_;
    const Traffic& traffic_;
    double bytes_;
    MessageCosts costs_;
    FlowOptions options_;
    FairRates rates_;
    std::vector<std::int32_t>
        missing_;                      ///< receives, by place; may have come before the step opened
    std::vector<std::uint32_t> open_;  ///< step, by rank and part
    std::vector<std::uint32_t> unfinished_;  ///< parts, by rank
    double now_ = 0, last_ = 0;
    std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_messages_;
    std::vector<Flow> flows_;
    Ways ways_;
};

}  // namespace

double flow_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs, const FlowOptions& options) {
    return Simulation(network, traffic, vector_bytes, costs, options).run();
}

}  // namespace trefoil
