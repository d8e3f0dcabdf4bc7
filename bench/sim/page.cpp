// SPDX-License-Identifier: BSD-3-Clause
// What may be played, the words that go with it, and the page.
#include "bench/sim/page.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/busy.hpp"
#include "bench/common/command.hpp"
#include "bench/common/names.hpp"
#include "bench/player/page.hpp"
#include "bench/player/schedule_data.hpp"
#include "bench/sim/flow_times.hpp"
#include "bench/sim/links.hpp"
#include "bench/sim/report.hpp"
#include "bench/sim/rewiring_times.hpp"
#include "bench/sim/runs.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr std::size_t most_beside = 2;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(Status::invalid_argument, "--html " + why);
}

void require_one_picture(const SimOptions& options, std::size_t algorithms) {
    if (options.json || options.table || !options.plot.empty() || !options.baseline.empty()) {
        refuse("writes a page; leave --json, --table, --plot and --baseline out");
    }
    if (options.tori.size() != 1 || options.sizes.size() != 1) {
        refuse("plays one torus and one size of vector; give one --torus and one of --sizes");
    }
    if (algorithms > most_beside) {
        refuse(
            fmt::format("plays one algorithm, or two beside each other, not {}; name them with "
                        "--algorithm",
                        algorithms));
    }
}

void require_drawable(const SimOptions& options) {
    if (options.engine != Engine::own) {
        refuse("plays what the models of this project work out; leave --engine out");
    }
    if (options.model != Model::flow) {
        refuse("plays the flow model; leave --model out");
    }
    if ((options.machine.network != "torus" && options.machine.network != "mesh") ||
        options.machine.host) {
        refuse("draws the links of a torus or a mesh, not of " +
               (options.machine.host ? std::string("nodes of several ranks")
                                     : "a " + options.machine.network));
    }
}

int finish(const SimOptions& options, const nlohmann::ordered_json& plans, const std::string& names,
           const std::string& file) {
    const std::string page = player_page(plans);
    write_page(file, page);
    fmt::print("{} of {} by {} on {}: {} ({:.0f} KiB); open it in a browser\n",
               to_string(options.collective), size_text(options.sizes.front()), names,
               options.tori.front(), file, static_cast<double>(page.size()) / 1024);
    return exit_success;
}

void add_plan(nlohmann::ordered_json& plans, std::string& names, const Choice& choice,
              nlohmann::ordered_json plan, const TimeData& times) {
    if (times.seconds <= 0) {
        throw Error(Status::unsupported,
                    to_string(choice) + " takes no time there, so there is nothing to play");
    }
    plan["time"] = time_json(times);
    plans.push_back(std::move(plan));
    names += fmt::format("{}{} ({})", names.empty() ? "" : " and ", to_string(choice),
                         time_text(times.seconds));
}

/// "8 MiB", "100 bytes"
std::string vector_text(std::size_t bytes) {
    std::string text = size_text(bytes);
    const char unit = text.back();
    if (unit >= '0' && unit <= '9') {
        return text + " bytes";
    }
    text.pop_back();
    return text + " " + unit + "iB";
}

/// "1 MiB; torus of 400 Gbit/s links, 1.5 us a message, 200 ns a hop"
std::string machine_words(const SimOptions& options, const char* started) {
    const Machine& machine = options.machine;
    std::string rates;
    for (const double rate : machine.rates) {
        rates += (rates.empty() ? "" : ", ") + rate_text(rate);
    }
    return fmt::format("{}; {} of {} links, {} a {}, {} a hop", vector_text(options.sizes[0]),
                       machine.network, rates, time_text(machine.costs.alpha), started,
                       time_text(machine.costs.hop));
}

}  // namespace

int write_sim_page(const SimOptions& options, const std::string& file) {
    const std::vector<Choice> choices = sim_choices(options);
    require_one_picture(options, choices.size());
    require_drawable(options);
    require_place_for(file);
    const std::unique_ptr<Network> network =
        make_network(options.machine, Torus::parse(options.tori.front()));
    slow_down(*network, options.machine.slow);
    take_down(*network, options.machine.down);
    auto plans = nlohmann::ordered_json::array();
    std::string names;
    for (const Choice& choice : choices) {
        const std::string refused = simulation_refusal(choice, network->torus());
        if (!refused.empty()) {
            throw Error(Status::unsupported, refused);
        }
        const Busy busy("simulating " + to_string(choice));
        std::vector<SentAs> order;
        auto plan = schedule_data(network->torus(), choice, std::nullopt, &order);
        TimeData times = flow_times(options, *network, choice, order);
        times.words = machine_words(options, "message") + "; flow model";
        add_plan(plans, names, choice, std::move(plan), times);
    }
    return finish(options, plans, names, file);
}

int write_rewiring_page(const RewiringQuestion& question, const std::vector<RewiringField>& fields,
                        const std::string& file) {
    require_one_picture(question.sim, fields.front().subjects.size());
    require_place_for(file);
    auto plans = nlohmann::ordered_json::array();
    std::string names;
    for (const RewiringSubject& subject : fields.front().subjects) {
        std::vector<SentAs> order;
        auto plan = schedule_data(subject.torus, subject.choice, std::nullopt, &order);
        TimeData times = rewiring_times(question, fields.front(), subject, order);
        times.words = fmt::format("{}, {} a change of circuits; step model",
                                  machine_words(question.sim, "step"),
                                  time_text(question.circuits.costs.reconfiguration));
        add_plan(plans, names, subject.choice, std::move(plan), times);
    }
    return finish(question.sim, plans, names, file);
}

}  // namespace trefoil::tool
