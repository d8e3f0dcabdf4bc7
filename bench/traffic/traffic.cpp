// SPDX-License-Identifier: BSD-3-Clause
// The command line of `trefoil traffic`, and its table.
#include "bench/traffic/traffic.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/common/busy.hpp"
#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/schedule_file.hpp"
#include "bench/common/text_table.hpp"
#include "bench/traffic/allocation.hpp"
#include "bench/traffic/crossing.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* traffic_footer =
    R"(Machines are often cheap within a group of hosts and dear between groups: within a
Dragonfly's group, below one switch of a fat tree, in one box of a large torus. This adds up
what crosses from group to group, whatever links it takes there. Crossing and sent are in
vectors, all messages of all ranks together. "less" is 1 - crossing / crossing of the first
algorithm of the list; negative where it crosses more.

Groups are given in one of five ways:
  --groups a*2,b*7,a   ranks 0 and 1 are on hosts of group a, then seven of b, one of a
  --hosts FILE         a line HOST GROUP for each rank, in their order
  --allocations FILE   many jobs, a line NAME: a*2,b*7 for each; a table row for each
  --group-size 124     groups of that many consecutive hosts, on --torus
  --boxes 4x4          the torus cut into boxes

Without --torus the ranks are one ring, a line for algorithms with :single-port.
--order says on which host a rank runs: given (rank r on the r-th host), rotated (the best of
all rotations of that), aligned (hosts of a group side by side, the largest group first), or
least (the best of all these).

Example: trefoil traffic allreduce -a recursive-doubling-b:single-port,bine-large:single-port
           --groups a*3,b*5 --order given,rotated)";

struct TrafficOptions {
    std::string collective, algorithms, torus, groups, hosts, allocations, boxes;
    std::string orders = "given", bytes;
    Rank group_size = 0, root = 0;
    bool json = false;
};

std::vector<Allocation> allocations_of(const TrafficOptions& options) {
    const int given = static_cast<int>(!options.groups.empty()) + !options.hosts.empty() +
                      !options.allocations.empty() + !options.boxes.empty() +
                      (options.group_size != 0);
    if (given != 1) {
        throw Error(Status::invalid_argument,
                    "say once which hosts are in which group: --groups a*2,b*7, --hosts FILE, "
                    "--allocations FILE, --group-size N or --boxes SIZES");
    }
    if (!options.groups.empty()) {
        return {parse_allocation("allocation", options.groups)};
    }
    if (!options.hosts.empty()) {
        return {parse_hosts(options.hosts, read_text_file(options.hosts))};
    }
    if (!options.allocations.empty()) {
        return parse_allocations(options.allocations, read_text_file(options.allocations));
    }
    if (options.torus.empty()) {
        throw Error(Status::invalid_argument,
                    "--group-size and --boxes cut a torus: add --torus SIZES");
    }
    const Torus torus = Torus::parse(options.torus);
    return {options.boxes.empty() ? equal_groups(torus.ranks(), options.group_size)
                                  : boxes_of(torus, options.boxes)};
}

class TrafficTable {
  public:
    explicit TrafficTable(const TrafficOptions& options)
        : options_(options),
          collective_(find_collective(options.collective)),
          algorithms_(split_list(options.algorithms)) {
        for (const std::string& order : split_list(options.orders)) {
            orders_.emplace_back(order, parse_host_order(order));
        }
        if (options.root != 0 && !traits_of(collective_).rooted()) {
            throw Error(Status::invalid_argument,
                        fmt::format("{} has no root; leave --root out", to_string(collective_)));
        }
        if (traits_of(collective_).in.data == Data::none) {
            throw Error(Status::invalid_argument,
                        fmt::format("{} moves no data", to_string(collective_)));
        }
    }

    Json rows() {
        const std::vector<Allocation> allocations = allocations_of(options_);
        Json rows = Json::array();
        for (const Allocation& allocation : allocations) {
            for (const auto& [name, order] : orders_) {
                double first = 0;
                for (const std::string& algorithm : algorithms_) {
                    Json row = row_of(allocation, algorithm, order);
                    const double crossing = row["crossing"];
                    if (algorithm == algorithms_.front()) {
                        first = crossing;
                    }
                    row["less"] = first > 0 ? Json(1 - crossing / first) : Json();
                    rows.push_back(std::move(row));
                }
            }
        }
        return rows;
    }

  private:
    Json row_of(const Allocation& allocation, const std::string& algorithm, HostOrder order) {
        const auto hosts = static_cast<Rank>(allocation.group_of.size());
        const Torus torus = options_.torus.empty() ? Torus({hosts}) : Torus::parse(options_.torus);
        if (torus.ranks() != hosts) {
            throw Error(Status::invalid_argument,
                        fmt::format("{} has {} hosts, but the torus {} has {} ranks; give each "
                                    "rank one host",
                                    allocation.name, hosts, torus.name(), torus.ranks()));
        }
        const PairTraffic& traffic = traffic_of(torus, algorithm);
        const Crossing crossing = least_crossing(traffic, allocation, order);
        Json row{{"allocation", allocation.name}, {"hosts", hosts},
                 {"groups", allocation.groups},   {"algorithm", algorithm},
                 {"order", crossing.order()},     {"sent", traffic.total()},
                 {"crossing", crossing.vectors}};
        if (!options_.bytes.empty()) {
            row["crossing_bytes"] =
                crossing.vectors * static_cast<double>(parse_size(options_.bytes));
        }
        return row;
    }

