// SPDX-License-Identifier: BSD-3-Clause
// UCX's functions, found when it is loaded at run time: it hooks memory calls and signals of every
// process that it is in, which only those shall bear who use it.
#pragma once

#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include <cstdint>
#include <string>

namespace trefoil::ucx {

struct Library {
    decltype(&ucp_get_version) get_version = nullptr;
    decltype(&ucp_init_version) init_version = nullptr;
    decltype(&ucp_cleanup) cleanup = nullptr;
    decltype(&ucp_config_read) config_read = nullptr;
    decltype(&ucp_config_release) config_release = nullptr;
    decltype(&ucp_config_modify) config_modify = nullptr;
    decltype(&ucp_config_print) config_print = nullptr;
    decltype(&ucp_context_print_info) context_print_info = nullptr;
    decltype(&ucp_worker_create) worker_create = nullptr;
    decltype(&ucp_worker_destroy) worker_destroy = nullptr;
    decltype(&ucp_worker_progress) worker_progress = nullptr;
    decltype(&ucp_worker_arm) worker_arm = nullptr;
    decltype(&ucp_worker_get_efd) worker_get_efd = nullptr;
    decltype(&ucp_worker_get_address) worker_get_address = nullptr;
    decltype(&ucp_worker_release_address) worker_release_address = nullptr;
    decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
    decltype(&ucp_ep_create) ep_create = nullptr;
    decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack = nullptr;
    decltype(&ucp_rkey_pack) rkey_pack = nullptr;
    decltype(&ucp_rkey_ptr) rkey_ptr = nullptr;
    decltype(&ucp_rkey_destroy) rkey_destroy = nullptr;
    decltype(&ucp_rkey_buffer_release) rkey_buffer_release = nullptr;
    decltype(&ucp_mem_map) mem_map = nullptr;
    decltype(&ucp_mem_query) mem_query = nullptr;
    decltype(&ucp_mem_unmap) mem_unmap = nullptr;
    decltype(&ucp_am_send_nbx) am_send_nbx = nullptr;
    decltype(&ucp_am_recv_data_nbx) am_recv_data_nbx = nullptr;
    decltype(&ucp_request_check_status) request_check_status = nullptr;
    decltype(&ucp_request_free) request_free = nullptr;
    decltype(&uct_query_components) query_components = nullptr;
    decltype(&uct_release_component_list) release_component_list = nullptr;
    decltype(&uct_component_query) component_query = nullptr;
    decltype(&uct_md_config_read) md_config_read = nullptr;
    decltype(&uct_config_release) md_config_release = nullptr;
    decltype(&uct_md_open) md_open = nullptr;
    decltype(&uct_md_close) md_close = nullptr;
    decltype(&uct_md_query) md_query = nullptr;
    decltype(&uct_md_query_tl_resources) md_query_tl_resources = nullptr;
    decltype(&uct_release_tl_resource_list) release_tl_resource_list = nullptr;
    decltype(&ucs_status_string) status_string = nullptr;
};

/// Loads UCX once. Throws Error(not_found) that says what is missing. Thread-safe.
const Library& library();

/// "1.13.1", as the library itself tells.
std::string version_text();
/// Its second number.
unsigned minor_version();
/// Throws Error(mismatch) if a peer's UCX 1.minor is another: over sockets 1.22 connects neither to
/// 1.18 nor to 1.13, and 1.13 ends its process then.
void require_same(std::uint64_t minor);

}  // namespace trefoil::ucx
