// SPDX-License-Identifier: BSD-3-Clause
// uTofu's functions, found when its library is loaded at run time.
#pragma once

#include <string>
#include <vector>

#include "backend/utofu/utofu_interface.hpp"
#include "topo/torus.hpp"

namespace trefoil::utofu {

struct Library {
    decltype(&utofu_get_onesided_tnis) get_onesided_tnis = nullptr;
    decltype(&utofu_query_onesided_caps) query_onesided_caps = nullptr;
    decltype(&utofu_query_my_coords) query_my_coords = nullptr;
    decltype(&utofu_create_vcq) create_vcq = nullptr;
    decltype(&utofu_free_vcq) free_vcq = nullptr;
    decltype(&utofu_query_vcq_id) query_vcq_id = nullptr;
    decltype(&utofu_set_vcq_id_path) set_vcq_id_path = nullptr;
    decltype(&utofu_reg_mem) reg_mem = nullptr;
    decltype(&utofu_dereg_mem) dereg_mem = nullptr;
    decltype(&utofu_put) put = nullptr;
    decltype(&utofu_put_piggyback) put_piggyback = nullptr;
    decltype(&utofu_put_piggyback8) put_piggyback8 = nullptr;
    decltype(&utofu_armw8) armw8 = nullptr;
    decltype(&utofu_poll_tcq) poll_tcq = nullptr;
    decltype(&utofu_poll_mrq) poll_mrq = nullptr;
};

/// Loads libtofucom once. Throws Error(not_found) that says what is missing. Thread-safe.
const Library& library();

/// "UTOFU_ERR_BUSY (-4)"; the number alone where it is none that is known.
std::string code_text(int code);

/// Throws Error(system_error) that says what could not be done unless `code` is success.
void check(int code, const std::string& what);

/// What one network interface (TNI) of this node offers.
struct Interface {
    utofu_tni_id_t number = 0;
    utofu_onesided_caps caps{};
};
/// Those that this process may use, ascending. Throws Error(not_found) where there is none, and
/// Error(unsupported) where one lacks what the port groups need.
std::vector<Interface> interfaces();

/// "3.14.7.0.2.1": this node's place (x, y, z, a, b, c); empty where the library does not tell.
std::string coordinates_text();
/// The same as numbers; empty: the library does not tell.
std::vector<Rank> coordinates();

}  // namespace trefoil::utofu
