// SPDX-License-Identifier: BSD-3-Clause
// A port group between threads, for tests of an executor: sources must be registered, bytes leave
// only when polled, puts are refused now and then, and completions can be held back.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/threads/executor/loose_group.hpp"

namespace trefoil::test {

/// What has been accepted keeps its order.
class GroupDouble final : public LooseGroup {
  public:
    explicit GroupDouble(const std::vector<Port>& ports) : LooseGroup(ports, 1) {
        traits_.needs_registered_source = true;
        powers_.registering = nullptr;  // none but allocated memory is looked for
    }

    /// From now on completions wait until `over()`, which is asked by the group's owner.
    void hold_completions(std::function<bool()> over) { held_until_ = std::move(over); }
    /// Puts to `peer` from now on are refused and counted, as if it had to be connected to anew.
    void lose(const GroupDouble& peer) { lost_.insert(&peer); }
    int refused_to_lost() const { return refused_to_lost_; }

    PutResult put(const Put& put) override {
        if (lost_.count(reinterpret_cast<GroupDouble*>(put.peer.handle)) > 0) {
            ++refused_to_lost_;
            return PutResult::again;
        }
        EXPECT_LE(put.offset + put.bytes, put.target.bytes);
        EXPECT_TRUE(put.bytes == 0 || is_registered(put));
        return LooseGroup::put(put);
    }
    std::size_t poll(std::span<Event> room) override {
        if (!leaving_.empty()) {
            land(leaving_.front());
            completing_.push_back(leaving_.front().cookie);
            leaving_.pop_front();
        }
        if (held_until_ && held_until_()) {
            held_until_ = {};
        }
        std::size_t count = 0;
        for (; !held_until_ && !completing_.empty() && count < room.size();
             completing_.pop_front()) {
            room[count++] = {Event::Kind::sent, 0, completing_.front()};
        }
        const std::lock_guard lock(mutex_);
        for (; !arrived_.empty() && count < room.size(); arrived_.pop_front()) {
            room[count++] = {Event::Kind::arrived, arrived_.front(), 0};
        }
        return count;
    }

  private:
    bool is_registered(const Put& put) const {
        const auto* const first = static_cast<const std::byte*>(put.source);
        return std::any_of(memory_.begin(), memory_.end(), [&](const auto& memory) {
            return &memory == put.descriptor && first >= memory.data() &&
                   first + put.bytes <= memory.data() + memory.size();
        });
    }

    std::function<bool()> held_until_;
    std::set<const GroupDouble*> lost_;
    int refused_to_lost_ = 0;
};

}  // namespace trefoil::test
