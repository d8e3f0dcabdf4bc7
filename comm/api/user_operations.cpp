// SPDX-License-Identifier: BSD-3-Clause
// The register of the user's operations, one for the process.
#include "comm/api/user_operations.hpp"

#include <map>
#include <mutex>

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
    const std::lock_guard lock(r.mutex);
    r.operations[r.next] = std::make_shared<const UserOperation>(operation);
    return r.next++;
}

std::shared_ptr<const UserOperation> find_user_operation(int number) {
    Register& r = all();
    const std::lock_guard lock(r.mutex);
    const auto found = r.operations.find(number);
    return found == r.operations.end() ? nullptr : found->second;
}

bool remove_user_operation(int number) {
    Register& r = all();
    const std::lock_guard lock(r.mutex);
    return r.operations.erase(number) > 0;
}

}  // namespace trefoil
