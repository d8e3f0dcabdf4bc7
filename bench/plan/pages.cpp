// SPDX-License-Identifier: BSD-3-Clause
// Markdown that is readable as a text, too: short lines, narrow tables, details folded.
#include "bench/plan/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "algorithms/registry/registry.hpp"
#include "bench/common/names.hpp"
#include "bench/common/text_table.hpp"
#include "comm/plan/select.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns_of_a_page = 100;

constexpr std::string_view index_head = R"(# Algorithms

Every algorithm of every collective, with figures from the schedules that run: one page per
collective. `trefoil` writes this page and those below `algorithms/` from the table in the code
(`algorithms/registry`) and from the schedules. Do not edit them; write them again:

    trefoil plan --table --pages docs

For one collective and any tori, `trefoil plan` prints the same figures as a table, and as data with
`--json`. With `--summary` it proves one algorithm and reports the figures of each step:

    trefoil plan allreduce --table --torus 6x4,12
    trefoil plan allreduce --algorithm ring --torus 6x4 --summary

## Pages

`auto` is the choice that Trefoil makes when no algorithm is named. The lists below show it for
vectors of 1 KiB and of 16 MiB, by the cost model's defaults, on these tori: )";

constexpr std::string_view index_tail = R"(
## How to read them

- **Vector**: what one rank hands in or gets. Where ranks have blocks (reduce_scatter, allgather,
  gather, scatter) it is the blocks of all ranks together; in alltoall all blocks that a rank sends.
- **Shapes**: the tori on which an algorithm runs. "Every torus" means any number of dimensions, of
  any sizes.
- **Identical results**: every rank gets the same bits of a floating-point sum.
- **Rank order**: the sum is made in the order of the ranks, so operations that do not commute are
  allowed.
- **Options**: words that may follow the name behind a colon, such as `swing:send`. The number in
  `pieces-8` stands for any other.
- **Parts**: slices of the vector that run side by side.
- **Ports**: through how many a rank sends in one step, at most.
- **Messages**: how many of them go through one port in one step, at most.
- **Steps**: those in which any rank sends.
- **Busiest rank, all ranks**: what is sent, in vectors, by the rank that sends most and by all.
- **Load**: what crosses the busiest directed link in a step, in vectors, summed over the steps.
  Messages take minimal dimension-ordered routes, half and half where both ways are equally long.
  Times the number of dimensions, the load of an allreduce is its transmission deficiency, of which
  1 is the least; [papers.md](papers.md) has large tori.
- **One port**: `name:single-port` sends and receives one message at a time, for machines with one
  port per rank. It is what the paper has, except for recursive doubling and halving, which here go
  through the ranks in a line: on a torus the papers compare with `recursive-doubling-torus-l` and
  `-b`, which take its dimensions in turn.
- `signals` and `barrier` keep the phases of an alltoall apart, for networks in which messages that
  meet block each other.
)";

/// What would begin a list, a heading or a quotation at the beginning of a line.
bool begins_a_block(std::string_view word) {
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    return word.find_first_not_of("-+*#>|=") == std::string_view::npos ||
           (digits > 0 && digits < word.size() && (word[digits] == '.' || word[digits] == ')'));
}

/// `text` in lines that fit a page; those after the first begin with `indent`.
std::string wrapped(const std::string& text, const std::string& indent = "") {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
        if (!words.empty() && begins_a_block(word)) {
            words.back() += " " + word;
        } else {
            words.push_back(word);
        }
    }
    std::string all, line;
    for (const std::string& word : words) {
        if (!line.empty() && line.size() + 1 + word.size() > columns_of_a_page) {
            all += line + "\n";
            line = indent + word;
        } else {
            line += (line.empty() ? "" : " ") + word;
        }
    }
    return all + line + "\n";
}

std::string item(const std::string& text) {
    return wrapped("- " + text, "  ");
}

std::string capitalized(std::string text) {
    if (!text.empty()) {
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    }
    return text;
}

Collective collective_of(const Json& page) {
    return find_collective(page["collective"].get<std::string>());
}

std::string number(const Json& figures, const char* name) {
    return fmt::format("{:.4g}", figures[name].get<double>());
}

