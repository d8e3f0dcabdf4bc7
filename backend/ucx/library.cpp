// SPDX-License-Identifier: BSD-3-Clause
// Loading UCX. Its headers give the types, so that the compiler checks every call.
#include "backend/ucx/library.hpp"

#include <utility>

#include "backend/system/loaded_library.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"

namespace trefoil::ucx {

namespace {

struct Version {
    unsigned major = 0, minor = 0, release = 0;
};

Version version_of(const Library& ucx) {
    Version version;
    ucx.get_version(&version.major, &version.minor, &version.release);
    return version;
}

std::string text_of(const Version& version) {
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.release);
}

/// As long as Linux allows. UCX (1.13 and before) copies it into 64 bytes when it is loaded, and
/// ends the process.
constexpr std::size_t too_long_a_host_name = 64;

Library load_ucx() {
    const std::string otherwise =
        "choose another backend (TREFOIL_BACKEND=ofi, or memory on one host)";
    if (host_name().size() >= too_long_a_host_name) {
        throw Error(Status::unsupported,
                    "UCX ends a process on a host whose name has 64 bytes; give the host a shorter "
                    "name, or " +
                        otherwise);
    }
    require_affinity_to_be_told("UCX", otherwise);
    const LoadedLibrary loaded("UCX", "libucp.so.0", "libucx0", otherwise);  // brings uct and ucs
    Library found;
    loaded.find("ucp_get_version", found.get_version);
    loaded.find("ucp_init_version", found.init_version);
    loaded.find("ucp_cleanup", found.cleanup);
    loaded.find("ucp_config_read", found.config_read);
    loaded.find("ucp_config_release", found.config_release);
    loaded.find("ucp_config_modify", found.config_modify);
    loaded.find("ucp_config_print", found.config_print);
    loaded.find("ucp_context_print_info", found.context_print_info);
    loaded.find("ucp_worker_create", found.worker_create);
    loaded.find("ucp_worker_destroy", found.worker_destroy);
    loaded.find("ucp_worker_progress", found.worker_progress);
    loaded.find("ucp_worker_arm", found.worker_arm);
    loaded.find("ucp_worker_get_efd", found.worker_get_efd);
    loaded.find("ucp_worker_get_address", found.worker_get_address);
    loaded.find("ucp_worker_release_address", found.worker_release_address);
    loaded.find("ucp_worker_set_am_recv_handler", found.worker_set_am_recv_handler);
    loaded.find("ucp_ep_create", found.ep_create);
    loaded.find("ucp_ep_rkey_unpack", found.ep_rkey_unpack);
    loaded.find("ucp_rkey_pack", found.rkey_pack);
    loaded.find("ucp_rkey_ptr", found.rkey_ptr);
    loaded.find("ucp_rkey_destroy", found.rkey_destroy);
    loaded.find("ucp_rkey_buffer_release", found.rkey_buffer_release);
    loaded.find("ucp_mem_map", found.mem_map);
    loaded.find("ucp_mem_query", found.mem_query);
    loaded.find("ucp_mem_unmap", found.mem_unmap);
    loaded.find("ucp_am_send_nbx", found.am_send_nbx);
    loaded.find("ucp_am_recv_data_nbx", found.am_recv_data_nbx);
    loaded.find("ucp_request_check_status", found.request_check_status);
    loaded.find("ucp_request_free", found.request_free);
    loaded.find("uct_query_components", found.query_components);
    loaded.find("uct_release_component_list", found.release_component_list);
    loaded.find("uct_component_query", found.component_query);
    loaded.find("uct_md_config_read", found.md_config_read);
    loaded.find("uct_config_release", found.md_config_release);
    loaded.find("uct_md_open", found.md_open);
    loaded.find("uct_md_close", found.md_close);
    loaded.find("uct_md_query", found.md_query);
    loaded.find("uct_md_query_tl_resources", found.md_query_tl_resources);
    loaded.find("uct_release_tl_resource_list", found.release_tl_resource_list);
    loaded.find("ucs_status_string", found.status_string);
    const Version version = version_of(found);
    if (std::pair(version.major, version.minor) < std::pair(1U, 13U)) {
        throw Error(Status::not_found, "UCX: version " + text_of(version) +
                                           " was loaded, and Trefoil needs 1.13 or later; name the "
                                           "directory of such a one in LD_LIBRARY_PATH, or " +
                                           otherwise);
    }
    return found;
}

}  // namespace

const Library& library() {
    static const Library loaded = load_ucx();
    return loaded;
}

std::string version_text() {
    return text_of(version_of(library()));
}

unsigned minor_version() {
    return version_of(library()).minor;
}

void require_same(std::uint64_t minor) {
    const unsigned own = minor_version();
    if (own != minor) {
        throw Error(Status::mismatch, "a peer uses UCX 1." + std::to_string(minor) +
                                          " and this rank 1." + std::to_string(own) +
                                          "; use the same UCX on all ranks (LD_LIBRARY_PATH)");
    }
}

}  // namespace trefoil::ucx
