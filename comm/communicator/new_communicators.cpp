// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made from another one.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "comm/communicator/communicator.hpp"
#include "comm/derived/members.hpp"
#include "comm/setup/set_up_text.hpp"
#include "topo/blob.hpp"
#include "topo/log/log.hpp"
#include "topo/words.hpp"

namespace trefoil {

namespace {

/// What all of `words` offer, or those of `members` do.
template <typename Word>
std::uint64_t offered_by_all(const std::vector<Word>& words) {
    std::uint64_t offered = ~std::uint64_t{0};
    for (const Word& word : words) {
        offered &= word.read_places;
    }
    return offered;
}
template <typename Word>
std::uint64_t offered_by_all(const std::vector<Word>& words, const std::vector<Rank>& members) {
    std::uint64_t offered = ~std::uint64_t{0};
    for (const Rank member : members) {
        offered &= words[static_cast<std::size_t>(member)].read_places;
    }
    return offered;
}

}  // namespace

Communicator::Communicator(const Communicator& parent, Geometry geometry, const Identity& identity,
                           std::optional<int> read_place)
    : world_(parent.world_),
      geometry_(std::move(geometry)),
      rank_(static_cast<Rank>(
          std::find(geometry_.first_rank.begin(), geometry_.first_rank.end(), world_->rank()) -
          geometry_.first_rank.begin())),
      read_place_(read_place),
      identity_(identity),
      chooser_(std::in_place, geometry_.map, settings()) {
    chooser_->force_as(*parent.chooser_);
    settle_terms();
}

/// All tell each other `what` they make, which must be alike, and something of their own. Ranks are
/// those of the first communicator.
std::vector<Communicator::Word> Communicator::agree(std::uint64_t tag,
                                                    const std::vector<Rank>& first_ranks,
                                                    const std::string& what, const Word& mine) {
    check_alive();
    BlobWriter told;
    told.text(what);
    told.text(mine.text);
    told.number(mine.read_places);
    const auto place = std::find(first_ranks.begin(), first_ranks.end(), world_->rank());
    if (ranks() > 1 && lanes_.any() == nullptr) {
        (void)lane(false);  // hears of an abort meanwhile
    }
    require_no_failure();
    const auto note = [&](bool begins) {
        const std::lock_guard lock(failure_mutex_);
        if (begins) {
            makings_[tag] = {what, std::chrono::steady_clock::now(),
                             first_ranks.size() < geometry_.first_rank.size()};
        } else {
            makings_.erase(tag);
        }
    };
    note(true);
    const struct AtEnd {
        decltype(note)& forget;
        ~AtEnd() { forget(false); }
    } over{note};
    const std::vector<std::string> blobs = world_->gather(
        {tag, first_ranks, static_cast<std::size_t>(place - first_ranks.begin()), what},
        told.bytes(), settings().timeout, [this] { return has_failed_lane(); });
    require_no_failure();
    std::vector<std::string> whats;
    std::vector<Word> words;
    for (const std::string& blob : blobs) {
        BlobReader reader(blob);
        whats.push_back(reader.text());
        Word& word = words.emplace_back();
        word.text = reader.text();
        word.read_places = reader.number<std::uint64_t>();
    }
    try {
        require_agreement(whats, "the communicator to be made");
    } catch (const Error& error) {
        Blame blame = error.blame();
        blame.culprit = first_ranks.at(static_cast<std::size_t>(blame.culprit));
        throw Error(error.status(), error.what(), blame);
    }
    return words;
}

/// The tag counts the requests, so that ranks that make different communicators meet.
std::vector<Communicator::Word> Communicator::agree_with_all(const std::string& what,
                                                             const Word& mine) {
    return agree(identity_.begin_request(), geometry_.first_rank, what, mine);
}

std::unique_ptr<Communicator> Communicator::made(Geometry geometry, const Identity& identity,
                                                 std::optional<int> read_place) {
    const LogScope scope(world_->log());
    std::unique_ptr<Communicator> made(
        new Communicator(*this, std::move(geometry), identity, read_place));
    log_info(LogTopic::setup, [&] {
        return "a communicator of " + std::to_string(made->ranks()) +
               " ranks: " + place_text(made->torus_map(), made->rank()) +
               (world_->peer_access().any() && !read_place ? "; no guard is left for single copy"
                                                           : "");
    });
    return made;
}

std::unique_ptr<Communicator> Communicator::dup() {
    ReadPlaces::Offer offer = world_->read_places().offer();
    const std::vector<Word> words = agree_with_all("trefoil_comm_dup", {"", offer.bits()});
    return made(geometry_, identity_.dup(), offer.take(offered_by_all(words)));
}

std::unique_ptr<Communicator> Communicator::split(std::int32_t colour, std::int32_t key) {
    BlobWriter mine;
    mine.number(colour);
    mine.number(key);
    ReadPlaces::Offer offer = world_->read_places().offer();
    const std::vector<Word> words =
        agree_with_all("trefoil_comm_split", {mine.bytes(), offer.bits()});
    std::vector<std::int32_t> colours, keys;
    for (const Word& word : words) {
        BlobReader reader(word.text);
        colours.push_back(reader.number<std::int32_t>());
        keys.push_back(reader.number<std::int32_t>());
    }
    const Identity identity = identity_.split(colour);
    std::vector<Rank> members = members_of_split(colours, keys, rank_);
    if (members.empty()) {
        return nullptr;
    }
    const std::uint64_t offered = offered_by_all(words, members);
    for (Rank& member : members) {
        member = first_rank_of(channel_settings_, member);
    }
    return made(geometry_of(world_->geometry(), members), identity, offer.take(offered));
}

std::unique_ptr<Communicator> Communicator::sub(const std::vector<bool>& keep) {
    const std::vector<Rank> members = members_of_sub(geometry_.map, keep, rank_);
    std::string flags;
    for (const bool flag : keep) {
        flags += flag ? "1" : "0";
    }
    ReadPlaces::Offer offer = world_->read_places().offer();
    const std::vector<Word> words =
        agree_with_all("trefoil_comm_sub, keep " + flags, {"", offer.bits()});
    const Identity identity = identity_.sub(members);
    return made(sub_geometry(world_->geometry(), geometry_, keep, rank_), identity,
                offer.take(offered_by_all(words, members)));
}

std::unique_ptr<Communicator> Communicator::create_group(const std::vector<Rank>& members,
                                                         std::int32_t tag) {
    const std::vector<Rank> checked = members_of_group(members, ranks(), rank_);
    const Identity identity = identity_.group(tag, checked);
    std::vector<Rank> first;
    for (const Rank member : checked) {
        first.push_back(first_rank_of(channel_settings_, member));
    }
    ReadPlaces::Offer offer = world_->read_places().offer();
    const std::vector<Word> words = agree(
        identity.number(), first,
        "trefoil_comm_create_group, ranks " + joined(checked) + ", tag " + std::to_string(tag),
        {"", offer.bits()});
    return made(geometry_of(world_->geometry(), first), identity,
                offer.take(offered_by_all(words)));
}

}  // namespace trefoil
