// SPDX-License-Identifier: BSD-3-Clause
// The order in which launchers are looked for, and the way to meet that each of them gives.
#include "backend/bootstrap/launcher.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "backend/bootstrap/launcher_rounds.hpp"
#include "backend/bootstrap/launcher_store.hpp"
#include "backend/bootstrap/pmi.hpp"
#include "backend/bootstrap/pmix.hpp"
#include "topo/error.hpp"
#include "topo/log/log.hpp"
#include "topo/variable.hpp"

namespace trefoil {

namespace {

using Clock = LauncherLink::Clock;

constexpr std::array<std::pair<Launcher, std::string_view>, 4> names{{
    {Launcher::store, "store"},
    {Launcher::pmix, "pmix"},
    {Launcher::pmi, "pmi"},
    {Launcher::single, "single"},
}};

/// A number of PMI's environment, at least `least`.
int pmi_number(const char* name, int least) {
    const std::string value = environment_variable(name).value_or("");
    int number = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || stop != value.data() + value.size() || number < least) {
        throw Error(Status::invalid_argument,
                    "PMI: " + std::string(name) + "=\"" + value +
                        "\" makes no sense; start with MPICH's mpirun, which sets PMI_FD, PMI_RANK "
                        "and PMI_SIZE, or choose another way with TREFOIL_LAUNCHER");
    }
    return number;
}

std::unique_ptr<LauncherLink> open_pmi(Clock::time_point until) {
    const int descriptor = pmi_number("PMI_FD", 0);
    const int rank = pmi_number("PMI_RANK", 0);
    const int ranks = pmi_number("PMI_SIZE", rank + 1);
    return make_pmi_link(descriptor, rank, ranks, until);
}

std::unique_ptr<LauncherLink> open_link(Launcher launcher, Clock::time_point until) {
    return launcher == Launcher::pmix ? make_pmix_link(until) : open_pmi(until);
}

/// The process's one link to its launcher, which takes no second greeting. The launcher expects a
/// farewell from every process, also from one that exits with its communicators in place.
class ProcessLink {
  public:
    void close() {
        if (rounds_ && getpid() == owner_) {  // not a child after fork(): the link is its parent's
            rounds_->close();
        }
    }

    std::shared_ptr<LauncherRounds> get(Launcher launcher, Clock::time_point until) {
        const std::lock_guard lock(mutex_);
        if (!rounds_) {
            rounds_ = std::make_shared<LauncherRounds>(open_link(launcher, until));
            owner_ = getpid();
        }
        return rounds_;
    }

  private:
    std::mutex mutex_;  // guards all below
    std::shared_ptr<LauncherRounds> rounds_;
    pid_t owner_ = -1;
};

using ProcessLinks = std::array<ProcessLink, names.size()>;

ProcessLinks& process_links() {
    static auto& links = *[] {
        std::atexit([] {
            for (ProcessLink& link : process_links()) {
                link.close();
            }
        });
        return new ProcessLinks;
    }();
    return links;
}

std::unique_ptr<Bootstrap> make_by_launcher(Launcher launcher, const LauncherRequest& request) {
    auto rounds = process_links()
                      .at(static_cast<std::size_t>(launcher))
                      .get(launcher, Clock::now() + request.deadline);
    return make_rounds_bootstrap(std::move(rounds), request.job, request.deadline);
}

std::unique_ptr<Bootstrap> make_by_store(const LauncherRequest& request) {
    if (request.ranks == 0) {
        throw Error(Status::invalid_argument,
                    "TREFOIL_SIZE is not set, so the store cannot know when all ranks are there; "
                    "give TREFOIL_RANK, TREFOIL_SIZE and TREFOIL_STORE, or start with `trefoil run "
                    "-n RANKS -- PROGRAM`");
    }
    return request.ranks == 1 ? make_single_bootstrap() : make_served_store_bootstrap(request);
}

}  // namespace

std::string_view to_string(Launcher launcher) {
    return names.at(static_cast<std::size_t>(launcher)).second;
}

std::optional<Launcher> launcher_named(std::string_view name) {
    for (const auto& [launcher, its_name] : names) {
        if (its_name == name) {
            return launcher;
        }
    }
    return std::nullopt;
}

LauncherChoice choose_launcher(const LauncherRequest& request) {
    if (request.launcher) {
        return {*request.launcher,
                "TREFOIL_LAUNCHER is " + std::string(to_string(*request.launcher))};
    }
    if (!request.store.empty() || request.ranks != 0) {
        return {Launcher::store, request.store.empty() ? "TREFOIL_SIZE is set"
                                                       : "TREFOIL_STORE is " + request.store};
    }
    if (environment_variable("PMIX_NAMESPACE") && environment_variable("PMIX_RANK")) {
        return {Launcher::pmix, "PMIX_NAMESPACE and PMIX_RANK are set"};
    }
    if (environment_variable("PMI_FD")) {
        return {Launcher::pmi, "PMI_FD is set"};
    }
    return {Launcher::single, "no launcher has set its variables"};
}

std::unique_ptr<Bootstrap> make_launcher_bootstrap(const LauncherRequest& request) {
    const LauncherChoice choice = choose_launcher(request);
    const Launcher launcher = choice.launcher;
    log_info(LogTopic::setup, [&] {
        return "the ranks meet by " + std::string(to_string(launcher)) + ": " + choice.reason;
    });
    switch (launcher) {
        case Launcher::store:
            return make_by_store(request);
        case Launcher::pmix:
        case Launcher::pmi:
            return make_by_launcher(launcher, request);
        case Launcher::single:
            break;
    }
    return make_single_bootstrap();
}

}  // namespace trefoil
