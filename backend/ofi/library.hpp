// SPDX-License-Identifier: BSD-3-Clause
// The few functions that libfabric exports, found when it is loaded at run time: Debian's takes 0.2
// seconds for that, which only those shall pay who use it.
#pragma once

#include <rdma/fabric.h>

#include <string>

namespace trefoil::ofi {

/// All else that <rdma/...> declares is inline and goes through tables in libfabric's objects.
struct Library {
    decltype(&fi_getinfo) getinfo = nullptr;
    decltype(&fi_freeinfo) freeinfo = nullptr;
    decltype(&fi_dupinfo) dupinfo = nullptr;
    decltype(&fi_fabric) fabric = nullptr;
    decltype(&fi_strerror) strerror = nullptr;
    decltype(&fi_version) version = nullptr;
};

/// The interface that Trefoil asks libfabric for, and the oldest library that has it.
constexpr std::uint32_t api_version = FI_VERSION(1, 17);

/// "1.17"
std::string version_text(std::uint32_t version);

/// Loads libfabric once. Throws Error(not_found) that says what is missing. Thread-safe.
const Library& library();

}  // namespace trefoil::ofi
