// SPDX-License-Identifier: BSD-3-Clause
// Writes messages where they are received, as numbers of seven bits a byte; lists of extents that
// are alike are written once.
#include "bench/player/schedule_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "bench/player/byte_text.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// Blocks of all ranks together: a browser keeps four bytes of each, several times.
constexpr double most_blocks_of_all = 16 << 20;
constexpr std::size_t least_message_bytes = 4;

/// What a message or a receive is found by. At the receiver.
struct MessageKey {
    Rank to = 0, from = 0;
    int port = 0;
    friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};

/// How a message is applied; in the low bits of its first byte.
enum class Applied : std::uint8_t { nowhere, replaces, reduces, otherwise };

/// Numbers lists of extents in the order in which they come up.
class ExtentLists {
  public:
    std::size_t number(std::span<const Extent> extents) {
        std::vector<std::pair<Block, Block>> key;
        for (const Extent& e : extents) {
            key.emplace_back(e.first, e.count);
        }
        const auto [place, added] = numbers_.try_emplace(std::move(key), numbers_.size());
        if (added) {
            write(place->first);
        }
        return place->second;
    }
    std::size_t count() const { return numbers_.size(); }
    const ByteText& text() const { return text_; }

  private:
    void write(const std::vector<std::pair<Block, Block>>& extents) {
        text_.add(extents.size());
        std::int64_t end = 0;
        for (const auto& [first, count] : extents) {
            text_.add_signed(std::int64_t{first} - end);
            text_.add(count);
            end = std::int64_t{first} + count;
        }
    }
    std::map<std::vector<std::pair<Block, Block>>, std::size_t> numbers_;
    ByteText text_;
};

[[noreturn]] void refuse_size(const Torus& torus, const Choice& choice) {
    throw Error(Status::unsupported,
                fmt::format("the page of {} on torus {} would be larger than {} MiB, which is the "
                            "limit. Take a smaller torus, or an algorithm with fewer messages",
                            to_string(choice), torus.name(), largest_page >> 20));
}

class DataWriter {
  public:
    DataWriter(const Torus& torus, const Choice& choice, std::vector<SentAs>* order)
        : torus_(torus), choice_(choice), order_(order) {
        std::size_t entries = 0;
        for (Rank r = 0; r < torus.ranks(); ++r) {
            schedules_.push_back(choice.algorithm->build(torus, r, choice.options));
            const Schedule& last = schedules_.back();
            entries += last.sends.size() + last.moves.size() + last.steps.size() / 4;
            require_room(entries * least_message_bytes);
            require_blocks();
        }
    }

    void write() {
        for (std::size_t part = 0; part < schedules_[0].parts.size(); ++part) {
            for (std::size_t s = 0; s < schedules_[0].parts[part].steps.count; ++s) {
                write_step(part, s);
                require_room(text_.size() + lists_.text().size());
            }
        }
    }

    Json parts() const {
        const CollectiveTraits& row = traits_of(choice_.algorithm->collective);
        Json all = Json::array();
        const auto count = static_cast<double>(schedules_[0].parts.size());
        for (const Part& part : schedules_[0].parts) {
            const std::size_t index = all.size();
            Block scratch = 0;
            for (const Schedule& s : schedules_) {
                scratch = std::max(scratch, s.parts[index].scratch_blocks);
            }
            Json one{{"blocks", part.vector_blocks},
                     {"scratch", scratch},
                     {"steps", part.steps.count},
                     {"apart", part.input_apart},
                     {"share", 1 / (count * std::max(1U, row.received_of(part.vector_blocks)))}};
            if (row.blocks_have_owners()) {
                one["owners"] = choice_.algorithm->block_owners(torus_, choice_.options,
                                                                static_cast<int>(index));
            }
            all.push_back(std::move(one));
        }
        return all;
    }
    Json lists() const { return {{"count", lists_.count()}, {"data", lists_.text().base64()}}; }
    std::string data() const { return text_.base64(); }

  private:
    struct Message {
        MessageKey key;
        const Schedule* schedule;
        const Send* send;
    };

    void require_room(std::size_t bytes) const {
        if (4 * bytes / 3 > largest_page) {
            refuse_size(torus_, choice_);
        }
    }

    void require_blocks() const {
        double blocks = 0;
        for (const Part& part : schedules_.back().parts) {
            blocks += static_cast<double>(part.vector_blocks) + part.scratch_blocks;
        }
        if (blocks * torus_.ranks() > most_blocks_of_all) {
            throw Error(Status::unsupported,
                        fmt::format("the {} ranks of {} on torus {} hold {:.0f} blocks; a page "
                                    "follows {:.0f} at most. Take a smaller torus",
                                    torus_.ranks(), to_string(choice_), torus_.name(),
                                    blocks * torus_.ranks(), most_blocks_of_all));
        }
    }

    void write_step(std::size_t part, std::size_t s) {
        collect(part, s);
        std::size_t received = 0;
        for (const Schedule& schedule : schedules_) {
            const Step& step = schedule.of(schedule.parts[part])[s];
            const auto receives = schedule.receives_of(step);
            const auto moves = schedule.moves_of(step);
            text_.add(2 * receives.size() + (moves.empty() ? 0 : 1));
            if (!moves.empty()) {
                write_moves(schedule.rank, moves);
            }
            for (const Receive& receive : receives) {
                const Message message = take(schedule.rank, receive, part, s);
                note_order(message, part, s);
                write_message(schedule, receive, message);
            }
            received += receives.size();
        }
        if (received != messages_.size()) {
            throw Error(Status::invalid_argument,
                        fmt::format("in part {}, step {} of {} there are {} sends and {} receives; "
                                    "only what pairs can be played",
                                    part, s, to_string(choice_), messages_.size(), received));
        }
    }

