// SPDX-License-Identifier: BSD-3-Clause
// Symbolic execution of one part: sends, matching, receives.
#include "algorithms/analysis/proof.hpp"

#include <algorithm>
#include <tuple>

#include "topo/fabric.hpp"

namespace trefoil {

namespace {

/// Of the rank that has most.
std::size_t most_blocks(const std::vector<Schedule>& schedules, std::size_t part) {
    std::size_t most = 0;
    for (const Schedule& s : schedules) {
        most = std::max<std::size_t>(most, s.parts[part].scratch_blocks);
    }
    return most + schedules[0].parts[part].vector_blocks;
}

std::string through(Rank peer, Port port) {
    return "rank " + std::to_string(peer) + " through port " + to_string(port);
}

/// Any rank reads another one's blocks, or what it began with apart from them.
bool has_pulls(const std::vector<Schedule>& schedules, std::size_t part) {
    const auto pulls = [](const Move& m) { return m.pulls() || m.initial; };
    return std::ranges::any_of(schedules, [&](const Schedule& s) {
        return std::ranges::any_of(s.of(s.parts[part]), [&](const Step& step) {
            return std::ranges::any_of(s.moves_of(step), pulls);
        });
    });
}

}  // namespace

std::string text(Extent e) {
    return "[" + std::to_string(e.first) + ", " +
           std::to_string(static_cast<std::uint64_t>(e.first) + e.count) + ")";
}

PartProof::PartProof(const Torus& torus, const Goal& goal, const std::vector<Schedule>& schedules,
                     std::size_t part, Findings& findings)
    : torus_(torus),
      goal_(goal),
      row_(traits_of(goal.collective)),
      schedules_(schedules),
      part_(part),
      findings_(findings),
      vector_blocks_(schedules[0].parts[part].vector_blocks),
      blocks_(most_blocks(schedules, part)),
      buffers_(torus.ranks(), blocks_ * torus.ranks(), !blocks_both_ways()),
      began_(torus.ranks(), 1, !blocks_both_ways()),
      heard_(torus.ranks(), torus.ranks()),
      heard_before_(torus.ranks(), 0),
      payload_(torus.ranks(), 0, !blocks_both_ways()),
      written_in_step_(blocks_),
      written_by_message_(blocks_) {
    if (has_pulls(schedules, part)) {
        order_.emplace(torus.ranks(), blocks_, part, findings);
    }
    const bool undefined = schedules[0].parts[part].input_apart;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        heard_.set_own(r, r);
        for (Block b = 0; b < vector_blocks_ && !undefined; ++b) {
            if (begins_with(r, b)) {
                buffers_.set_own(index(r, b), r, blocks_both_ways() ? b : 0);
            }
        }
    }
}

Rank PartProof::owner(Block block) const {
    return part_ < goal_.owners.size() ? goal_.owners[part_][block] : static_cast<Rank>(block);
}

bool PartProof::begins_with(Rank rank, Block block) const {
    if (!row_.in.held_by(rank, goal_.root)) {
        return false;
    }
    if (blocks_both_ways()) {
        return block < row_.sent_blocks(torus_);
    }
    return row_.in.data != Data::own_block || owner(block) == rank;
}

bool PartProof::ends_with(Rank rank, Block block) const {
    if (!row_.out.held_by(rank, goal_.root)) {
        return false;
    }
    if (blocks_both_ways()) {
        return block >= row_.sent_blocks(torus_);
    }
    return row_.out.data != Data::own_block || owner(block) == rank;
}

void PartProof::run() {
    const std::size_t steps = schedules_[0].parts[part_].steps.count;
    for (step_ = 0; step_ < steps && !findings_.enough(); ++step_) {
        run_step();
    }
    if (order_ && !findings_.enough()) {
        order_->finish();
    }
}

void PartProof::run_step() {
    messages_.clear();
    expected_.clear();
    payload_blocks_.clear();
    if (order_) {
        order_->begin_step(step_);
    }
    for (Rank r = 0; r < torus_.ranks(); ++r) {
        const Schedule& schedule = schedules_[r];
        const Step& step = schedule.of(schedule.parts[part_])[step_];
        run_moves(r, schedule, step);
        collect_sends(r, schedule, step);
        for (const Receive& receive : schedule.receives_of(step)) {
            expected_.push_back({r, receive.peer, receive.port, &receive});
        }
    }
    match();
    hear();
    run_receives();
}

