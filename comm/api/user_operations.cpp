// SPDX-License-Identifier: BSD-3-Clause
// The register of the user's operations, one for the process.
#include "comm/api/user_operations.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace trefoil {

namespace {

struct Register {
    std::mutex mutex;
    std::map<int, std::shared_ptr<const UserOperation>> operations;
    int next = first_user_operation;
};

/// Never destroyed: programs may free operations while they exit.
Register& all() {
    static auto* const instance = new Register;
    return *instance;
}

}  // namespace

int add_user_operation(UserOperation operation) {
    Register& r = all();
    operation.in_use = std::make_shared<char>();
    const std::lock_guard lock(r.mutex);
    while (r.operations.contains(r.next)) {
        r.next = operation_after(r.next);
    }
    r.operations[r.next] = std::make_shared<const UserOperation>(operation);
    return std::exchange(r.next, operation_after(r.next));
}

std::shared_ptr<const UserOperation> find_user_operation(int number) {
    Register& r = all();
    const std::lock_guard lock(r.mutex);
    const auto found = r.operations.find(number);
    return found == r.operations.end() ? nullptr : found->second;
}

Removal remove_user_operation(int number) {
    Register& r = all();
    const std::lock_guard lock(r.mutex);
    const auto found = r.operations.find(number);
    if (found == r.operations.end()) {
        return Removal::unknown;
    }
    if (found->second->in_use.use_count() > 1) {
        return Removal::in_use;
    }
    r.operations.erase(found);
    return Removal::done;
}

}  // namespace trefoil
