// SPDX-License-Identifier: BSD-3-Clause
// Writes down links, ways and messages, and has trefoil-simgrid read them once per size.
#include "bench/sim/simgrid_engine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "algorithms/simulation/models.hpp"
#include "bench/common/own_program.hpp"
#include "bench/sim/program.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr const char* program_name = "trefoil-simgrid";

/// Of the program that stands beside this one, unless TREFOIL_SIMGRID names another.
std::string program_path() {
    const char* const named = std::getenv("TREFOIL_SIMGRID");
    const std::filesystem::path path = named != nullptr
                                           ? std::filesystem::path(named)
                                           : own_program().parent_path() / program_name;
    if (access(path.c_str(), X_OK) != 0) {
        throw Error(Status::not_found,
                    fmt::format("--engine simgrid needs the program {}, and {} is none; build it "
                                "(target trefoil_simgrid), or name it by TREFOIL_SIMGRID",
                                program_name, path.string()));
    }
    return path.string();
}

/// The lines of a job (bench/simgrid/job.hpp); links and ways are numbered as they are first used.
class JobText {
  public:
    explicit JobText(const Network& network) : network_(network) {}

    void begin(const Traffic& traffic, bool step_sync) {
        fmt::format_to(std::back_inserter(text_), "job {} {} {} {}\n", traffic.classes(),
                       traffic.parts(), traffic.steps(), step_sync ? 1 : 0);
    }

    void add(Rank from, std::size_t part, std::size_t step, const TrafficMessage& message,
             const Ways& ways, double delay) {
        std::string words;
        for (std::size_t way = 0; way < ways.count(); ++way) {
            fmt::format_to(std::back_inserter(words), " {} {:.17g}",
                           number_of(from, message.to, ways.links(way)),
                           message.share * ways.share(way));
        }
        fmt::format_to(std::back_inserter(text_), "message {} {} {} {} {:.17g}{}\n", from,
                       message.to, part, step, delay, words);
    }

    /// The most ways between two ranks.
    std::size_t most_ways() const { return most_ways_; }
    const std::string& text() const { return text_; }

  private:
    std::size_t number_of(Rank from, Rank to, std::span<const std::int64_t> links) {
        auto& known = ways_[{from, to}];
        const std::vector<std::int64_t> wanted(links.begin(), links.end());
        const auto found = known.find(wanted);
        if (found != known.end()) {
            return found->second;
        }
        std::string words;
        for (const std::int64_t link : links) {
            fmt::format_to(std::back_inserter(words), " {}", number_of(link));
        }
        fmt::format_to(std::back_inserter(text_), "way {} {}{}\n", from, to, words);
        known.emplace(wanted, way_count_);
        most_ways_ = std::max(most_ways_, known.size());
        return way_count_++;
    }

    std::size_t number_of(std::int64_t link) {
        const auto [place, is_new] = links_.try_emplace(link, links_.size());
        if (is_new) {
            fmt::format_to(std::back_inserter(text_), "link {:.17g}\n", network_.rate(link));
        }
        return place->second;
    }

    const Network& network_;
    std::string text_;
    std::map<std::int64_t, std::size_t> links_;
    std::map<std::pair<Rank, Rank>, std::map<std::vector<std::int64_t>, std::size_t>> ways_;
    std::size_t way_count_ = 0, most_ways_ = 0;
};

/// SimGrid keeps a table of all pairs of hosts, and takes several hosts per rank for several ways.
void require_memory(const Torus& torus, std::size_t most_ways, std::size_t most_bytes) {
    const auto hosts =
        static_cast<double>(torus.ranks()) * std::ceil(std::sqrt(static_cast<double>(most_ways)));
    const double bytes = 8 * hosts * hosts;
    if (bytes > static_cast<double>(most_bytes)) {
        throw Error(
            Status::unsupported,
            fmt::format("SimGrid needs {:.1f} GiB for the routes between {:.0f} hosts on "
                        "torus {}; give --memory {:.0f}G, or leave --engine simgrid out",
                        bytes / (1 << 30), hosts, torus.name(), std::ceil(bytes / (1 << 30))));
    }
}

void require_modelled(const SimOptions& options) {
    if (options.model != Model::flow) {
        throw Error(Status::unsupported,
                    "SimGrid knows flows, not steps; give --model flow with --engine simgrid");
    }
    const FlowOptions& flow = options.flow;
    if (options.machine.costs.has_work() || flow.per_port > 0 || flow.jitter > 0 || flow.gap > 0 ||
        flow.sends_complete) {
        throw Error(Status::unsupported,
                    "SimGrid is given neither copies and reductions nor messages per port, gaps, "
                    "sends to wait for and jitter; leave them or --engine simgrid out");
    }
}

class SimgridTimer final : public Timer {
  public:
    SimgridTimer(std::string program, const std::string& job)
        : program_(std::move(program)), job_(job) {}
    double seconds(double vector_bytes) override {
        const std::string told = run_program(program_, fmt::format("{:.17g}", vector_bytes), job_);
        try {
            return std::stod(told);
        } catch (const std::exception&) {
            throw Error(Status::system_error,
                        program_ + " printed no time but \"" + told + "\"; is it of this version?");
        }
    }

  private:
    std::string program_;
    MemoryFile job_;
};

}  // namespace

std::unique_ptr<Timer> prepare_simgrid(const SimOptions& options, const Network& network,
                                       const Choice& choice) {
    require_modelled(options);
    require_memory(network.torus(), 1, options.most_bytes);  // at least
    const std::string program = program_path();
    const Traffic traffic(network.torus(), *choice.algorithm, choice.options, options.most_bytes);
    JobText job(network);
    job.begin(traffic, options.flow.step_sync);
    Ways ways;
    for (Rank rank = 0; rank < traffic.classes(); ++rank) {
        for (std::size_t part = 0; part < traffic.parts(); ++part) {
            for (std::size_t step = 0; step < traffic.steps(); ++step) {
                for (const TrafficMessage& message :
                     traffic.sends(traffic.place(rank, part, step))) {
                    network.route(traffic.journey(rank, message), ways);
                    const MessageCosts& costs = options.machine.costs;
                    job.add(rank, part, step, message, ways, ways.delay(costs.alpha, costs.hop));
                }
            }
        }
    }
    require_memory(network.torus(), job.most_ways(), options.most_bytes);
    return std::make_unique<SimgridTimer>(program, job.text());
}

}  // namespace trefoil::tool
