// SPDX-License-Identifier: BSD-3-Clause
// From the command line and the environment to a job and a call.
#include "bench/explain/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "backend/registry/transports.hpp"
#include "backend/system/kernel_copies.hpp"
#include "bench/common/model_variable.hpp"
#include "bench/common/names.hpp"
#include "comm/setup/configuration.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr Rank most_ranks = 1 << 20;

std::vector<ModelNumber> numbers_of(const CostModel& model, bool asked, bool in_memory,
                                    bool has_nodes, const ExplainOptions& options,
                                    const TuningEntry* tuned) {
    const std::string ground = asked || !in_memory ? "default" : "default of shared memory";
    std::vector<ModelNumber> numbers{
        {"step", 1e6 * model.alpha, "us", "a step", ground},
        {"hop", 1e6 * model.tau, "us", "a hop", ground},
        {"rate", 8e-9 / model.beta, "Gbit/s", "a link", ground},
        {"wait", 1e6 * model.wait, "us", "a wait", ground},
        {"message", 1e6 * model.message, "us", "a message", ground},
        {"forward", 1e6 * model.forward, "us", "a message that a node forwards", ground},
        {"busiest", 1e6 * model.busiest, "us", "a message of the rank that sends most", ground},
        {"byte", 1e9 * model.byte, "ns", "a byte sent", ground},
        {"copy", 1e9 * model.copy, "ns", "a byte gathered", ground},
        {"pull", 1e9 * model.pull, "ns", "a byte read", ground},
        {"reduce", 1e9 * model.reduce, "ns", "a byte reduced", ground}};
    if (has_nodes) {
        numbers.push_back(
            {"inside-step", 1e6 * model.inside_step, "us", "a step inside nodes", ground});
        numbers.push_back(
            {"inside-message", 1e6 * model.inside_message, "us", "a message inside", ground});
        numbers.push_back({"inside-byte", 1e9 * model.inside_byte, "ns", "a byte inside", ground});
    }
    const std::vector<std::string> named = names_in_model_variable();
    const auto tells = [&](const std::string& name) { return std::ranges::count(named, name) > 0; };
    const bool shares =
        options.ranks_per_core > 1 && !tells("wait") && !tells("message") && !tells("byte");
    for (ModelNumber& number : numbers) {
        const bool of_processors = number.name != "step" && number.name != "hop" &&
                                   number.name != "rate" && number.name != "inside-step";
        if (tuned != nullptr && std::ranges::count(tuned->numbers, number.name) > 0) {
            number.from = "tuning file";
        } else if (tells(number.name)) {
            number.from = "TREFOIL_MODEL";
        } else if (shares && of_processors) {
            number.from = fmt::format("{:g} ranks per core", options.ranks_per_core);
        }
    }
    return numbers;
}

/// Reads the tuning file; what it has for the job.
const TuningEntry* tuned_job(ExplainedJob& job) {
    if (job.settings.tuning.empty()) {
        return nullptr;
    }
    job.settings.tuning_file =
        std::make_shared<const TuningFile>(read_tuning_file(job.settings.tuning));
    return tuned_for(job.settings, job.map.torus);
}

}  // namespace

ExplainedJob explained_job(const ExplainOptions& options, const std::string& torus) {
    ExplainedJob job;
    const Torus shape = Torus::parse(torus);
    if (shape.ranks() < 2 || shape.ranks() > most_ranks) {
        throw Error(Status::invalid_argument, fmt::format("the torus {} has {} ranks; take 2 to {}",
                                                          shape.name(), shape.ranks(), most_ranks));
    }
    if (!(options.ranks_per_core > 0 && options.ranks_per_core <= 1024)) {
        throw Error(Status::invalid_argument, "--ranks-per-core takes a number from 0 to 1024");
    }
    job.map = make_torus_map({"--torus", torus, {}}, shape.ranks());
    job.settings = settings_from_environment();
    if (!options.backend.empty()) {
        check_backend(options.backend);
        job.settings.backend = options.backend;
    } else if (job.settings.backend.empty()) {
        job.settings.backend = default_transport(false).name;
    }
    job.ranks_per_core = options.ranks_per_core;
    const Transport* const transport = registered_transport(job.settings.backend);
    const bool in_memory = transport != nullptr && transport->puts_by_stores;
    const bool asked = job.settings.cost_model.has_value();
    if (options.ranks_per_node < 0 || options.ranks_per_node > shape.ranks()) {
        throw Error(Status::invalid_argument,
                    fmt::format("--ranks-per-node takes 1 to {}", shape.ranks()));
    }
    job.settings.ranks_per_node = options.ranks_per_node > 0 ? options.ranks_per_node
                                  : in_memory                ? shape.ranks()
                                                             : shape.per_node();
    const TuningEntry* const tuned = tuned_job(job);
    if (tuned != nullptr && !asked) {
        job.settings.cost_model = tuned->model;
    }
    job.settings.cost_model =
        model_of_job(job.settings.cost_model, in_memory, options.ranks_per_core);
    const bool on_one_host = transport != nullptr && transport->single_copy;
    job.access = {on_one_host && kernel_copies_are_fast(), on_one_host};
    job.model = numbers_of(*job.settings.cost_model, asked || (tuned != nullptr && tuned->model),
                           in_memory, job.map.torus.per_node() > 1, options,
                           asked || tuned == nullptr ? nullptr : tuned);
    return job;
}

Request explained_request(const ExplainOptions& options, const Torus& torus, std::size_t bytes) {
    Request request{.collective = find_collective(options.collective),
                    .type = parse_datatype(options.type),
                    .op = parse_operation(options.operation)};
    const CollectiveTraits& traits = request.traits();
    const std::string name(traits.name);
    if (!traits.has_data()) {
        throw Error(Status::invalid_argument, name + " moves no data, so no size decides");
    }
    const std::string reason = traits.reduces ? refusal(request.type, request.op) : "";
    if (!reason.empty()) {
        throw Error(Status::unsupported, reason);
    }
    if (options.root != 0 && !traits.rooted()) {
        throw Error(Status::invalid_argument, name + " has no root; leave --root out");
    }
    if (options.root < 0 || options.root >= torus.ranks()) {
        throw Error(Status::invalid_argument,
                    fmt::format("there is no rank {} on torus {}; its ranks are 0 to {}",
                                options.root, torus.name(), torus.ranks() - 1));
    }
    if (bytes == 0) {
        throw Error(Status::invalid_argument, "a vector without bytes needs no algorithm");
    }
    const std::size_t unit =
        std::max<std::size_t>(1, traits.blocks(torus)) * request.element_bytes();
    request.root = options.root;
    request.count = bytes / unit + (bytes % unit == 0 ? 0 : 1);
    return request;
}

}  // namespace trefoil::tool
