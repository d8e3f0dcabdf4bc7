// SPDX-License-Identifier: BSD-3-Clause
// From JSON to schedules, field by field.
#include "algorithms/json/read.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/json/checked_object.hpp"
#include "algorithms/json/circuits.hpp"
#include "topo/error.hpp"
#include "topo/json_reason.hpp"

namespace trefoil {

namespace {

using nlohmann::json;

std::string numbered(const std::string& place, const char* kind, std::size_t number) {
    return place + ", " + kind + " " + std::to_string(number);
}

/// One rank's object.
class RankReader {
  public:
    RankReader(const Torus& torus, Rank rank) : torus_(torus), rank_(rank), writer_(rank) {}

    Schedule read(const CheckedObject& object) {
        const json& parts = object.list("parts");
        for (std::size_t p = 0; p < parts.size(); ++p) {
            part(parts[p], numbered(object.place(), "part", p));
        }
        return writer_.take();
    }

  private:
    static constexpr std::int64_t most_blocks = std::int64_t{1} << 30;

    void part(const json& value, const std::string& place) {
        const CheckedObject object(value, place,
                                   {{"vector_blocks", true},
                                    {"scratch_blocks", false},
                                    {"scratch_like", false},
                                    {"owners", false},
                                    {"input_apart", false},
                                    {"steps", true}});
        const auto vector = static_cast<Block>(object.number("vector_blocks", 1, most_blocks));
        const auto scratch = static_cast<Block>(
            object.has("scratch_blocks") ? object.number("scratch_blocks", 0, most_blocks) : 0);
        const auto like = static_cast<Block>(
            object.has("scratch_like") ? object.number("scratch_like", 0, vector - 1) : 0);
        writer_.part(vector, scratch, like);
        if (object.flag("input_apart")) {
            writer_.keep_input_apart();
        }
        blocks_ = std::int64_t{vector} + scratch;
        const json& steps = object.list("steps");
        for (std::size_t s = 0; s < steps.size(); ++s) {
            step(steps[s], numbered(place, "step", s));
        }
    }

    void step(const json& value, const std::string& place) {
        const CheckedObject object(value, place,
                                   {{"moves", false}, {"sends", false}, {"receives", false}});
        writer_.step();
        const auto each = [&](const char* list, const char* kind, auto&& read) {
            for (std::size_t i = 0; object.has(list) && i < object.list(list).size(); ++i) {
                read(object.list(list)[i], numbered(place, kind, i));
            }
        };
        each("moves", "move", [this](const json& v, const std::string& at) { move(v, at); });
        each("sends", "send", [this](const json& v, const std::string& at) { send(v, at); });
        each("receives", "receive",
             [this](const json& v, const std::string& at) { receive(v, at); });
    }

    void move(const json& value, const std::string& place) {
        const CheckedObject object(
            value, place,
            {{"action", true}, {"from", true}, {"to", true}, {"peer", false}, {"initial", false}});
        const Extent from = extent(object, object.at("from"));
        const auto to = static_cast<Block>(object.number("to", 0, blocks_ - from.count));
        const Rank peer = object.has("peer") ? peer_of(object) : rank_;
        if (object.flag("initial")) {
            writer_.pull_initial(object.action(), peer, from, to);
        } else if (peer != rank_) {
            writer_.pull(object.action(), peer, from, to);
        } else {
            writer_.move(object.action(), from, to);
        }
    }

    void send(const json& value, const std::string& place) {
        const CheckedObject object(
            value, place, {{"peer", true}, {"port", false}, {"extents", true}, {"opens", false}});
        const Rank peer = other_than_me(object);
        const auto blocks = extents(object);
        const Port leaving = port(object, [&] { return torus_.first_port(rank_, peer); });
        if (!object.flag("opens")) {
            writer_.send(peer, leaving, blocks);
        } else if (blocks.empty()) {
            writer_.open(peer, leaving);
        } else {
            refuse_schedule(place, "a message that opens is a signal: leave its \"extents\" empty");
        }
    }

    void receive(const json& value, const std::string& place) {
        const CheckedObject object(
            value, place,
            {{"peer", true}, {"port", false}, {"applications", true}, {"opens", false}});
        const Rank peer = other_than_me(object);
        const Port arriving =
            port(object, [&] { return torus_.first_port(peer, rank_).opposite(); });
        const json& list = object.list("applications");
        if (object.flag("opens")) {
            if (!list.empty()) {
                refuse_schedule(
                    place, "a message that opens is a signal: leave its \"applications\" empty");
            }
            writer_.receive_opening(peer, arriving);
            return;
        }
        writer_.receive(peer, arriving);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const CheckedObject application(list[i], numbered(place, "application", i),
                                            {{"action", true}, {"extents", true}});
            writer_.apply(application.action(), extents(application));
        }
    }

    Rank peer_of(const CheckedObject& object) const {
        return static_cast<Rank>(object.number("peer", 0, torus_.ranks() - 1));
    }
    Rank other_than_me(const CheckedObject& object) const {
        const Rank peer = peer_of(object);
        if (peer == rank_) {
            refuse_schedule(object.place(),
                            "\"peer\" is the rank itself; a move copies within a rank");
        }
        return peer;
    }

    template <typename Default>
    Port port(const CheckedObject& object, Default&& otherwise) const {
        if (!object.has("port")) {
            return otherwise();
        }
        const std::string name = object.text("port");
        for (int i = 0; i < torus_.ports(); ++i) {
            if (to_string(Port{i}) == name) {
                return {i};
            }
        }
        refuse_schedule(object.place(), "\"port\" is \"" + name + "\"; the ports are +0, -0" +
                                            (torus_.dimensions() > 1 ? ", +1, -1 and so on" : "") +
                                            "; leave it out for the shortest way");
    }

