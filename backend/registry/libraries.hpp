// SPDX-License-Identifier: BSD-3-Clause
// The network and launcher libraries that this build uses, with the versions that are loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trefoil {

struct LibraryInfo {
    std::string_view name;  ///< "libfabric"
    std::string version;    ///< "1.17.0", as the library itself tells; empty: not there
    std::string note;       ///< why it is not there, or what is particular
};

/// libfabric, UCX and PMIx; those that are absent say why. Thread-safe.
std::vector<LibraryInfo> libraries();

}  // namespace trefoil
