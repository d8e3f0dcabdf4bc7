// SPDX-License-Identifier: BSD-3-Clause
// Groups that share no interface divide them among themselves; others go round all of them.
#include "backend/utofu/claims.hpp"

#include <algorithm>
#include <mutex>

#include "topo/error.hpp"

namespace trefoil::utofu {

namespace {

std::mutex claims_mutex;

/// Begins with the interface that is the port's by its number, and ends with its last resort.
std::vector<Interface> from(const std::vector<Interface>& mine, std::size_t first) {
    std::vector<Interface> order = mine;
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(first % order.size());
    std::rotate(order.begin(), middle, order.end());
    return order;
}

}  // namespace

Claims& Claims::of_process() {
    static auto& claims = *new Claims;
    return claims;
}

std::vector<Claims::Grant> Claims::claim(const BackendConfig& config,
                                         const std::vector<Interface>& all, bool shared) {
    const std::scoped_lock lock(claims_mutex);
    users_.resize(std::max(users_.size(), all.size()));
    const bool taken_alone = std::any_of(users_.begin(), users_.end(),
                                         [](const Users& users) { return users.alone > 0; });
    const bool taken = taken_alone || std::any_of(users_.begin(), users_.end(),
                                                  [](const Users& u) { return u.shared > 0; });
    if (taken_alone) {
        throw Error(Status::unsupported,
                    "uTofu: other port groups of this process have its network interfaces for "
                    "themselves; set TREFOIL_UTOFU_THREAD_SAFE=1 for groups that share them");
    }
    shared |= taken || config.groups.size() > all.size();
    std::vector<Grant> grants;
    for (std::size_t g = 0; g < config.groups.size(); ++g) {
        std::vector<std::size_t> places;
        std::vector<Interface> mine;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (shared || i % config.groups.size() == g) {
                places.push_back(i);
                mine.push_back(all[i]);
                ++(shared ? users_[i].shared : users_[i].alone);
            }
        }
        Grant grant;
        grant.hold = std::make_shared<Hold>(*this, std::move(places), shared);
        for (std::size_t i = 0; i < config.groups[g].size(); ++i) {
            // Ranks of one node begin with different interfaces.
            const std::size_t port =
                shared ? static_cast<std::size_t>(config.groups[g][i].index) : i;
            grant.interfaces.push_back(from(mine, port + static_cast<std::size_t>(config.rank)));
        }
        grants.push_back(std::move(grant));
    }
    return grants;
}

void Claims::give_back(const Hold& hold) {
    const std::scoped_lock lock(claims_mutex);
    for (const std::size_t place : hold.places_) {
        --(hold.shared_ ? users_[place].shared : users_[place].alone);
    }
}

}  // namespace trefoil::utofu
