// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the environment: lines of a variable's number, as a letter, and its value.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "comm/plan/choices.hpp"
#include "comm/setup/configuration.hpp"
#include "comm/setup/environment.hpp"
#include "tests/fuzz/target.hpp"
#include "topo/log/log_request.hpp"

FUZZ_TARGET(environment) {
    using namespace trefoil;
    const auto variables = environment_variables();
    std::string_view rest = fuzz::text_of(data, size);
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (!line.empty()) {
            const auto number = static_cast<unsigned char>(line[0]) - std::size_t{'A'};
            const std::string name(variables[number % variables.size()].name);
            setenv(name.c_str(), std::string(line.substr(1)).c_str(), 1);
        }
    }
    (void)unknown_variables();
    fuzz::refuses([] { (void)log_request_from_environment(); });
    fuzz::refuses([] {
        std::optional<Error> refusal;
        const Settings settings = settings_from_environment(refusal);
        if (refusal) {
            throw Error(*refusal);
        }
        fuzz::require(settings.timeout.count() > 0, "a time-out of nothing");
        (void)launcher_request(settings);
        (void)text_to_compare(settings, std::nullopt, 9);
        for (const AlgorithmRule& rule : split_choices(settings.algorithm)) {
            (void)parse_choice(rule.collective, rule.algorithm);
        }
    });
    for (const EnvironmentVariable& variable : variables) {
        unsetenv(std::string(variable.name).c_str());
    }
    return 0;
}
