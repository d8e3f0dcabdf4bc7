// SPDX-License-Identifier: BSD-3-Clause
// The subcommand: where pages and scripts go.
#include "bench/manual/manual.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "bench/common/help.hpp"
#include "bench/manual/completion.hpp"
#include "bench/manual/man.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {
namespace {

using WriteCompletion = std::string (*)(const std::vector<CommandText>&);
const std::map<std::string, WriteCompletion> shells = {
    {"bash", bash_completion}, {"fish", fish_completion}, {"zsh", zsh_completion}};

struct ManualOptions {
    std::string folder, shell;
};

int write_pages(const std::vector<CommandText>& all, const std::string& version,
                const std::filesystem::path& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    for (const CommandText& command : all) {
        const std::filesystem::path path = folder / (join(command.words, "-") + ".1");
        std::ofstream file(path);
        file << man_page(command, all, version);
        if (!file.flush()) {
            throw Error(Status::not_found, "cannot write " + path.string());
        }
    }
    return exit_success;
}

}  // namespace

void add_manual(CLI::App& app, const std::string& version, CommandBody& body) {
    auto options = std::make_shared<ManualOptions>();
    CLI::App* manual =
        app.add_subcommand("manual", "Write manual pages, or completion for a shell");
    CLI::Option* pages = manual->add_option("--pages", options->folder,
                                            "Write pages into this folder: one for each command");
    std::vector<std::string> names;
    for (const auto& [name, writer] : shells) {
        names.push_back(name);
    }
    CLI::Option* completion =
        manual
            ->add_option("--completion", options->shell,
                         "Print a script by which this shell completes the command's words")
            ->check(one_of(names));
    pages->excludes(completion);
    manual->footer("Example: source <(trefoil manual --completion bash)");
    manual->callback([&app, version, options, &body] {
        body = [&app, version, options] {
            const std::vector<CommandText> all = describe(app);
            if (!options->shell.empty()) {
                fmt::print("{}", shells.at(options->shell)(all));
                return static_cast<int>(exit_success);
            }
            if (options->folder.empty()) {
                throw Error(Status::invalid_argument, "manual needs --pages or --completion");
            }
            return write_pages(all, version, options->folder);
        };
    });
}

}  // namespace trefoil::tool
