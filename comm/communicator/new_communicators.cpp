// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made from another one.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "comm/communicator/communicator.hpp"
#include "comm/derived/members.hpp"
#include "comm/plan/hash.hpp"
#include "comm/setup/set_up_text.hpp"
#include "topo/blob.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

std::string list_text(const std::vector<Rank>& ranks) {
    std::string text;
    for (const Rank rank : ranks) {
        text += (text.empty() ? "" : ",") + std::to_string(rank);
    }
    return text;
}

}  // namespace

Communicator::Communicator(const Communicator& parent, Geometry geometry, const Identity& identity)
    : world_(parent.world_),
      geometry_(std::move(geometry)),
      rank_(static_cast<Rank>(
          std::find(geometry_.first_rank.begin(), geometry_.first_rank.end(), world_->rank()) -
          geometry_.first_rank.begin())),
      is_first_(false),
      identity_(identity),
      chooser_(std::in_place, geometry_.map, settings()) {
    chooser_->force_as(*parent.chooser_);
    settle_terms();
}

/// All tell each other `what` they make, which must be alike, and something of their own. Ranks are
/// those of the first communicator.
std::vector<std::string> Communicator::agree(std::uint64_t tag,
                                             const std::vector<Rank>& first_ranks,
                                             const std::string& what, const std::string& mine) {
    check_alive();
    BlobWriter told;
    told.text(what);
    told.text(mine);
    const auto place = std::find(first_ranks.begin(), first_ranks.end(), world_->rank());
    const std::vector<std::string> blobs =
        world_->gather(tag, first_ranks, static_cast<std::size_t>(place - first_ranks.begin()),
                       told.bytes(), settings().timeout);
    std::vector<std::string> whats, texts;
    for (const std::string& blob : blobs) {
        BlobReader reader(blob);
        whats.push_back(reader.text());
        texts.push_back(reader.text());
    }
    require_agreement(whats, "the communicator to be made");
    return texts;
}

/// The tag counts the agreements, so that ranks that make different communicators meet.
std::vector<std::string> Communicator::agree_with_all(const std::string& what,
                                                      const std::string& mine) {
    const std::uint64_t tag = mix_hash(identity_.number(), ++agreements_);
    return agree(tag, geometry_.first_rank, what, mine);
}

std::unique_ptr<Communicator> Communicator::made(Geometry geometry, const Identity& identity) {
    const LogScope scope(world_->log());
    std::unique_ptr<Communicator> made(new Communicator(*this, std::move(geometry), identity));
    log_info(LogTopic::setup, [&] {
        return "a communicator of " + std::to_string(made->ranks()) +
               " ranks: " + place_text(made->torus_map(), made->rank());
    });
    return made;
}

std::unique_ptr<Communicator> Communicator::dup() {
    (void)agree_with_all("trefoil_comm_dup", "");
    return made(geometry_, identity_.dup());
}

std::unique_ptr<Communicator> Communicator::split(std::int32_t colour, std::int32_t key) {
    BlobWriter mine;
    mine.number(colour);
    mine.number(key);
    std::vector<std::int32_t> colours, keys;
    for (const std::string& told : agree_with_all("trefoil_comm_split", mine.bytes())) {
        BlobReader reader(told);
        colours.push_back(reader.number<std::int32_t>());
        keys.push_back(reader.number<std::int32_t>());
    }
    const Identity identity = identity_.split(colour);
    std::vector<Rank> members = members_of_split(colours, keys, rank_);
    if (members.empty()) {
        return nullptr;
    }
    for (Rank& member : members) {
        member = first_rank_of(terms_, member);
    }
    return made(geometry_of(world_->geometry(), members), identity);
}

std::unique_ptr<Communicator> Communicator::sub(const std::vector<bool>& keep) {
    const std::vector<Rank> members = members_of_sub(geometry_.map, keep, rank_);
    std::string flags;
    for (const bool flag : keep) {
        flags += flag ? "1" : "0";
    }
    (void)agree_with_all("trefoil_comm_sub, keep " + flags, "");
    const Identity identity = identity_.sub(members);
    return made(sub_geometry(world_->geometry(), geometry_, keep, rank_), identity);
}

std::unique_ptr<Communicator> Communicator::create_group(const std::vector<Rank>& members,
                                                         std::int32_t tag) {
    const std::vector<Rank> checked = members_of_group(members, ranks(), rank_);
    const Identity identity = identity_.group(tag, checked);
    std::vector<Rank> first;
    for (const Rank member : checked) {
        first.push_back(first_rank_of(terms_, member));
    }
    (void)agree(
        identity.number(), first,
        "trefoil_comm_create_group, ranks " + list_text(checked) + ", tag " + std::to_string(tag),
        "");
    return made(geometry_of(world_->geometry(), first), identity);
}

}  // namespace trefoil
