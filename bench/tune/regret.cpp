// SPDX-License-Identifier: BSD-3-Clause
// Contests of what `auto` takes against everything that could run.
#include "bench/tune/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "algorithms/registry/registry.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/contest.hpp"
#include "bench/tune/crossovers.hpp"
#include "bench/tune/stopwatch.hpp"
#include "bench/tune/subject.hpp"
#include "comm/api/c_guard.hpp"

namespace trefoil::tool {

namespace {

struct Draw {
    Subject subject;
    std::size_t bytes = 0;
    std::vector<std::string> algorithms;  ///< that of `auto` first
    std::string decided_by;
};

std::string text_of(DecidedBy by) {
    return by == DecidedBy::tuning        ? "file"
           : by == DecidedBy::learned     ? "file"
           : by == DecidedBy::single_copy ? "size"
           : by == DecidedBy::name        ? "name"
                                          : "model";
}

/// All algorithms that give what the call must give, on this torus.
std::vector<std::string> all_for(const Request& request, const Torus& torus,
                                 const PeerAccess& access) {
    std::vector<std::string> names;
    for (const Algorithm& algorithm : algorithms()) {
        if (can_run(algorithm, request, torus) && access.suffices(algorithm.traits)) {
            names.emplace_back(algorithm.name);
        }
    }
    return names;
}

Draw draw(std::mt19937_64& random, const TunePlan& plan, const Communicator& communicator) {
    Draw drawn;
    Subject& subject = drawn.subject;
    subject.collective = plan.collectives[random() % plan.collectives.size()];
    const bool integers = traits_of(subject.collective).reduces && random() % 2 == 0;
    subject.type = integers ? DataType::int32 : DataType::float32;
    const double least = std::log2(static_cast<double>(plan.sizes.front()));
    const double most = std::log2(static_cast<double>(plan.sizes.back()));
    const double share = static_cast<double>(random() % 4097) / 4096;
    const Torus& torus = communicator.torus();
    const Request request =
        subject.request(torus, static_cast<std::size_t>(std::exp2(least + share * (most - least))));
    drawn.bytes = request.count * subject.unit_bytes(torus);
    const Decision decision = communicator.chooser().decide(request, communicator.peer_access());
    drawn.decided_by = text_of(decision.by);
    Choice chosen = decision.choice;
    chosen.options = {.pieces = chosen.options.pieces, .by_node = chosen.options.by_node};
    drawn.algorithms = {to_string(chosen)};
    for (const std::string& name : all_for(request, torus, communicator.peer_access())) {
        if (name != drawn.algorithms.front()) {
            drawn.algorithms.push_back(name);
        }
    }
    return drawn;
}

const Contender& fastest_of(const std::vector<Contender>& all) {
    return winner_of(all, all.front().algorithm, 0);
}

}  // namespace

int regret_rank(const TuneOptions& options, const TunePlan& plan, const trefoil_config_t& config) {
    Session session(config);
    const Communicator& communicator = *session.handle()->communicator;
    const bool speaks = session.rank() == 0;
    std::mt19937_64 random(options.seed);
    std::vector<Draw> draws;
    for (int i = 0; i < options.regret; ++i) {
        draws.push_back(draw(random, plan, communicator));  // before algorithms are forced
    }
    if (speaks) {
        fmt::print(
            "# regret of {} calls, seed {}; {}\n{:<15} {:<8} {:>11}  {:<28} {:<6} {:>10}  "
            "{:<28} {:>10} {:>8} {:>4}\n",
            options.regret, options.seed, communicator.tuning_key().text(), "collective", "type",
            "bytes", "auto takes", "by", "us", "fastest", "us", "regret", "of");
    }
    Contests contests(session, {.rounds = options.rounds, .slice = options.slice_ms * 1e-3});
    std::vector<double> regrets;
    for (const Draw& drawn : draws) {
        const std::vector<Contender> all =
            contests.hold(drawn.subject.what(session.torus(), drawn.bytes), drawn.algorithms);
        const Contender& fastest = fastest_of(all);
        const double regret = all.front().median / fastest.median - 1;
        regrets.push_back(regret);
        if (speaks) {
            const auto took_part = std::ranges::count(all, true, &Contender::took_part);
            fmt::print(
                "{:<15} {:<8} {:>11}  {:<28} {:<6} {:>10.2f}  {:<28} {:>10.2f} {:>6.1f} % "
                "{:>4}\n",
                to_string(drawn.subject.collective), to_string(drawn.subject.type), drawn.bytes,
                all.front().algorithm, drawn.decided_by, 1e6 * all.front().median,
                fastest.algorithm, 1e6 * fastest.median, 100 * regret, took_part);
            std::fflush(stdout);
        }
    }
    if (speaks) {
        fmt::print("regret: median {:.1f} %, worst {:.1f} %; {} elements wrong\n",
                   100 * median(regrets), 100 * std::ranges::max(regrets), contests.wrong());
    }
    session.barrier();
    return contests.wrong() == 0 ? exit_success : exit_wrong;
}

}  // namespace trefoil::tool
