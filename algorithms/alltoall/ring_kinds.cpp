// SPDX-License-Identifier: BSD-3-Clause
// Makes rings of each kind, and keeps those that are tables.
#include "algorithms/alltoall/ring_kinds.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "algorithms/alltoall/bine_ring.hpp"
#include "algorithms/alltoall/signed_digit_ring.hpp"
#include "algorithms/alltoall/tabulated_ring.hpp"

namespace trefoil {

std::shared_ptr<const RingAlltoall> ring_alltoall(RingKind kind, Rank size, int radix) {
    switch (kind) {
        case RingKind::digits:
            return std::make_shared<SignedDigitRing>(size, radix);
        case RingKind::direct:
            return std::make_shared<SignedDigitRing>(size, size + 1);
        case RingKind::bine:
            return std::make_shared<BineRing>(size);
        default:
            break;
    }
    static std::mutex mutex;
    static auto& tables =
        *new std::map<std::pair<RingKind, Rank>, std::shared_ptr<const RingAlltoall>>;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const RingAlltoall>& table = tables[{kind, size}];
    if (!table) {
        const auto steps = kind == RingKind::tree        ? tree_steps
                           : kind == RingKind::passed_on ? passed_on_steps
                                                         : one_port_tree_steps;
        table = std::make_shared<TabulatedRing>(size, steps(size));
    }
    return table;
}

}  // namespace trefoil
