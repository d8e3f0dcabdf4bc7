// SPDX-License-Identifier: BSD-3-Clause
// Views that shrink until all agree.
#include "threads/connections/survivors.hpp"

#include <algorithm>

#include "topo/blob.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(Rank from) {
    throw Error(Status::mismatch,
                "rank " + std::to_string(from) +
                    " says of the survivors what cannot be; do all ranks run the "
                    "same version of Trefoil?",
                {from, Evidence::disagrees});
}

}  // namespace

void Survivors::begin(std::vector<Rank> members, std::size_t place, std::string word) {
    if (!members_.empty()) {
        return;
    }
    members_ = std::move(members);
    place_ = place;
    word_ = std::move(word);
    view_.assign(members_.size(), 1);
    peers_.resize(members_.size());
    for (const auto& [from, text] : std::exchange(early_, {})) {
        take(from, text);
    }
    go_on();
}

std::size_t Survivors::place_of(Rank rank) const {
    return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), rank) -
                                    members_.begin());
}

void Survivors::lose(Rank rank) {
    const std::size_t place = place_of(rank);
    if (place == members_.size() || place == place_ || !has(view_, place) || decided_) {
        return;
    }
    view_[place] = 0;
    go_on();
}

void Survivors::take(Rank from, std::string_view text) {
    if (members_.empty()) {
        early_.emplace_back(from, text);
        return;
    }
    const std::size_t place = place_of(from);
    if (place == members_.size() || place == place_) {
        refuse(from);
    }
    hear(place, text);
    go_on();
}

void Survivors::hear(std::size_t from, std::string_view text) {
    BlobReader reader(text);
    const auto kind = static_cast<Kind>(reader.number<char>());
    View view = reader.text();
    std::string word = reader.text();
    const auto is_flag = [](char flag) { return flag == 0 || flag == 1; };
    if (view.size() != members_.size() || !reader.empty() || !has(view, from) ||
        !std::all_of(view.begin(), view.end(), is_flag)) {
        refuse(members_[from]);
    }
    Peer& peer = peers_[from];
    switch (kind) {
        case Kind::proposal:
            peer.proposed = std::move(view);
            peer.word = std::move(word);
            hear_proposal(from);
            break;
        case Kind::confirmation:
            peer.confirmed = std::move(view);
            break;
        case Kind::decision:
            // Of one that is lost it comes too late: the others may go on without what it knew.
            if (decided_ || left_out_by_ || !has(view_, from)) {
                break;
            }
            if (!has(view, place_)) {
                left_out_by_ = members_[from];
            } else {
                view_ = std::move(view);
                decided_ = true;
            }
            break;
        default:
            refuse(members_[from]);
    }
}

void Survivors::hear_proposal(std::size_t from) {
    const View& proposed = *peers_[from].proposed;
    if (decided_) {
        if (proposed != view_) {
            BlobWriter mine;
            mine.number(static_cast<char>(Kind::decision));
            mine.text(view_);
            mine.text({});
            send_(members_[from], mine.bytes());
        }
        return;
    }
    if (!has(view_, from)) {
        // It is taken for dead here, and must know.
        BlobWriter mine;
        mine.number(static_cast<char>(Kind::proposal));
        mine.text(view_);
        mine.text(word_);
        send_(members_[from], mine.bytes());
        return;
    }
    if (!has(proposed, place_)) {
        left_out_by_ = left_out_by_ ? left_out_by_ : members_[from];
        return;
    }
    for (std::size_t place = 0; place < view_.size(); ++place) {
        view_[place] = static_cast<char>(has(view_, place) && has(proposed, place));
    }
}

void Survivors::tell(Kind kind) {
    BlobWriter text;
    text.number(static_cast<char>(kind));
    text.text(view_);
    text.text(kind == Kind::proposal ? word_ : std::string());
    for (std::size_t place = 0; place < members_.size(); ++place) {
        if (place != place_ && has(view_, place)) {
            send_(members_[place], text.bytes());
        }
    }
}

template <typename Said>
bool Survivors::all_in_view(Said&& said) const {
    for (std::size_t place = 0; place < members_.size(); ++place) {
        if (place != place_ && has(view_, place) && said(peers_[place]) != view_) {
            return false;
        }
    }
    return true;
}

void Survivors::go_on() {
    if (decided_ || left_out_by_) {
        return;
    }
    if (told_ != view_) {
        told_ = view_;
        tell(Kind::proposal);
    }
    if (confirmed_ != view_ && all_in_view([](const Peer& peer) { return peer.proposed; })) {
        confirmed_ = view_;
        tell(Kind::confirmation);
    }
    if (confirmed_ == view_ && all_in_view([](const Peer& peer) { return peer.confirmed; })) {
        decided_ = true;
        tell(Kind::decision);
    }
}

std::vector<Rank> Survivors::survivors() const {
    std::vector<Rank> ranks;
    for (std::size_t place = 0; place < members_.size(); ++place) {
        if (has(view_, place)) {
            ranks.push_back(members_[place]);
        }
    }
    return ranks;
}

std::vector<std::string> Survivors::words() const {
    std::vector<std::string> words;
    for (std::size_t place = 0; place < members_.size(); ++place) {
        if (has(view_, place)) {
            words.push_back(place == place_ ? word_ : peers_[place].word);
        }
    }
    return words;
}

std::vector<Rank> Survivors::missing() const {
    std::vector<Rank> ranks;
    for (std::size_t place = 0; place < members_.size(); ++place) {
        if (place != place_ && has(view_, place) &&
            (confirmed_ == view_ ? peers_[place].confirmed : peers_[place].proposed) != view_) {
            ranks.push_back(members_[place]);
        }
    }
    return ranks;
}

}  // namespace trefoil
