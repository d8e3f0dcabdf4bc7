// SPDX-License-Identifier: BSD-3-Clause
// Proof first, then data, then the page.
#include "bench/plan/play.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/common/busy.hpp"
#include "bench/common/command.hpp"
#include "bench/common/names.hpp"
#include "bench/plan/summary.hpp"
#include "bench/player/page.hpp"
#include "bench/player/schedule_data.hpp"

namespace trefoil::tool {

int write_playing_page(const PlayOptions& options, const Torus& torus, const Choice& choice) {
    require_place_for(options.file);
    std::vector<Choice> choices{choice};
    if (options.beside) {
        choices.push_back(*options.beside);
    }
    auto plans = nlohmann::ordered_json::array();
    std::string names;
    for (const Choice& one : choices) {
        // The data comes first: it is refused at once when there is too much of it.
        plans.push_back([&] {
            const Busy busy(fmt::format("collecting the schedules of {} ranks", torus.ranks()));
            return schedule_data(torus, one, std::nullopt);
        }());
        const std::optional<bool> proved = prove(options.skip_proof, torus, one);
        if (proved && !*proved) {
            fmt::print(stderr, "{} is wrong on torus {}; no page was written\n", to_string(one),
                       torus.name());
            return exit_wrong;
        }
        plans.back()["proved"] =
            proved ? nlohmann::ordered_json(*proved) : nlohmann::ordered_json();
        names += (names.empty() ? "" : " and ") + to_string(one);
    }
    const std::string page = player_page(plans);
    write_page(options.file, page);
    fmt::print("{} by {} on torus {}: {} ({:.0f} KiB); open it in a browser\n",
               to_string(choice.algorithm->collective), names, torus.name(), options.file,
               static_cast<double>(page.size()) / 1024);
    return exit_success;
}

}  // namespace trefoil::tool
