// SPDX-License-Identifier: BSD-3-Clause
// A binomial tree over the places of the members. The parent of place i is i without its lowest set
// bit 2^k. What hangs below i, itself included, are the places from i to i + 2^k - 1.
#include "threads/connections/gathering.hpp"

#include <algorithm>

#include "topo/blob.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(Rank from, const char* what) {
    throw Error(Status::mismatch,
                "rank " + std::to_string(from) + " " + what +
                    "; do all ranks make the same communicators in one order?",
                {from, Evidence::disagrees});
}

}  // namespace

Gathering::Gathering(std::vector<Rank> members, std::size_t place, std::string mine, Send send)
    : members_(std::move(members)), place_(place), send_(std::move(send)), texts_(members_.size()) {
    texts_[place_] = std::move(mine);
    const std::size_t end = subtree_end(place_);
    for (std::size_t bit = 1; place_ + bit < end; bit *= 2) {
        children_.push_back(place_ + bit);
    }
    below_ = children_;
    go_on();
}

std::size_t Gathering::subtree_end(std::size_t of) const {
    const std::size_t all = members_.size();
    return of == 0 ? all : std::min(all, of + (of & (~of + 1)));
}

std::string Gathering::encoded(std::size_t first, std::size_t end) const {
    BlobWriter blob;
    for (std::size_t place = first; place < end; ++place) {
        blob.text(texts_[place]);
    }
    return blob.bytes();
}

void Gathering::decode(std::string_view text, std::size_t first, std::size_t end) {
    BlobReader blob(text);
    std::vector<std::string> read;
    for (std::size_t place = first; place < end; ++place) {
        read.push_back(blob.text());
    }
    if (!blob.empty()) {
        throw Error(Status::mismatch, "a rank says more than was asked for");
    }
    std::move(read.begin(), read.end(), texts_.begin() + static_cast<std::ptrdiff_t>(first));
}

// Up when all below have told, down when all is known.
void Gathering::go_on() {
    if (!children_.empty()) {
        return;
    }
    if (place_ == 0) {
        complete_ = true;
    } else if (!told_) {
        told_ = true;
        send_(members_[parent()], encoded(place_, subtree_end(place_)));
    }
    if (complete_) {
        const std::string all = below_.empty() ? std::string() : encoded(0, members_.size());
        for (auto child = below_.rbegin(); child != below_.rend(); ++child) {  // the farthest first
            send_(members_[*child], all);
        }
    }
}

void Gathering::take(Rank from, std::string_view text) {
    if (complete_) {
        refuse(from, "sends what is already known");
    }
    const auto child = std::find_if(children_.begin(), children_.end(),
                                    [&](std::size_t place) { return members_[place] == from; });
    if (child != children_.end()) {
        decode(text, *child, subtree_end(*child));
        children_.erase(child);
    } else if (told_ && members_[parent()] == from) {
        decode(text, 0, members_.size());
        complete_ = true;
    } else {
        refuse(from, "sends what it was not asked for");
    }
    go_on();
}

std::vector<Rank> Gathering::partners() const {
    std::vector<Rank> ranks;
    if (place_ != 0) {
        ranks.push_back(members_[parent()]);
    }
    for (const std::size_t child : below_) {
        ranks.push_back(members_[child]);
    }
    return ranks;
}

std::vector<Rank> Gathering::missing() const {
    std::vector<Rank> ranks;
    for (const std::size_t child : children_) {
        ranks.push_back(members_[child]);
    }
    if (waits_for_parent()) {
        ranks.push_back(members_[parent()]);
    }
    return ranks;
}

void Gatherings::begin(std::uint64_t tag, std::vector<Rank> members, std::size_t place,
                       std::string mine) {
    Part& part = parts_[tag];
    part.gathering.emplace(std::move(members), place, std::move(mine),
                           [this, tag](Rank to, std::string_view text) { send_(to, tag, text); });
    try {
        for (const auto& [from, text] : std::exchange(part.early, {})) {
            part.gathering->take(from, text);
        }
    } catch (...) {
        end(tag);
        throw;
    }
}

void Gatherings::take(Rank from, std::uint64_t tag, std::string_view text) {
    if (const auto given_up = given_up_.find(tag); given_up != given_up_.end()) {
        if (--given_up->second == 0) {
            given_up_.erase(given_up);
        }
        return;
    }
    Part& part = parts_[tag];
    if (!part.gathering) {
        part.early.emplace_back(from, text);
        return;
    }
    try {
        part.gathering->take(from, text);
    } catch (const Error& error) {
        part.failure = error;
    }
}

void Gatherings::end(std::uint64_t tag) {
    const Gathering* const gathering = find(tag);
    if (gathering != nullptr && !gathering->complete()) {
        given_up_[tag] = gathering->missing().size();
    }
    parts_.erase(tag);
}

const Gathering* Gatherings::find(std::uint64_t tag) const {
    const auto found = parts_.find(tag);
    return found == parts_.end() || !found->second.gathering ? nullptr : &*found->second.gathering;
}

}  // namespace trefoil
