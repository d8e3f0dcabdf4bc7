// SPDX-License-Identifier: BSD-3-Clause
// Operations of the user's, by the numbers that trefoil_op_t has for them.
#pragma once

#include <limits>
#include <memory>

#include "threads/kernels/reduce.hpp"

namespace trefoil {

/// The first number that is no built-in operation.
inline constexpr int first_user_operation = 1024;
/// What comes behind the last number is the first one again.
constexpr int operation_after(int number) {
    return number == std::numeric_limits<int>::max() ? first_user_operation : number + 1;
}

/// All thread-safe.
int add_user_operation(UserOperation operation);
/// Null when there is none of that number. What was found lives on after its removal.
std::shared_ptr<const UserOperation> find_user_operation(int number);
enum class Removal { done, unknown, in_use };
Removal remove_user_operation(int number);

}  // namespace trefoil
