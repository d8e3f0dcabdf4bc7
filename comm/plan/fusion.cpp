// SPDX-License-Identifier: BSD-3-Clause
// Each reduction looks for the next one into its place.
#include "comm/plan/fusion.hpp"

#include <algorithm>

namespace trefoil {

namespace {

/// Keeps lowering of scattered messages linear.
constexpr std::size_t fusion_horizon = 256;

bool overlap(const ProgramOp& a, const ProgramOp& b, std::size_t element_bytes) {
    return a.target.space == b.target.space &&
           a.target.offset < b.target.offset + target_bytes(b, element_bytes) &&
           b.target.offset < a.target.offset + target_bytes(a, element_bytes);
}

/// The later reduction that goes on with the result of ops[i] in its place, or i.
std::size_t fusion_partner(const std::vector<ProgramOp>& ops, std::size_t i,
                           std::size_t element_bytes) {
    if (ops[i].kind != ProgramOp::Kind::reduce) {
        return i;
    }
    const std::size_t horizon = std::min(ops.size(), i + fusion_horizon);
    for (std::size_t j = i + 1; j < horizon; ++j) {
        if (!overlap(ops[i], ops[j], element_bytes)) {
            continue;
        }
        const bool goes_on = ops[j].kind == ProgramOp::Kind::reduce &&
                             ops[j].target == ops[i].target && ops[j].source == ops[i].target &&
                             ops[j].elements == ops[i].elements;
        return goes_on ? j : i;
    }
    return i;
}

}  // namespace

void fuse(std::vector<ProgramOp>& ops, std::size_t element_bytes) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const std::size_t partner = fusion_partner(ops, i, element_bytes);
        if (partner != i) {
            ops[i].kind = ProgramOp::Kind::joint;
            ops[i].third = ops[partner].second;
            ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(partner));
        }
    }
}

}  // namespace trefoil