    Extent extent(const CheckedObject& object, const json& value) const {
        if (!value.is_array() || value.size() != 2) {
            refuse_schedule(object.place(),
                            "blocks are written [first, count], not " + value.dump());
        }
        const std::int64_t first = object.number_of(value[0], "the first block", 0, blocks_ - 1);
        const std::int64_t count =
            object.number_of(value[1], "the number of blocks", 1, blocks_ - first);
        return {static_cast<Block>(first), static_cast<Block>(count)};
    }
    std::vector<Extent> extents(const CheckedObject& object) const {
        std::vector<Extent> result;
        for (const json& value : object.list("extents")) {
            result.push_back(extent(object, value));
        }
        return result;
    }

    const Torus& torus_;
    Rank rank_;
    ScheduleWriter writer_;
    std::int64_t blocks_ = 0;  ///< of the part at hand, scratch included
};

std::vector<json> parse(std::string_view text) {
    std::vector<json> objects;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        refuse_schedule("", "the text is empty");
    }
    try {
        if (text[first] == '[') {
            json all = json::parse(text);
            for (json& one : all) {
                objects.push_back(std::move(one));
            }
            return objects;
        }
        for (std::size_t line = 1; !text.empty(); ++line) {
            const std::string_view one = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), one.size() + 1));
            if (one.find_first_not_of(" \t\r") != std::string_view::npos) {
                try {
                    objects.push_back(json::parse(one));
                } catch (const json::exception& error) {
                    refuse_schedule("line " + std::to_string(line),
                                    "is not JSON (" + json_reason(error) +
                                        "); give one object a line, or one list of all");
                }
            }
        }
    } catch (const json::exception& error) {
        refuse_schedule("", "it is not JSON: " + json_reason(error));
    }
    return objects;
}

constexpr std::initializer_list<Field> rank_fields = {
    {"collective", true},    {"algorithm", false}, {"torus", true},    {"ranks", false},
    {"rank", true},          {"root", false},      {"steered", false}, {"parts", true},
    {"acknowledges", false}, {"circuits", false}};

/// By part. Empty where the collective's blocks have no owners, or block b is rank b's.
std::vector<std::vector<Rank>> owners_of(const CheckedObject& object, const Torus& torus) {
    std::vector<std::vector<Rank>> result;
    for (const json& part : object.list("parts")) {
        if (!part.contains("owners")) {
            continue;
        }
        if (!part["owners"].is_array()) {
            refuse_schedule(object.place(), "\"owners\" is not a list");
        }
        std::vector<Rank>& owners = result.emplace_back();
        for (const json& owner : part["owners"]) {
            owners.push_back(static_cast<Rank>(
                object.number_of(owner, "an owner of a block", 0, torus.ranks() - 1)));
        }
    }
    if (!result.empty() && result.size() != object.list("parts").size()) {
        refuse_schedule(object.place(), "some parts have \"owners\", others have not");
    }
    return result;
}

/// What must be alike in all objects.
struct Head {
    std::string collective, torus;
    std::int64_t root = 0;
    bool steered = false;
    std::vector<std::vector<Rank>> owners;
    bool operator==(const Head&) const = default;
};

Head head_of(const CheckedObject& object, const Torus& torus) {
    Head head{object.text("collective"), object.text("torus"), 0, object.flag("steered"),
              owners_of(object, torus)};
    if (object.has("root") && !object.at("root").is_null()) {
        head.root = object.number("root", 0, torus.ranks() - 1);
    }
    if (object.has("ranks")) {
        object.number("ranks", torus.ranks(), torus.ranks());
    }
    return head;
}

}  // namespace

ScheduleSet read_schedules(std::string_view text) {
    const std::vector<json> objects = parse(text);
    if (objects.empty()) {
        refuse_schedule("", "there is no object in it");
    }
    ScheduleSet set;
    std::optional<Head> first;
    std::vector<bool> seen;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        const CheckedObject unnamed(objects[i], "object " + std::to_string(i), rank_fields);
        if (!first) {
            set.torus = Torus::parse(unnamed.text("torus"));
            if (objects.size() != static_cast<std::size_t>(set.torus.ranks())) {
                refuse_schedule("", "there are schedules of " + std::to_string(objects.size()) +
                                        " ranks, but the torus " + set.torus.name() + " has " +
                                        std::to_string(set.torus.ranks()));
            }
            set.schedules.resize(objects.size());
            seen.resize(objects.size());
        }
        const auto rank = static_cast<Rank>(unnamed.number("rank", 0, set.torus.ranks() - 1));
        const CheckedObject object(objects[i], "rank " + std::to_string(rank), rank_fields);
        const Head head = head_of(object, set.torus);
        if (!first) {
            first = head;
        } else if (head != *first) {
            refuse_schedule(
                object.place(),
                "its collective, torus, root, steered or owners differ from those of rank " +
                    objects[0]["rank"].dump());
        }
        const auto index = static_cast<std::size_t>(rank);
        if (seen[index]) {
            refuse_schedule(object.place(), "there are two schedules of it");
        }
        seen[index] = true;
        set.schedules[index] = RankReader(set.torus, rank).read(object);
        read_circuits(object, set.torus, rank, i == 0, set.changes);
    }
    set.collective = find_collective(first->collective);
    set.root = static_cast<Rank>(first->root);
    set.steered = first->steered;
    if (traits_of(set.collective).blocks_have_owners()) {
        set.owners = first->owners;
    }
    check_circuits(set);
    return set;
}

}  // namespace trefoil
