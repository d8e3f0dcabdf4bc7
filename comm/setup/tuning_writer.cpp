// SPDX-License-Identifier: BSD-3-Clause
// Reads what is there, changes one entry, and puts the whole in its place.
#include "comm/setup/tuning_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "comm/setup/build_identity.hpp"
#include "topo/descriptor.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"
#include "topo/regular_file.hpp"

namespace trefoil {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of(const TuningRule& rule) {
    OrderedJson json{
        {"collective", to_string(rule.collective)},
        {"algorithm", std::string(rule.algorithm->name) + modifiers_text(rule.options)}};
    if (rule.types != TuningRule::Types::all) {
        json["types"] = rule.types == TuningRule::Types::any_order ? "any-order" : "fixed-order";
    }
    if (rule.bytes.least > 0) {
        json["from"] = rule.bytes.least;
    }
    if (rule.bytes.most < std::numeric_limits<std::size_t>::max()) {
        json["to"] = rule.bytes.most;
    }
    if (rule.learned) {
        json["learned"] = true;
    }
    return json;
}

/// By collective and size, as people read them.
void sort(std::vector<TuningRule>& rules) {
    const auto place = [](const TuningRule& rule) {
        return std::tuple(rule.collective, rule.types, rule.bytes.least);
    };
    std::ranges::sort(rules, {}, place);
}

OrderedJson entry_of(const TunedJob& job, std::vector<TuningRule> rules,
                     const OrderedJson& old_model) {
    OrderedJson entry{{"torus", job.key.torus},
                      {"ranks_per_node", job.key.ranks_per_node},
                      {"ports", job.key.ports},
                      {"backend", job.key.backend},
                      {"made", job.made}};
    for (const auto& [name, value] : job.numbers) {
        entry["model"][name] = value;
    }
    if (job.numbers.empty() && !old_model.is_null()) {
        entry["model"] = old_model;
    }
    sort(rules);
    entry["rules"] = OrderedJson::array();
    for (const TuningRule& rule : rules) {
        entry["rules"].push_back(json_of(rule));
    }
    return entry;
}

std::filesystem::path beside(const std::string& path) {
    return path + "." + std::to_string(getpid());
}

std::string whole_text(const std::string& path, const TunedJob& job) {
    if (!std::filesystem::exists(path)) {
        return OrderedJson{{"format", "trefoil-tuning"},
                           {"version", 1},
                           {"entries", OrderedJson::array({entry_of(job, job.rules, nullptr)})}}
            .dump(2);
    }
    const TuningFile file = read_tuning_file(path);
    OrderedJson json = OrderedJson::parse(read_regular_file(path, "tuning file"));
    const auto old = std::ranges::find(file.entries, job.key, &TuningEntry::key);
    if (old == file.entries.end()) {
        json["entries"].push_back(entry_of(job, job.rules, nullptr));
    } else {
        OrderedJson& entry = json["entries"][static_cast<std::size_t>(old - file.entries.begin())];
        const OrderedJson model = entry.value("model", OrderedJson());
        entry = entry_of(job, with_rules(old->rules, job.rules), model);
    }
    return json.dump(2);
}

}  // namespace

std::string made_here() {
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    std::array<char, 16> date{};
    std::strftime(date.data(), date.size(), "%Y-%m-%d", &day);
    const std::string build = build_identity();
    return "trefoil " + build.substr(0, build.find(' ')) + ", " + date.data() + ", " + host_name() +
           ", " + machine_text();
}

void require_tuning_file(const std::string& path) {
    if (std::filesystem::exists(path)) {
        read_tuning_file(path);
    }
    const bool writable = static_cast<bool>(std::ofstream(beside(path)));
    std::error_code ignored;
    std::filesystem::remove(beside(path), ignored);
    if (!writable) {
        throw Error(Status::invalid_argument, "cannot write the tuning file " + path +
                                                  "; give a file in a folder that exists");
    }
}

void write_tuning_file(const std::string& path, const TunedJob& job) {
    const std::string text = whole_text(path, job) + "\n";
    parse_tuning_file(text, path);  // what is written can be read
    hold_standard_descriptors();    // the program may print while the file is written
    std::ofstream stream(beside(path));
    stream << text;
    stream.close();
    std::error_code failed;
    if (stream) {
        std::filesystem::rename(beside(path), path, failed);
    }
    if (!stream || failed) {
        throw Error(Status::system_error, "cannot write the tuning file " + path);
    }
}

}  // namespace trefoil
