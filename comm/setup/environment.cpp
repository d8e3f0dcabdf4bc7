// SPDX-License-Identifier: BSD-3-Clause
// Settings from the environment: how ranks meet first, then the rows of the table.
#include "comm/setup/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "algorithms/schedule/nearest_names.hpp"
#include "comm/setup/environment_reading.hpp"

namespace trefoil {

std::vector<std::string> unknown_variables() {
    std::vector<std::string> known;
    for (const EnvironmentVariable& v : environment_variables()) {
        known.emplace_back(v.name);
    }
    const std::vector<std::string_view> old = old_names();
    std::vector<std::string> messages;
    bool ignored = false;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string name(text.substr(0, text.find('=')));
        if (!name.starts_with("TREFOIL_") ||
            std::find(known.begin(), known.end(), name) != known.end() ||
            std::find(old.begin(), old.end(), name) != old.end()) {
            ignored |= name.starts_with("TREFOIL_") && ignores_environment();
            continue;
        }
        std::string message = "unknown environment variable " + name;
        const auto nearest = nearest_names(name, known);
        if (!nearest.empty()) {
            message += "; did you mean " + nearest[0] + "?";
        }
        messages.push_back(message);
    }
    if (ignored) {
        messages.emplace_back(
            "this program runs with other rights than its user (set-uid, or "
            "capabilities), so Trefoil ignores its environment variables; use trefoil_config_t");
    }
    return messages;
}

namespace {

void refuse_old_names() {
    for (const std::string_view name : old_names()) {
        if (environment_variable(name.data())) {
            refuse_old_name(name);
        }
    }
}

void read_launcher(std::optional<Launcher>& target) {
    const auto value = environment_variable("TREFOIL_LAUNCHER");
    if (value && *value != "auto") {
        target = launcher_named(*value);
        if (!target) {
            refuse_value("TREFOIL_LAUNCHER", *value, "give auto, store, pmix, pmi or single");
        }
    }
}

/// The place in the job, as `trefoil run` or the user gives it.
void read_place(Settings& s) {
    constexpr Rank most = 2147483647;
    read_number("TREFOIL_SIZE", s.ranks, Rank{1}, most, "give the number of ranks, at least 1");
    read_number("TREFOIL_RANK", s.rank, Rank{0}, most, "give a rank, 0 or more");
    if (s.rank > 0 && s.rank >= s.ranks) {
        refuse_value("TREFOIL_RANK", std::to_string(s.rank),
                     s.ranks == 0 ? "set TREFOIL_SIZE, too: the number of ranks"
                                  : "it must be smaller than TREFOIL_SIZE (" +
                                        std::to_string(s.ranks) + ")");
    }
}

}  // namespace

Settings settings_from_environment() {
    std::optional<Error> refusal;
    Settings settings = settings_from_environment(refusal);
    if (refusal) {
        throw Error(*refusal);
    }
    return settings;
}

Settings settings_from_environment(std::optional<Error>& refusal) {
    Settings s;
    const auto succeeds = [&refusal](const auto& read) {
        try {
            read();
            return true;
        } catch (const Error& error) {
            refusal = refusal ? refusal : error;
            return false;
        }
    };
    succeeds(refuse_old_names);
    succeeds([&] { read_launcher(s.launcher); });
    s.place_is_known = succeeds([&] { read_place(s); });
    read_text("TREFOIL_STORE", s.store);
    read_text("TREFOIL_TOKEN", s.token);
    read_text("TREFOIL_JOB", s.job);
    succeeds([&] { read_seconds("TREFOIL_TIMEOUT", s.timeout); });
    succeeds([&] {
        for (const EnvironmentVariable& each : environment_variables()) {
            if (each.read != nullptr) {
                each.read(each.name.data(), s);
            }
        }
    });
    return s;
}

LauncherRequest launcher_request(const Settings& settings, const std::string& job) {
    LauncherRequest request;
    request.launcher = settings.launcher;
    request.store = settings.store;
    request.token = settings.token;
    request.job = settings.job + "." + job;
    request.rank = settings.rank;
    request.ranks = settings.ranks;
    request.deadline = settings.timeout;
    return request;
}

}  // namespace trefoil
