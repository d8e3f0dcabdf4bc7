// SPDX-License-Identifier: BSD-3-Clause
// The store as a launcher: where it is, and rank 0 serving it when nobody else does.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backend/bootstrap/launcher.hpp"

namespace trefoil {

struct StoreAddress {
    std::string host;
    int port = 0;
};

/// "host:port", "192.0.2.1:7000", "[::1]:7000". Throws Error(invalid_argument) for anything else.
StoreAddress parse_store_address(std::string_view text);

/// Joins the store at request.store. Rank 0 first tries to serve it itself, at exactly that
/// address: this fails where `trefoil run` or another process does already, and where the address
/// is another host's; then it is a client like the others. What it serves lives until the process
/// ends.
std::unique_ptr<Bootstrap> make_served_store_bootstrap(const LauncherRequest& request);

}  // namespace trefoil