/// A row per algorithm, a column per torus: one figure, to compare. The variants for one port would
/// make the table too wide.
std::string comparison(const Json& collective, const char* figure) {
    std::vector<std::string> columns{"algorithm"};
    for (const Json& torus : collective["tori"]) {
        columns.push_back(torus.get<std::string>());
    }
    Json rows = Json::array();
    for (const Json& a : collective["algorithms"]) {
        if (!a["single_port"].get<bool>()) {
            Json row{{"algorithm", a["name"]}};
            for (const auto& [torus, figures] : a["on"].items()) {
                row[torus] = figures.contains("refusal") ? "-" : number(figures, figure);
            }
            rows.push_back(std::move(row));
        }
    }
    return markdown_table(rows, columns);
}

/// All figures of one entry, a row per torus, folded; and below why it refuses the others.
std::string figures(const Json& entry, bool has_data) {
    std::vector<std::string> columns{"torus", "parts", "ports", "messages", "steps"};
    if (has_data) {
        columns.insert(columns.end(), {"busiest rank", "all ranks", "load"});
    }
    Json rows = Json::array();
    std::vector<std::pair<std::string, std::string>> refused;  // reason, tori
    for (const auto& [torus, f] : entry["on"].items()) {
        if (f.contains("refusal")) {
            const auto reason = f["refusal"].get<std::string>();
            if (refused.empty() || refused.back().first != reason) {
                refused.emplace_back(reason, torus);
            } else {
                refused.back().second += ", " + torus;
            }
            continue;
        }
        rows.push_back({{"torus", torus},
                        {"parts", number(f, "parts")},
                        {"ports", number(f, "ports")},
                        {"messages", number(f, "messages_per_port")},
                        {"steps", number(f, "steps")},
                        {"busiest rank", number(f, "bytes_sent_max")},
                        {"all ranks", number(f, "bytes_sent_total")},
                        {"load", number(f, "sum_link_load")}});
    }
    std::string text = fmt::format("\n<details>\n<summary>Figures{}</summary>\n",
                                   entry["single_port"].get<bool>() ? ", one port" : "");
    text += rows.empty() ? "" : "\n" + markdown_table(rows, columns);
    text += refused.empty() ? "" : "\n";
    for (const auto& [reason, tori] : refused) {
        text += item(fmt::format("Not on {}: {}.", tori, reason));
    }
    return text + "\n</details>\n";
}

/// When the automatic choice takes it, or why not; empty: wherever the model says so.
std::string automatic(const Algorithm& a) {
    if (a.traits.by_image) {
        return "`auto` takes it only where all ranks map each other's shared memory.";
    }
    if (a.traits.reads_peers) {
        return "`auto` takes it only where all ranks reach each other's memory.";
    }
    if (!a.traits.identical_results) {
        return "`auto` never takes it, since ranks may get different bits.";
    }
    if (a.selection.most_ranks == 0) {
        return "`auto` never takes it; it runs where it is named.";
    }
    if (a.traits.order_preserving && a.traits.cost_class == CostClass::bandwidth &&
        !traits_of(a.collective).is_prefix()) {
        return "`auto` takes it only for operations that do not commute.";
    }
    if (a.selection.tori != Tori::all) {
        return fmt::format(
            "`auto` considers it where the network is not a whole torus{}, on up to {} ranks.",
            a.selection.tori == Tori::unequal ? ", or one of up to 256 nodes whose sizes differ"
                                              : "",
            a.selection.most_ranks);
    }
    return a.selection.most_ranks < std::numeric_limits<Rank>::max()
               ? fmt::format("`auto` considers it on up to {} ranks.", a.selection.most_ranks)
               : "";
}

std::string_view order_of(const Algorithm& a) {
    if (traits_of(a.collective).is_prefix()) {
        return a.traits.order_preserving
                   ? "Goes from the lowest rank to the highest: the same bits on every shape."
                   : "Keeps the order of the ranks, and joins groups of them.";
    }
    return a.traits.order_preserving ? "Reduces in rank order." : "Operations must commute.";
}

