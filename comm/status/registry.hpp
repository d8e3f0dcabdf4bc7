// SPDX-License-Identifier: BSD-3-Clause
// The communicators of a rank, for a thread that looks at them all.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/status/report.hpp"

namespace trefoil {

/// Thread-safe.
class CommunicatorRegistry {
  public:
    /// Called by any thread, while the engine is held.
    using Report = std::function<CommunicatorReport()>;

    /// A communicator is in the registry while this lives. Its end waits for those who look.
    class Entry {
      public:
        Entry(CommunicatorRegistry& registry, Report report) : registry_(registry) {
            const std::lock_guard lock(registry_.mutex_);
            registry_.all_[this] = std::move(report);
        }
        ~Entry() {
            const std::lock_guard lock(registry_.mutex_);
            registry_.all_.erase(this);
        }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

      private:
        CommunicatorRegistry& registry_;
    };

    /// hold(look) holds the engine while it calls look(), which returns the reports.
    template <typename Hold>
    void look(Hold&& hold) {
        const std::lock_guard lock(mutex_);
        hold([this] {
            std::vector<CommunicatorReport> reports;
            for (const auto& [entry, report] : all_) {
                reports.push_back(report());
            }
            return reports;
        });
    }

  private:
    std::mutex mutex_;
    std::map<const Entry*, Report> all_;
};

}  // namespace trefoil
