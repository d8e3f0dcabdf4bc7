// SPDX-License-Identifier: BSD-3-Clause
// A port group that sends nothing: it keeps what is put, and hands out what the test lets happen.
#pragma once

#include <vector>

#include "tests/backend/ports/silent_group.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/put_cookie.hpp"

namespace trefoil::test {

class RecordingGroup : public SilentGroup {
  public:
    using SilentGroup::SilentGroup;

    // What puts return.
    PutResult result = PutResult::queued;
    std::size_t accepts = ~std::size_t{0};  ///< so many puts in all; then they are to come again
    // What has been asked for.
    std::vector<Put> puts;

    void arrives(std::uint64_t notification) {
        events.push_back({Event::Kind::arrived, notification, 0});
    }
    /// Those that were queued complete, in their order.
    void complete_puts() {
        for (; completed_ < puts.size(); ++completed_) {
            events.push_back({Event::Kind::sent, 0, puts[completed_].cookie});
        }
    }

    PutResult put(const Put& put) override {
        if (puts.size() >= accepts) {
            return PutResult::again;
        }
        if (result == PutResult::done || result == PutResult::queued) {
            puts.push_back(put);
        }
        return result;
    }

  private:
    std::size_t completed_ = 0;
};

}  // namespace trefoil::test
