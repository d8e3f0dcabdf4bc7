// SPDX-License-Identifier: BSD-3-Clause
// The stock of handles: those that were destroyed longest ago are used again.
#include "comm/api/c_handles.hpp"

#include <deque>
#include <mutex>

namespace trefoil::c_api {

namespace {

/// So many handles are known to be destroyed.
constexpr std::size_t most_kept = 1024;

/// Never destroyed, as programs may end communicators at their very end.
struct DestroyedHandles {
    std::mutex mutex;
    std::deque<std::unique_ptr<trefoil_comm>> destroyed;
};

DestroyedHandles& destroyed_handles() {
    static auto* const instance = new DestroyedHandles;
    return *instance;
}

std::unique_ptr<trefoil_comm> take() {
    DestroyedHandles& all = destroyed_handles();
    const std::lock_guard lock(all.mutex);
    if (all.destroyed.size() < most_kept) {
        return std::make_unique<trefoil_comm>();
    }
    auto oldest = std::move(all.destroyed.front());
    all.destroyed.pop_front();
    return oldest;
}

}  // namespace

trefoil_comm_t new_handle(std::unique_ptr<Communicator> communicator) {
    if (communicator == nullptr) {
        return nullptr;
    }
    auto handle = take();
    handle->rank = communicator->rank();
    handle->ranks = communicator->ranks();
    handle->process = this_process_number();
    handle->requests.emplace(*handle);
    handle->repeated = {};
    handle->barrier = {};
    handle->communicator = std::move(communicator);
    return handle.release();
}

void end_handle(trefoil_comm_t comm) noexcept {
    comm->requests.reset();
    comm->communicator.reset();
    std::unique_ptr<trefoil_comm> handle(comm);
    DestroyedHandles& all = destroyed_handles();
    const std::lock_guard lock(all.mutex);
    try {
        all.destroyed.push_back(std::move(handle));
    } catch (const std::bad_alloc&) {  // then nobody knows this one any more
    }
}

}  // namespace trefoil::c_api