    /// Counted once for each torus and algorithm.
    const PairTraffic& traffic_of(const Torus& torus, const std::string& algorithm) {
        const auto key = torus.name() + " " + algorithm;
        auto found = counted_.find(key);
        if (found == counted_.end()) {
            Choice choice = parse_choice(collective_, algorithm);
            if (choice.algorithm == nullptr) {
                throw Error(Status::invalid_argument,
                            "auto depends on the vector; name the algorithms");
            }
            choice.options.root = options_.root;
            const std::string reason = refusal(choice, torus);
            if (!reason.empty()) {
                throw Error(Status::unsupported, reason);
            }
            found = counted_.try_emplace(key, torus, choice).first;
        }
        return found->second;
    }

    const TrafficOptions& options_;
    Collective collective_;
    std::vector<std::string> algorithms_;
    std::vector<std::pair<std::string, HostOrder>> orders_;
    std::map<std::string, PairTraffic> counted_;
};

std::string table_text(const Json& rows, const TrafficOptions& options) {
    Json texts = Json::array();
    for (const Json& row : rows) {
        Json text{{"allocation", row["allocation"]},
                  {"hosts", std::to_string(row["hosts"].get<Rank>())},
                  {"groups", std::to_string(row["groups"].get<int>())},
                  {"algorithm", row["algorithm"]},
                  {"order of hosts", row["order"]},
                  {"sent", fmt::format("{:.6g}", row["sent"].get<double>())},
                  {"crossing", fmt::format("{:.6g}", row["crossing"].get<double>())},
                  {"less", row["less"].is_null()
                               ? "-"
                               : fmt::format("{:.1f} %", 100 * row["less"].get<double>())}};
        if (!options.bytes.empty()) {
            text["bytes"] = fmt::format("{:.0f}", row["crossing_bytes"].get<double>());
        }
        texts.push_back(std::move(text));
    }
    std::vector<std::string> columns{"allocation",     "hosts", "groups",   "algorithm",
                                     "order of hosts", "sent",  "crossing", "less"};
    if (!options.bytes.empty()) {
        columns.emplace_back("bytes");
    }
    return text_table(texts, columns);
}

int traffic(const TrafficOptions& options) {
    if (options.collective.empty() || options.algorithms.empty()) {
        throw Error(Status::invalid_argument,
                    "traffic needs a collective and --algorithm NAMES, e.g. trefoil traffic "
                    "allreduce --algorithm ring,bine-large --groups a*3,b*5");
    }
    const Json rows = [&] {
        const Busy busy("counting what crosses");
        return TrafficTable(options).rows();
    }();
    fmt::print("{}", options.json ? rows.dump() + "\n" : table_text(rows, options));
    return exit_success;
}

}  // namespace

void add_traffic(CLI::App& app, CommandBody& body) {
    auto options = std::make_shared<TrafficOptions>();
    CLI::App* command =
        app.add_subcommand("traffic", "Count what crosses between groups of a machine's hosts");
    command->add_option("collective", options->collective, "allreduce, bcast, ...");
    command->add_option(
        "-a,--algorithm", options->algorithms,
        "Name of an algorithm, or a comma list, with modifiers or without; others are "
        "compared with the first");
    take_network_files(command->add_option(
        "-t,--torus", options->torus,
        "Sizes of the torus, such as 3x3, or FILE.json (default: one ring of all hosts)"));
    command->add_option("--groups", options->groups, "The groups of the hosts: a*2,b*7,a");
    command->add_option("--hosts", options->hosts, "A file with a line HOST GROUP for each rank")
        ->type_name("FILE");
    command
        ->add_option("--allocations", options->allocations,
                     "A file with a line NAME: a*2,b*7 for each of many jobs")
        ->type_name("FILE");
    command->add_option("--group-size", options->group_size,
                        "Groups of this many consecutive hosts");
    command->add_option("--boxes", options->boxes, "Boxes of the torus as groups: 4x4");
    command->add_option("--order", options->orders,
                        "given, rotated, aligned or least, or several (default: given)");
    command->add_option("--root", options->root,
                        "Root of bcast, reduce, gather and scatter (default: 0)");
    command->add_option("--bytes", options->bytes, "Bytes of the vector; reports bytes, too");
    command->add_flag("--json", options->json, "Print JSON: an array of objects");
    command->footer(traffic_footer);
    command->callback([options, &body] { body = [options] { return traffic(*options); }; });
}

}  // namespace trefoil::tool
