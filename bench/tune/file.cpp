// SPDX-License-Identifier: BSD-3-Clause
// Reads what is there, changes one entry, and puts the whole in its place.
#include "bench/tune/file.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

std::string name_of(TuningRule::Types types) {
    return types == TuningRule::Types::any_order ? "any-order" : "fixed-order";
}

Json rule_of(const TunedCalls& of, const WinnersRange& range) {
    Json rule{{"collective", to_string(of.collective)}, {"algorithm", range.algorithm}};
    if (of.types != TuningRule::Types::all) {
        rule["types"] = name_of(of.types);
    }
    if (range.from > 0) {
        rule["from"] = range.from;
    }
    if (range.to < std::numeric_limits<std::size_t>::max()) {
        rule["to"] = range.to;
    }
    return rule;
}

/// What `old`, an entry or nothing, has of other collectives stays, and its numbers unless there
/// are new ones.
Json entry_of(const TunedJob& job, const Json& old) {
    Json entry{{"torus", job.key.torus},
               {"ranks_per_node", job.key.ranks_per_node},
               {"ports", job.key.ports},
               {"backend", job.key.backend},
               {"made", job.made}};
    for (const auto& [name, value] : job.numbers) {
        entry["model"][name] = value;
    }
    if (job.numbers.empty() && old.contains("model")) {
        entry["model"] = old["model"];
    }
    entry["rules"] = Json::array();
    for (const Json& rule : old.value("rules", Json::array())) {
        const bool is_new = std::ranges::any_of(job.calls, [&](const TunedCalls& of) {
            return to_string(of.collective) == rule["collective"].get<std::string>();
        });
        if (!is_new) {
            entry["rules"].push_back(rule);
        }
    }
    for (const TunedCalls& of : job.calls) {
        for (const WinnersRange& range : of.ranges) {
            entry["rules"].push_back(rule_of(of, range));
        }
    }
    return entry;
}

bool is_for(const Json& entry, const TuningKey& key) {
    return entry["torus"] == key.torus && entry["ranks_per_node"] == key.ranks_per_node &&
           entry["ports"] == key.ports && entry["backend"] == key.backend;
}

Json read(const std::string& path) {
    std::ifstream stream(path);
    return stream ? Json::parse(stream)
                  : Json{{"format", "trefoil-tuning"}, {"version", 1}, {"entries", Json::array()}};
}

std::filesystem::path beside(const std::string& path) {
    return path + "." + std::to_string(getpid());
}

}  // namespace

void require_tuning_file(const std::string& path) {
    if (std::filesystem::exists(path)) {
        read_tuning_file(path);
    }
    const bool writable = static_cast<bool>(std::ofstream(beside(path)));
    std::error_code ignored;
    std::filesystem::remove(beside(path), ignored);
    if (!writable) {
        throw Error(Status::invalid_argument,
                    "cannot write --output " + path + "; give a file in a folder that exists");
    }
}

void write_tuning_file(const std::string& path, const TunedJob& job) {
    Json file = read(path);
    Json& entries = file["entries"];
    const auto same =
        std::ranges::find_if(entries, [&](const Json& entry) { return is_for(entry, job.key); });
    if (same != entries.end()) {
        *same = entry_of(job, *same);
    } else {
        entries.push_back(entry_of(job, Json::object()));
    }
    const std::string text = file.dump(2) + "\n";
    parse_tuning_file(text, path);  // what is written can be read
    std::ofstream stream(beside(path));
    stream << text;
    stream.close();
    std::error_code failed;
    if (stream) {
        std::filesystem::rename(beside(path), path, failed);
    }
    if (!stream || failed) {
        throw Error(Status::system_error, "cannot write " + path);
    }
}

}  // namespace trefoil::tool