bool PartProof::inside(Rank rank, Extent extent, const char* what) {
    if (static_cast<std::uint64_t>(extent.first) + extent.count <= blocks_of(rank)) {
        return true;
    }
    report(rank, std::string(what) + " blocks " + text(extent) +
                     ", out of bounds: the buffer has " + std::to_string(blocks_of(rank)));
    return false;
}

bool PartProof::pairs(Rank sender, Block source, Rank receiver, Block target) const {
    if (blocks_both_ways()) {
        return true;  // all blocks are of one size, or go straight for want of scratch
    }
    const auto size_class = [this](Rank rank, Block block) {
        return block < vector_blocks_ ? block : schedules_[rank].parts[part_].scratch_like;
    };
    return size_class(sender, source) == size_class(receiver, target);
}

bool PartProof::check_route(Rank rank, const Send& send) {
    if (send.peer < 0 || send.peer >= torus_.ranks()) {
        report(rank, "sends to rank " + std::to_string(send.peer) + ", which does not exist");
        return false;
    }
    if (send.peer == rank) {
        report(rank, "sends to itself");
        return false;
    }
    if (send.port.index < 0 || send.port.index >= torus_.ports()) {
        report(rank,
               "sends through port " + std::to_string(send.port.index) + ", which does not exist");
        return false;
    }
    const int dimension = send.port.dimension();
    if (torus_.is_host(dimension) && !torus_.on_one_node(rank, send.peer)) {
        report(rank, "the wrong port: " + through(send.peer, send.port) +
                         " is memory, and that rank is on another node");
        return false;
    }
    if (const Fabric* const fabric = torus_.fabric();
        fabric != nullptr && fabric->joins(rank, send.peer, send.port)) {
        return true;
    }
    const std::int64_t way = torus_.displacement(rank, send.peer, dimension);
    const bool tie = torus_.is_tie(rank, send.peer, dimension);
    if (way == 0 || (!tie && (way > 0) != (send.port.sign() > 0))) {
        report(rank,
               "the wrong port: " + through(send.peer, send.port) + " is not on a shortest way");
        return false;
    }
    return true;
}

void PartProof::collect_sends(Rank rank, const Schedule& schedule, const Step& step) {
    for (const Send& send : schedule.sends_of(step)) {
        if (!check_route(rank, send)) {
            continue;
        }
        const std::size_t first = payload_blocks_.size();
        for (const Extent& e : schedule.extents_of(send)) {
            if (inside(rank, e, "a send reads")) {
                for (Block i = 0; i < e.count; ++i) {
                    append_payload(rank, e.first + i);
                }
            }
        }
        messages_.push_back({send.peer, rank, send.port.opposite(), first,
                             payload_blocks_.size() - first, send.opens});
        if (send.opens && send.extents.count > 0) {
            report(rank, "a send to " + through(send.peer, send.port) + " has blocks and opens");
        }
    }
}

void PartProof::append_payload(Rank rank, Block block) {
    const std::size_t at = payload_blocks_.size();
    payload_blocks_.push_back(block);
    if (at >= payload_.size()) {
        payload_.resize(std::max<std::size_t>(64, 2 * at));
    }
    payload_.copy(at, buffers_, index(rank, block));
    if (!payload_.is_defined(at)) {
        report(rank, "a send reads block " + std::to_string(block) + ", which is undefined");
    }
}

// Both sides sorted by (receiver, sender, port); stable, so that several messages between the same
// two ranks through the same port match in order.
void PartProof::match() {
    std::stable_sort(messages_.begin(), messages_.end(), [](const Message& a, const Message& b) {
        return std::tie(a.to, a.from, a.arrival) < std::tie(b.to, b.from, b.arrival);
    });
    std::vector<Expected*> waiting;
    waiting.reserve(expected_.size());
    for (Expected& e : expected_) {
        waiting.push_back(&e);
    }
    std::stable_sort(waiting.begin(), waiting.end(), [](const Expected* a, const Expected* b) {
        return std::tie(a->at, a->from, a->port) < std::tie(b->at, b->from, b->port);
    });
    auto next = waiting.begin();
    for (const Message& m : messages_) {
        const auto key = std::tie(m.to, m.from, m.arrival);
        while (next != waiting.end() && std::tie((*next)->at, (*next)->from, (*next)->port) < key) {
            ++next;
        }
        if (next != waiting.end() && std::tie((*next)->at, (*next)->from, (*next)->port) == key) {
            (*next)->message = &m;
            ++next;
        } else {
            report(m.from, "a send to " + through(m.to, m.arrival.opposite()) +
                               " has no matching receive in this step");
        }
    }
}

