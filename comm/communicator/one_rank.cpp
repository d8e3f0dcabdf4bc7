// SPDX-License-Identifier: BSD-3-Clause
// One rank: its own block is the vector.
#include "comm/communicator/one_rank.hpp"

#include <cstring>

namespace trefoil {

namespace {

/// A rank alone is all its neighbours.
void exchange_alone(const Request& request, const Torus& torus, const void* send, void* recv) {
    const std::size_t element = request.element_bytes();
    const Request sending = request.sending();
    for (int slot = 0; slot < torus.ports(); ++slot) {
        const Rank from = request.traits().in.data == Data::own_block ? 0 : opposite_slot(slot);
        if (const std::size_t bytes = request.count_of(slot) * element; bytes > 0) {
            std::memcpy(
                static_cast<std::byte*>(recv) + request.displacement_of(slot) * element,
                static_cast<const std::byte*>(send) + sending.displacement_of(from) * element,
                bytes);
        }
    }
}

}  // namespace

void run_alone(const Request& request, const Torus& torus, const void* send, void* recv) {
    if (request.traits().with_neighbours()) {
        exchange_alone(request, torus, send, recv);
        return;
    }
    const std::size_t bytes = request.count_of(0) * request.element_bytes();
    const auto offset = [&](const Request& side, bool all) {
        return all ? side.displacement_of(0) * request.element_bytes() : 0;
    };
    const CollectiveTraits& row = request.traits();
    if (row.prefix == Prefix::exclusive || bytes == 0 || send == nullptr || recv == nullptr) {
        return;
    }
    const auto* const source = static_cast<const std::byte*>(send) +
                               offset(request.sending(), row.in.data == Data::rank_blocks);
    auto* const target =
        static_cast<std::byte*>(recv) + offset(request, row.out.data == Data::rank_blocks);
    if (source != target) {
        std::memmove(target, source, bytes);
    }
}

}  // namespace trefoil
