// SPDX-License-Identifier: BSD-3-Clause
// Two reductions in one pass.
#pragma once

#include <cstddef>
#include <vector>

#include "threads/executor/program.hpp"

namespace trefoil {

/// How many bytes an operation writes.
inline std::size_t target_bytes(const ProgramOp& op, std::size_t element_bytes) {
    return op.kind == ProgramOp::Kind::copy ? op.elements : op.elements * element_bytes;
}

/// Joins two reductions into the same place into one pass, where nothing between touches it.
void fuse(std::vector<ProgramOp>& ops, std::size_t element_bytes);

}  // namespace trefoil
