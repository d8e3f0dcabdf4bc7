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

/// How much longer one takes than the fastest, as a share. Who was not in the final may have had
/// shorter rounds than that.
double loss(const Contender& one, const std::vector<Contender>& all) {
    return std::max(0.0, one.median / fastest_of(all).median - 1);
}

std::string text_of(const Draw& drawn) {
    return fmt::format("{:<15} {:<8} {:>11}  ", to_string(drawn.subject.collective),
                       to_string(drawn.subject.type), drawn.bytes);
}

void say_heading(const TuneOptions& options, const Communicator& communicator) {
    fmt::print(
        "# regret of {} calls, seed {}; {}\n{:<15} {:<8} {:>11}  {:<28} {:<6} {:>10}  {:<28} "
        "{:>10} {:>8} {:>4}\n",
        options.regret, options.seed, communicator.tuning_key().text(), "collective", "type",
        "bytes", "auto takes", "by", "us", "fastest", "us", "regret", "of");
}

void say(const Draw& drawn, const std::vector<Contender>& all) {
    const Contender& fastest = fastest_of(all);
    fmt::print("{}{:<28} {:<6} {:>10.2f}  {:<28} {:>10.2f} {:>6.1f} % {:>4}\n", text_of(drawn),
               all.front().algorithm, drawn.decided_by, 1e6 * all.front().median, fastest.algorithm,
               1e6 * fastest.median, 100 * loss(all.front(), all),
               std::ranges::count(all, true, &Contender::took_part));
    std::fflush(stdout);
}

struct Again {
    double of_auto = 0, of_fastest = 0;  ///< losses
};

/// What `auto` takes, and who else was in the final.
std::vector<std::string> finalists(const std::vector<Contender>& all) {
    std::vector<std::string> names;
    for (const Contender& one : all) {
        if (one.in_final || &one == all.data()) {
            names.push_back(one.algorithm);
        }
    }
    return names;
}

/// Times are the slowest rank's, so all ranks see the same one as the fastest.
Again measured_again(const std::vector<Contender>& now, const std::string& was_fastest) {
    const auto it = std::ranges::find(now, was_fastest, &Contender::algorithm);
    return {loss(now.front(), now), loss(*it, now)};
}

// What the fastest of some minutes ago loses now is more than a choice by one measurement can
// avoid.
void say_heading_again() {
    fmt::print(
        "# once more, those of the finals\n{:<15} {:<8} {:>11}  {:<28} {:>8}  {:<28} {:>8}\n",
        "collective", "type", "bytes", "auto takes", "regret", "was the fastest", "loses");
}

void say_again(const Draw& drawn, const std::string& was_fastest, const Again& again) {
    fmt::print("{}{:<28} {:>6.1f} %  {:<28} {:>6.1f} %\n", text_of(drawn), drawn.algorithms.front(),
               100 * again.of_auto, was_fastest, 100 * again.of_fastest);
    std::fflush(stdout);
}

void say_losses(const char* of, const std::vector<double>& losses) {
    fmt::print("{}: median {:.1f} %, worst {:.1f} %\n", of, 100 * median(losses),
               100 * std::ranges::max(losses));
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
        say_heading(options, communicator);
    }
    Contests contests(session, {.rounds = options.rounds, .slice = options.slice_ms * 1e-3});
    const auto hold = [&](const Draw& drawn, const std::vector<std::string>& algorithms) {
        return contests.hold(drawn.subject.what(session.torus(), drawn.bytes), algorithms);
    };
    std::vector<double> regrets;
    std::vector<std::string> fastest;
    for (Draw& drawn : draws) {
        const std::vector<Contender> all = hold(drawn, drawn.algorithms);
        regrets.push_back(loss(all.front(), all));
        fastest.push_back(fastest_of(all).algorithm);
        drawn.algorithms = finalists(all);
        if (speaks) {
            say(drawn, all);
        }
    }
    if (speaks) {
        say_heading_again();
    }
    std::vector<double> again_auto, again_fastest, both_times;
    for (std::size_t i = 0; i < draws.size(); ++i) {
        const Again again = measured_again(hold(draws[i], draws[i].algorithms), fastest[i]);
        again_auto.push_back(again.of_auto);
        again_fastest.push_back(again.of_fastest);
        both_times.push_back(std::min(regrets[i], again.of_auto));
        if (speaks) {
            say_again(draws[i], fastest[i], again);
        }
    }
    if (speaks) {
        say_losses("regret", regrets);
        say_losses("once more", again_auto);
        say_losses("both times", both_times);
        say_losses("what was the fastest, once more", again_fastest);
        fmt::print("{} elements wrong\n", contests.wrong());
    }
    session.barrier();
    return contests.wrong() == 0 ? exit_success : exit_wrong;
}

}  // namespace trefoil::tool
