// SPDX-License-Identifier: BSD-3-Clause
// A process-wide list of what groups leave.
#include "backend/ofi/ends_here.hpp"

#include <map>
#include <mutex>

namespace trefoil::ofi {

namespace {

struct Ends {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<void>> by_address;
};

Ends& ends() {
    static Ends& all = *new Ends;  // groups may outlive static objects
    return all;
}

}  // namespace

void add_end(const std::string& address, const std::shared_ptr<void>& remains) {
    const std::lock_guard lock(ends().mutex);
    std::erase_if(ends().by_address, [](const auto& end) { return end.second.expired(); });
    ends().by_address[address] = remains;
}

std::shared_ptr<void> end_at(const std::string& address) {
    const std::lock_guard lock(ends().mutex);
    const auto found = ends().by_address.find(address);
    return found == ends().by_address.end() ? nullptr : found->second.lock();
}

}  // namespace trefoil::ofi
