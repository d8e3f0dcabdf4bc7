// SPDX-License-Identifier: BSD-3-Clause
// Accesses in words, and what is one step weaker.
#include <cstring>

#include "tests/weak_order/machine.hpp"

namespace trefoil::weak {

std::string Site::text() const {
    const char* const slash = std::strrchr(file, '/');
    return std::string(slash == nullptr ? file : slash + 1) + ":" + std::to_string(line);
}

bool Site::operator==(const Site& other) const {
    return line == other.line && std::strcmp(file, other.file) == 0;
}

std::string to_string(std::memory_order order) {
    switch (order) {
        case std::memory_order_acquire:
            return "acquire";
        case std::memory_order_release:
            return "release";
        case std::memory_order_acq_rel:
            return "acq_rel";
        case std::memory_order_seq_cst:
            return "seq_cst";
        default:
            return "relaxed";
    }
}

std::vector<std::memory_order> weaker(const Access& access) {
    using enum std::memory_order;
    if (access.order == acq_rel) {
        return {acquire, release};
    }
    if (access.kind == Access::Kind::fence && access.order == seq_cst) {
        return {acq_rel};
    }
    if (access.order != seq_cst) {
        return access.order == relaxed ? std::vector<std::memory_order>{} : std::vector{relaxed};
    }
    return {access.kind == Access::Kind::load    ? acquire
            : access.kind == Access::Kind::store ? release
                                                 : acq_rel};
}

}  // namespace trefoil::weak
