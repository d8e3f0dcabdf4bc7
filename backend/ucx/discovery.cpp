// SPDX-License-Identifier: BSD-3-Clause
// Asks UCX's lower layer for its transports and devices; reads and changes UCX's configuration.
#include "backend/ucx/discovery.hpp"

#include <uct/api/uct.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "backend/system/kept_handlers.hpp"
#include "topo/host.hpp"
#include "topo/variable.hpp"

namespace trefoil::ucx {

namespace {

using Components = std::unique_ptr<uct_component_h, Release<&Library::release_component_list>>;
using Domain = std::unique_ptr<uct_md, Release<&Library::md_close>>;

// Interface name -> its IPv4 addresses, the first one first.
std::map<std::string, std::vector<std::string>> interface_addresses() {
    std::map<std::string, std::vector<std::string>> addresses;
    for (const NetworkInterface& interface : network_interfaces()) {
        if (interface.address.find(':') == std::string::npos) {
            addresses[interface.name].push_back(interface.address);
        }
    }
    return addresses;
}

struct Resource {
    ProviderInfo names;
    bool maps = false;  ///< peers' memory can be mapped with it
};

bool maps_memory(uct_md_h domain) {
    uct_md_attr_t attributes{};
    return library().md_query(domain, &attributes) == UCS_OK &&
           (attributes.cap.flags & UCT_MD_FLAG_RKEY_PTR) != 0;
}

void add_resources(uct_component_h component, const char* domain_name,
                   std::vector<Resource>& found) {
    uct_md_config_t* config = nullptr;
    if (library().md_config_read(component, nullptr, nullptr, &config) != UCS_OK) {
        return;
    }
    uct_md_h opened = nullptr;
    const ucs_status_t status = library().md_open(component, domain_name, config, &opened);
    library().md_config_release(config);
    if (status != UCS_OK) {
        return;
    }
    const Domain domain(opened);
    uct_tl_resource_desc_t* list = nullptr;
    unsigned count = 0;
    if (library().md_query_tl_resources(opened, &list, &count) != UCS_OK) {
        return;
    }
    const bool maps = maps_memory(opened);
    for (unsigned i = 0; i < count; ++i) {
        found.push_back({{list[i].tl_name, list[i].dev_name, ""}, maps});
    }
    library().release_tl_resource_list(list);
}

void add_component(uct_component_h component, std::vector<Resource>& found) {
    uct_component_attr_t attributes{};
    attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
    if (library().component_query(component, &attributes) != UCS_OK) {
        return;
    }
    std::vector<uct_md_resource_desc_t> domains(attributes.md_resource_count);
    attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attributes.md_resources = domains.data();
    if (library().component_query(component, &attributes) != UCS_OK) {
        return;
    }
    for (const uct_md_resource_desc_t& domain : domains) {
        add_resources(component, domain.md_name, found);
    }
}

std::vector<Resource> all_resources() {
    std::vector<Resource> found;
    const KeptHandlers handlers;  // modules are loaded here
    uct_component_h* list = nullptr;
    unsigned count = 0;
    check(library().query_components(&list, &count), "list its components");
    const Components components(list);
    for (unsigned i = 0; i < count; ++i) {
        add_component(list[i], found);
    }
    return found;
}

// What UCX prints to a stream.
template <typename Print>
std::string printed(const Print& print) {
    char* text = nullptr;
    std::size_t bytes = 0;
    FILE* stream = open_memstream(&text, &bytes);
    if (stream == nullptr) {
        return {};
    }
    print(stream);
    std::fclose(stream);
    std::string copy(text, bytes);
    std::free(text);
    return copy;
}

void modify(ucp_config_t& config, const char* name, const std::string& value) {
    check(library().config_modify(&config, name, value.c_str()),
          "set " + std::string(name) + " to \"" + value + "\"");
}

// The settings may come from a file, too, so the configuration itself is asked.
std::string setting(const ucp_config_t& config, const std::string& name) {
    const std::string settings =
        "\n" + printed([&config](FILE* stream) {
            library().config_print(&config, stream, nullptr, UCS_CONFIG_PRINT_CONFIG);
        });
    const std::string before = "\nUCX_" + name + "=";
    const std::size_t start = settings.find(before);
    if (start == std::string::npos) {
        return {};
    }
    const std::size_t value = start + before.size();
    return settings.substr(value, settings.find('\n', value) - value);
}

// From here on the sender waits until the receiver fetches the bytes. UCX's own choice for sockets,
// 8 KiB, made an allreduce of 32 KiB seven times slower than 256 KiB does.
constexpr const char* rendezvous_threshold = "256k";

}  // namespace

std::vector<ProviderInfo> resources() {
    std::vector<ProviderInfo> found;
    auto addresses = interface_addresses();
    for (const Resource& resource : all_resources()) {
        found.push_back(resource.names);
        for (const std::string& address : addresses[resource.names.nic]) {
            if (!found.back().address.empty()) {
                found.push_back(resource.names);
            }
            found.back().address = address;
        }
    }
    return found;
}

std::string choose_device(const std::vector<ProviderInfo>& all, const std::string& nic) {
    std::string names;
    for (const ProviderInfo& info : all) {
        if (info.nic == nic || info.address == nic || info.nic.starts_with(nic + ":")) {
            return info.nic;
        }
        const std::string name = info.nic + (info.address.empty() ? "" : " (" + info.address + ")");
        if (names.find(name) == std::string::npos) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    throw Error(Status::not_found, "UCX has no NIC \"" + nic + "\" here; it has: " + names);
}

// Which transports a context has made of UCX_TLS, UCX only tells in print.
bool maps_memory(ucp_context_h context) {
    const std::string text =
        printed([context](FILE* stream) { library().context_print_info(context, stream); });
    const std::vector<Resource> all = all_resources();
    return std::any_of(all.begin(), all.end(), [&text](const Resource& resource) {
        const std::string name = " " + resource.names.provider + "/" + resource.names.nic;
        return resource.maps && text.find(name) != std::string::npos;
    });
}

std::string threshold_of(const ucp_config_t& config) {
    return setting(config, "RNDV_THRESH");
}

bool is_automatic(std::string_view threshold) {
    for (std::size_t begin = 0; begin <= threshold.size();) {
        const std::size_t end = std::min(threshold.find(',', begin), threshold.size());
        const std::string_view word = threshold.substr(begin, end - begin);
        if (word.substr(word.find(':') + 1) != "auto") {  // npos + 1 is 0
            return false;
        }
        begin = end + 1;
    }
    return true;
}

Config read_config(const std::string& transports, const std::string& device) {
    ucp_config_t* read = nullptr;
    check(library().config_read(nullptr, nullptr, &read), "read its UCX_* settings");
    Config config(read);
    if (!transports.empty()) {
        modify(*config, "TLS", transports);
    }
    if (!device.empty()) {
        modify(*config, "NET_DEVICES", device == no_device ? "" : device);
    }
    if (is_automatic(threshold_of(*config))) {
        modify(*config, "RNDV_THRESH", rendezvous_threshold);
    }
    // A port is one NIC; striping over others (of the same host, loopback too) only costs.
    if (!environment_variable("UCX_MAX_RNDV_LANES")) {
        modify(*config, "MAX_RNDV_LANES", "1");
    }
    return config;
}

std::string transports_of(const ucp_config_t& config) {
    return setting(config, "TLS");
}

std::string devices_of(const ucp_config_t& config) {
    return setting(config, "NET_DEVICES");
}

std::string transport_names(const std::vector<ProviderInfo>& all) {
    std::vector<std::string> names;
    for (const ProviderInfo& info : all) {
        if (std::find(names.begin(), names.end(), info.provider) == names.end()) {
            names.push_back(info.provider);
        }
    }
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

}  // namespace trefoil::ucx