    /// Stable, so that several messages between two ranks through one port match in order.
    void collect(std::size_t part, std::size_t s) {
        messages_.clear();
        for (const Schedule& schedule : schedules_) {
            for (const Send& send : schedule.sends_of(schedule.of(schedule.parts[part])[s])) {
                messages_.push_back(
                    {{send.peer, schedule.rank, send.port.opposite().index}, &schedule, &send});
            }
        }
        std::ranges::stable_sort(messages_, {}, &Message::key);
    }

    Message take(Rank rank, const Receive& receive, std::size_t part, std::size_t s) {
        const MessageKey key{rank, receive.peer, receive.port.index};
        auto found = std::ranges::lower_bound(messages_, key, {}, &Message::key);
        while (found != messages_.end() && found->key == key && found->send == nullptr) {
            ++found;
        }
        if (found == messages_.end() || found->key != key) {
            throw Error(Status::invalid_argument,
                        fmt::format("in part {}, step {} of {} rank {} receives from rank {} what "
                                    "is not sent; only what pairs can be played",
                                    part, s, to_string(choice_), rank, receive.peer));
        }
        Message message = *found;
        found->send = nullptr;
        return message;
    }

    void note_order(const Message& message, std::size_t part, std::size_t s) {
        if (order_ != nullptr) {
            const Schedule& sender = *message.schedule;
            const Send* const first = sender.sends_of(sender.of(sender.parts[part])[s]).data();
            order_->push_back(
                {sender.rank, part, s, static_cast<std::size_t>(message.send - first)});
        }
    }

    void write_moves(Rank rank, std::span<const Move> moves) {
        text_.add(moves.size());
        for (const Move& m : moves) {
            text_.add((m.action == Action::replace ? 0U : 1U) + (m.initial ? 2U : 0U) +
                      (m.pulls() ? 4U : 0U));
            if (m.pulls()) {
                text_.add(apart(m.peer, rank));
            }
            text_.add(m.from.first);
            text_.add(m.from.count);
            text_.add(m.to);
        }
    }

    void write_message(const Schedule& schedule, const Receive& receive, const Message& message) {
        const auto sent = message.schedule->extents_of(*message.send);
        const auto applications = schedule.applications_of(receive);
        Applied how = applications.empty() ? Applied::nowhere : Applied::otherwise;
        if (applications.size() == 1 &&
            std::ranges::equal(sent, schedule.extents_of(applications[0]))) {
            how = applications[0].action == Action::replace ? Applied::replaces : Applied::reduces;
        }
        const auto port = static_cast<std::uint64_t>(message.send->port.index);
        text_.add(8 * port + (receive.opens ? 4 : 0) + static_cast<std::uint64_t>(how));
        text_.add(apart(receive.peer, schedule.rank));
        text_.add(lists_.number(sent));
        if (how == Applied::otherwise) {
            text_.add(applications.size());
            for (const Application& a : applications) {
                text_.add(a.action == Action::replace ? 0 : 1);
                text_.add(lists_.number(schedule.extents_of(a)));
            }
        }
    }

    /// Small for neighbours on either side of the receiver in the order of ranks.
    std::uint64_t apart(Rank peer, Rank rank) const {
        return static_cast<std::uint64_t>((peer - rank + torus_.ranks()) % torus_.ranks());
    }

    const Torus& torus_;
    const Choice& choice_;
    std::vector<SentAs>* order_;
    std::vector<Schedule> schedules_;
    std::vector<Message> messages_;  // of the current step
    ByteText text_;
    ExtentLists lists_;
};

const char* holders_name(Holders holders) {
    return holders == Holders::all ? "all" : holders == Holders::root ? "root" : "all but first";
}

Json side_json(const CollectiveSide& side) {
    return {{"own", side.data == Data::own_block}, {"holders", holders_name(side.holders)}};
}

}  // namespace

Json schedule_data(const Torus& torus, const Choice& choice, std::optional<bool> proved,
                   std::vector<SentAs>* order) {
    if (torus.has_lines()) {
        throw Error(Status::unsupported,
                    "the page draws rings, and " + torus.name() + " has lines; leave the m out");
    }
    const Algorithm& algorithm = *choice.algorithm;
    const CollectiveTraits& row = traits_of(algorithm.collective);
    DataWriter writer(torus, choice, order);
    writer.write();
    const CostSummary cost = summarize(torus, algorithm, choice.options);
    const bool prefix = row.is_prefix();
    return {{"collective", to_string(algorithm.collective)},
            {"algorithm", to_string(choice)},
            {"summary", algorithm.summary},
            {"paper", algorithm.paper},
            {"torus", torus.sizes()},
            {"root", row.rooted() ? Json(choice.options.root) : Json()},
            {"steered", algorithm.traits.steered},
            {"proved", proved ? Json(*proved) : Json()},
            {"reduces", row.reduces},
            {"prefix", !prefix                           ? "none"
                       : row.prefix == Prefix::inclusive ? "to"
                                                         : "before"},
            {"data_moves", row.in.data != Data::none},
            {"sent_blocks", row.blocks_both_ways() ? row.sent_blocks(torus) : 0},
            {"with_neighbours", row.with_neighbours()},
            {"in", side_json(row.in)},
            {"out", side_json(row.out)},
            {"largest_loads", cost.step_max_link_load},
            {"parts", writer.parts()},
            {"lists", writer.lists()},
            {"data", writer.data()}};
}

}  // namespace trefoil::tool
