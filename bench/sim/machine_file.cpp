// SPDX-License-Identifier: BSD-3-Clause
// The reader of machine files; machine.schema.json says the same in the words of JSON Schema.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "algorithms/schedule/nearest_names.hpp"
#include "bench/sim/machine.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"
#include "topo/json_reason.hpp"

namespace trefoil::tool {

namespace {

using PlainJson = nlohmann::json;

/// The file, for messages, and what is wrong in it.
class Reader {
  public:
    explicit Reader(std::string file) : file_(std::move(file)) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(Status::invalid_argument, "machine file " + file_ + ": " + why);
    }

    template <typename Parse>
    auto understood(const std::string& key, Parse&& parse) const {
        try {
            return parse();
        } catch (const Error& error) {
            refuse("\"" + key + "\": " + error.what());
        }
    }

    std::string text(const std::string& key, const PlainJson& value, const char* example) const {
        if (!value.is_string()) {
            refuse(fmt::format("\"{}\" must be a text{}, but is {}", key, example, value.dump()));
        }
        return value.get<std::string>();
    }
    double rate(const std::string& key, const PlainJson& value) const {
        const std::string typed = text(key, value, ", such as \"400Gbit\"");
        return understood(key, [&] { return parse_rate(typed); });
    }
    double time(const std::string& key, const PlainJson& value) const {
        const std::string typed = text(key, value, ", such as \"500ns\"");
        return understood(key, [&] { return parse_time(typed); });
    }
    int whole(const std::string& key, const PlainJson& value, int least, int most) const {
        if (!value.is_number_integer() || value < least || value > most) {
            refuse(fmt::format("\"{}\" must be a whole number from {} to {}, but is {}", key, least,
                               most, value.dump()));
        }
        return value.get<int>();
    }
    std::vector<double> rates(const std::string& key, const PlainJson& value) const {
        if (!value.is_array()) {
            return {rate(key, value)};
        }
        std::vector<double> all;
        for (const PlainJson& one : value) {
            all.push_back(rate(key, one));
        }
        if (all.empty()) {
            refuse("\"" + key + "\" must have a rate for each dimension, but is []");
        }
        return all;
    }
    HostDimension host(const PlainJson& value) const {
        HostDimension result;
        require_object("host", value);
        for (const auto& [key, one] : value.items()) {
            if (key == "dimension") {
                result.dimension = whole("host\": \"dimension", one, 0, 63);
            } else if (key == "rate") {
                result.rate = rate("host\": \"rate", one);
            } else if (key == "latency") {
                result.latency = time("host\": \"latency", one);
            } else {
                refuse_key(key, {"dimension", "rate", "latency"}, " in \"host\"");
            }
        }
        if (!value.contains("dimension") || result.rate == 0) {
            refuse("\"host\" needs \"dimension\" and \"rate\"");
        }
        return result;
    }
    std::vector<std::string> down(const PlainJson& value) const {
        if (!value.is_array()) {
            refuse("\"down\" must be a list of links, such as [\"+0@5\"], but is " + value.dump());
        }
        std::vector<std::string> links;
        for (const PlainJson& link : value) {
            links.push_back(text("down", link, ", such as \"+0@5\""));
        }
        return links;
    }
    std::vector<std::pair<std::string, double>> slow(const PlainJson& value) const {
        require_object("slow", value);
        std::vector<std::pair<std::string, double>> links;
        for (const auto& [link, share] : value.items()) {
            if (!share.is_number() || !(share > 0) || !(share <= 1)) {
                refuse(
                    fmt::format("\"slow\": \"{}\" must be a share of the rate above 0 and up to "
                                "1, but is {}",
                                link, share.dump()));
            }
            links.emplace_back(link, share.get<double>());
        }
        return links;
    }
    void require_object(const std::string& key, const PlainJson& value) const {
        if (!value.is_object()) {
            refuse("\"" + key + "\" must be an object, but is " + value.dump());
        }
    }
    [[noreturn]] void refuse_key(const std::string& key, const std::vector<std::string>& known,
                                 const std::string& where) const {
        const auto nearest = nearest_names(key, known);
        refuse(fmt::format("there is no \"{}\"{}; {}known are {}", key, where,
                           nearest.empty() ? "" : "did you mean \"" + nearest.front() + "\"? ",
                           fmt::join(known, ", ")));
    }

  private:
    std::string file_;
};

using Read = std::function<void(const Reader&, const PlainJson&, Machine&)>;

const std::vector<std::pair<std::string, Read>>& keys() {
    static const std::vector<std::pair<std::string, Read>> all{
        {"name",
         [](const Reader& r, const PlainJson& v, Machine& m) { m.name = r.text("name", v, ""); }},
        {"network",
         [](const Reader& r, const PlainJson& v, Machine& m) {
             m.network = r.text("network", v, ", such as \"torus\"");
             r.understood("network", [&] { check_network(m.network); });
         }},
        {"rate",
         [](const Reader& r, const PlainJson& v, Machine& m) { m.rates = r.rates("rate", v); }},
        {"alpha", [](const Reader& r, const PlainJson& v,
                     Machine& m) { m.costs.alpha = r.time("alpha", v); }},
        {"hop",
         [](const Reader& r, const PlainJson& v, Machine& m) { m.costs.hop = r.time("hop", v); }},
        {"copy", [](const Reader& r, const PlainJson& v,
                    Machine& m) { m.costs.copy_rate = r.rate("copy", v); }},
        {"reduce", [](const Reader& r, const PlainJson& v,
                      Machine& m) { m.costs.reduce_rate = r.rate("reduce", v); }},
        {"closing_barrier", [](const Reader& r, const PlainJson& v,
                               Machine& m) { m.closing_barrier = r.time("closing_barrier", v); }},
        {"links_per_pair",
         [](const Reader& r, const PlainJson& v, Machine& m) {
             m.links_per_pair = r.whole("links_per_pair", v, 1, 2);
         }},
        {"messages_per_port",
         [](const Reader& r, const PlainJson& v, Machine& m) {
             m.per_port = r.whole("messages_per_port", v, 1, 1000000);
         }},
        {"host", [](const Reader& r, const PlainJson& v, Machine& m) { m.host = r.host(v); }},
        {"down", [](const Reader& r, const PlainJson& v, Machine& m) { m.down = r.down(v); }},
        {"slow", [](const Reader& r, const PlainJson& v, Machine& m) { m.slow = r.slow(v); }},
    };
    return all;
}

}  // namespace

Machine read_machine_file(const std::string& file) {
    const Reader reader(file);
    errno = 0;
    std::ifstream stream(file);
    if (!stream) {
        reader.refuse(std::string("cannot be read: ") + std::strerror(errno));
    }
    PlainJson json;
    try {
        json = PlainJson::parse(stream);
    } catch (const PlainJson::exception& error) {
        reader.refuse("is not JSON: " + json_reason(error));
    }
    if (!json.is_object()) {
        reader.refuse("is not a JSON object");
    }
    Machine machine;
    machine.name = file;
    for (const auto& [key, value] : json.items()) {
        const auto found = std::ranges::find(keys(), key, &std::pair<std::string, Read>::first);
        if (found == keys().end()) {
            std::vector<std::string> known;
            for (const auto& [name, read] : keys()) {
                known.push_back(name);
            }
            reader.refuse_key(key, known, "");
        }
        found->second(reader, value, machine);
    }
    if (machine.rates.empty()) {
        reader.refuse("\"rate\" is missing");
    }
    return machine;
}

}  // namespace trefoil::tool