/// What arrives in a step is applied when all is there.
void PartProof::hear() {
    heard_before_ = heard_;
    for (const Expected& e : expected_) {
        if (e.message == nullptr) {
            report(e.at, "a receive from " + through(e.from, e.port) +
                             " has no matching send in this step");
            continue;
        }
        if (e.message->opens != e.receive->opens) {
            report(e.at, "the message from " + through(e.from, e.port) +
                             (e.message->opens ? " opens" : " does not open") +
                             " the sender's vector, other than the receive says");
        }
        heard_.unite(e.at, heard_before_, e.from);
        if (order_) {
            order_->hear(e.at, e.from, e.message->opens);
        }
    }
}

void PartProof::run_receives() {
    Rank previous = -1;
    for (const Expected& e : expected_) {
        if (e.at != previous) {
            ++step_epoch_;
            previous = e.at;
        }
        ++message_epoch_;
        if (e.message == nullptr) {
            continue;
        }
        const Schedule& schedule = schedules_[e.at];
        const auto applications = schedule.applications_of(*e.receive);
        if (applications.empty() && e.message->blocks > 0) {
            report(e.at, "the message from " + through(e.from, e.port) + " is not applied");
        }
        for (const Application& a : applications) {
            apply(e, a);
        }
    }
}

void PartProof::apply(const Expected& expected, const Application& application) {
    const auto extents = schedules_[expected.at].extents_of(application);
    const std::uint64_t blocks = block_count(extents);
    if (blocks != expected.message->blocks) {
        report(expected.at, "the message from " + through(expected.from, expected.port) + " has " +
                                std::to_string(expected.message->blocks) +
                                " blocks but is applied to " + std::to_string(blocks));
        return;
    }
    std::size_t payload = expected.message->payload;
    for (const Extent& e : extents) {
        if (inside(expected.at, e, "a receive writes")) {
            for (Block i = 0; i < e.count; ++i) {
                apply_block(expected, application.action, payload + i, e.first + i);
            }
        }
        payload += e.count;
    }
}

void PartProof::apply_block(const Expected& expected, Action action, std::size_t payload,
                            Block target) {
    const Rank rank = expected.at;
    const std::size_t at = index(rank, target);
    const auto complain = [&](const std::string& what) {
        report(rank, "the message from " + through(expected.from, expected.port) + " " + what +
                         " block " + std::to_string(target));
    };
    if (!pairs(expected.from, payload_blocks_[payload], rank, target)) {
        complain("pairs block " + std::to_string(payload_blocks_[payload]) +
                 " with another, which may differ in size:");
    } else if (blocks_both_ways() && begins_with(rank, target)) {
        complain("overwrites what is to be sent:");
    } else if (written_by_message_[target] == message_epoch_) {
        complain("writes twice");
    } else if (!payload_.is_defined(payload)) {
        return;  // reported at the send
    } else if (action == Action::replace) {
        if (written_in_step_[target] == step_epoch_) {
            complain("replaces what another message of this step wrote:");
        }
        buffers_.copy(at, payload_, payload);
    } else if (!buffers_.is_defined(at)) {
        complain("reduces into undefined");
    } else if (action == Action::prepend ? !buffers_.prepend(at, payload_, payload)
                                         : !buffers_.reduce(at, payload_, payload)) {
        complain("counts a contribution twice in");
    }
    if (order_) {
        order_->receive_writes(rank, target);
    }
    written_by_message_[target] = message_epoch_;
    written_in_step_[target] = step_epoch_;
}

void PartProof::unite_heard(SymbolicValues& heard) const {
    for (Rank r = 0; r < torus_.ranks(); ++r) {
        heard.unite(r, heard_, r);
    }
}

}  // namespace trefoil
