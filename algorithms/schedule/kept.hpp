// SPDX-License-Identifier: BSD-3-Clause
// Keeps what was made for one rank, as it serves the others.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace trefoil {

/// The last few of what takes long to make. Thread-safe.
template <typename Key, typename Value>
class Kept {
  public:
    explicit Kept(std::size_t most) : most_(most) {}

    /// make() returns a std::shared_ptr<const Value>. Two threads that want the same wait for one
    /// of them.
    template <typename Make>
    std::shared_ptr<const Value> get(const Key& key, Make&& make) {
        const std::lock_guard lock(mutex_);
        for (auto known = kept_.begin(); known != kept_.end(); ++known) {
            if (known->first == key) {
                auto found = *known;
                kept_.erase(known);
                kept_.push_back(found);
                return found.second;
            }
        }
        kept_.emplace_back(key, make());
        if (kept_.size() > most_) {
            kept_.pop_front();
        }
        return kept_.back().second;
    }

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::deque<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

}  // namespace trefoil
