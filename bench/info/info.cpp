// SPDX-License-Identifier: BSD-3-Clause
// `trefoil info`: what this build and this machine offer, and what would be chosen.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "backend/registry/transports.hpp"
#include "bench/common/command.hpp"
#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/info/inventory.hpp"
#include "bench/info/job.hpp"
#include "bench/info/mpi.hpp"
#include "bench/info/text.hpp"
#include "bench/info/variables.hpp"

namespace trefoil::tool {

namespace {

struct InfoOptions {
    InfoRequest request;
    std::string job, probe;
    bool json = false, verbose = false, variables = false, markdown = false, mpi = false;
};

/// Answers are printed as they come: a question may end the process.
int probe(const std::string& backend, bool json) {
    check_backend(backend);
    const Transport& transport = find_transport(backend);
    if (transport.probe == nullptr) {
        throw Error(Status::unsupported, "backend \"" + backend +
                                             "\" has nothing to probe: what its library does is "
                                             "documented; utofu can be probed");
    }
    nlohmann::ordered_json all;
    transport.probe([&](std::string_view question, const std::string& answer) {
        all[std::string(question)] = answer;
        if (!json) {
            fmt::print("{:<46}{}\n", question, answer);
            std::fflush(stdout);
        }
    });
    if (json) {
        fmt::print("{}\n", all.dump(2));
    }
    return exit_success;
}

int info(const InfoOptions& options) {
    if (!options.job.empty()) {
        const nlohmann::ordered_json answers = ask_job(options.job);
        if (options.json) {
            fmt::print("{}\n", nlohmann::ordered_json(
                                   {{"ranks", answers}, {"held_up_by", culprits(answers)}})
                                   .dump(2));
        } else {
            print_job(answers);
        }
        return exit_success;
    }
    if (!options.probe.empty()) {
        return probe(options.probe, options.json);
    }
    if (options.mpi) {
        const nlohmann::ordered_json mpis = found_mpis(mpi_places());
        if (options.json) {
            fmt::print("{}\n", mpis.dump(2));
        } else {
            print_mpis(mpis);
        }
        return exit_success;
    }
    if (options.markdown) {
        fmt::print("{}", variables_page());
        return exit_success;
    }
    if (!options.request.backend.empty()) {
        check_backend(options.request.backend);
    }
    const nlohmann::ordered_json all = inventory(options.request);
    if (options.variables) {
        print_variables(all);
    } else if (options.json) {
        fmt::print("{}\n", all.dump(2));
    } else if (options.verbose) {
        print_everything(all);
    } else {
        print_summary(all);
    }
    return exit_success;
}

}  // namespace

void add_info(CLI::App& app, CommandBody& body) {
    auto options = std::make_shared<InfoOptions>();
    InfoRequest& request = options->request;
    CLI::App* command = app.add_subcommand(
        "info", "Show versions, what would be chosen here and why, NICs, algorithms and settings");
    take_network_files(command->add_option("-t,--torus", request.torus,
                                           "Sizes of the torus, such as 3x3, or FILE.json: its "
                                           "ports, NICs, threads and choice of algorithms"));
    command->add_option("-n,--ranks", request.ranks, "How many ranks, instead of --torus")
        ->check(number_in(1, 1 << 16));
    command->add_option("--backend", request.backend,
                        "The transport, as if TREFOIL_BACKEND were this");
    command->add_option("--provider", request.provider,
                        "Provider of the transport, as if TREFOIL_PROVIDER were this");
    command->add_option("--nics", request.nics, "NICs to use, as if TREFOIL_NICS were this");
    command->add_option("--job", options->job,
                        "Report what a running job does, and which rank all others wait for: "
                        "HOST:PORT/KEY, or the file that its TREFOIL_TELL names");
    command->add_option("--probe", options->probe,
                        "Try out what the library of this backend (utofu) does where nobody has "
                        "documented it; takes some seconds");
    command->add_flag("--mpi", options->mpi,
                      "Which MPIs are here, and the commands that run their programs with Trefoil");
    command->add_flag("-v,--verbose", options->verbose,
                      "Also every provider, NIC, algorithm and setting");
    CLI::Option* json =
        command->add_flag("--json", options->json, "Print JSON: one object with everything");
    CLI::Option* variables =
        command
            ->add_flag("--variables", options->variables,
                       "Only the environment variables: values in force and their source")
            ->excludes(json);
    command
        ->add_flag("--markdown", options->markdown,
                   "With --variables: as the page docs/environment.md")
        ->needs(variables);
    command->footer(
        "Without --torus and --ranks the environment (TREFOIL_HOSTFILE, TREFOIL_TORUS,\n"
        "TREFOIL_SIZE) may say which torus is meant. A backend that is not present says why.\n"
        "Example: trefoil info --torus 3x3 --backend ofi -v\n"
        "A job that was started with TREFOIL_TELL=FILE answers: trefoil info --job FILE");
    command->callback([options, &body] { body = [options] { return info(*options); }; });
}

}  // namespace trefoil::tool