std::string about(const Algorithm& a) {
    const CollectiveTraits& traits = traits_of(a.collective);
    std::string text = fmt::format("\n## {}\n\n", a.name);
    text += wrapped(capitalized(std::string(a.summary)) + ".") + "\n";
    text += item(fmt::format("Source: {}.", a.paper));
    text += item(fmt::format("Shapes: {}.", a.shapes));
    text += traits.with_neighbours()
                ? ""  // nothing else does it
                : item(fmt::format("Meant for {} vectors.",
                                   a.traits.cost_class == CostClass::latency ? "small" : "large"));
    if (traits.reduces) {
        text += item(std::string(order_of(a)));
        text += a.traits.identical_results ? "" : item("Results may differ in the last bits.");
    }
    if (a.traits.vector_variant) {
        text +=
            item(traits.rooted()
                     ? fmt::format("Also for nonblocking and persistent {}.", traits.vector_variant)
                     : fmt::format("Takes blocks of any sizes ({}).", traits.vector_variant));
    }
    const std::string rule = automatic(a);
    text += rule.empty() ? "" : item(rule);
    std::vector<std::string> words;
    for (const std::string& word : modifiers(a.abilities)) {
        words.push_back("`" + word + "`");
    }
    text += words.empty() ? "" : item(fmt::format("Options: {}.", fmt::join(words, ", ")));
    return text;
}

std::string page(const Json& collective) {
    const Collective which = collective_of(collective);
    const CollectiveTraits& traits = traits_of(which);
    std::string text = fmt::format("# Algorithms of {}\n\n", traits.name);
    text += "Written by `trefoil plan --table --pages`; do not edit.\n";
    text += "[algorithms.md](../algorithms.md) says what the words and columns mean.\n";
    text += traits.rooted() ? "Any rank can be the root; the figures are those of root 0.\n" : "";
    text += "\nSteps on each torus (`-`: refused):\n\n" + comparison(collective, "steps");
    if (traits.has_data()) {
        text += "\nLoad on each torus, in vectors:\n\n" + comparison(collective, "sum_link_load");
    }
    for (const Json& entry : collective["algorithms"]) {
        if (!entry["single_port"].get<bool>()) {
            text += about(find_algorithm(which, entry["name"].get<std::string>()));
        }
        text += figures(entry, traits.has_data());
    }
    return text;
}

/// What auto takes on any of the tori.
std::string taken(Collective collective, const Json& tori, std::size_t bytes) {
    std::vector<std::string> names;
    for (const Json& torus : tori) {
        const Torus shape = Torus::parse(torus.get<std::string>());
        const std::string name =
            fmt::format("`{}`", choose_algorithm(collective, shape, bytes).choice.algorithm->name);
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// The collective's line in the index.
std::string line(const Json& page) {
    const Collective which = collective_of(page);
    const auto count = std::count_if(page["algorithms"].begin(), page["algorithms"].end(),
                                     [](const Json& a) { return !a["single_port"].get<bool>(); });
    std::string text = fmt::format("[{0}](algorithms/{0}.md): {1} algorithm{2}.", to_string(which),
                                   count, count == 1 ? "" : "s");
    if (traits_of(which).has_data()) {
        text += fmt::format(" `auto` takes {} for 1 KiB; {} for 16 MiB.",
                            taken(which, page["tori"], std::size_t{1} << 10),
                            taken(which, page["tori"], std::size_t{1} << 24));
    } else {
        text += fmt::format(" `auto` takes {}.", taken(which, page["tori"], 0));
    }
    return item(text);
}

}  // namespace

std::vector<Page> algorithm_pages(const Json& table) {
    const auto tori = table.front()["tori"].get<std::vector<std::string>>();
    // The list of tori ends the last sentence of the head, which is wrapped with it.
    const std::size_t sentences = index_head.rfind("\n\n") + 2;
    std::string index(index_head.substr(0, sentences));
    index += wrapped(fmt::format("{}{}.", index_head.substr(sentences), fmt::join(tori, ", ")));
    index += "\n";
    std::vector<Page> pages{{"algorithms.md", ""}};
    for (const Json& collective : table) {
        index += line(collective);
        pages.push_back({fmt::format("algorithms/{}.md", to_string(collective_of(collective))),
                         page(collective)});
    }
    pages.front().text = index + std::string(index_tail);
    return pages;
}

void require_folder(const std::string& folder) {
    if (!std::filesystem::is_directory(folder)) {
        throw Error(Status::invalid_argument,
                    "there is no folder " + folder + " for the pages; make it first");
    }
}

void write_pages(const std::vector<Page>& pages, const std::string& folder) {
    for (const Page& page : pages) {
        const std::filesystem::path path = std::filesystem::path(folder) / page.path;
        std::error_code error;
        std::filesystem::create_directories(path.parent_path(), error);
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << page.text;
        file.close();
        if (!file) {
            throw Error(Status::invalid_argument, "cannot write " + path.string());
        }
    }
}

}  // namespace trefoil::tool
