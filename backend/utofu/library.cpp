// SPDX-License-Identifier: BSD-3-Clause
// Loading uTofu, and asking what it has. The declarations let the compiler check every call.
#include "backend/utofu/library.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "backend/system/loaded_library.hpp"
#include "topo/error.hpp"

namespace trefoil::utofu {

namespace {

constexpr std::size_t least_piggyback = 32;

Library load_library() {
    const LoadedLibrary loaded("uTofu", "libtofucom.so", "none; the vendor's runtime has it",
                               "choose another backend (TREFOIL_BACKEND=ofi, ucx or memory)");
    Library found;
    loaded.find("utofu_get_onesided_tnis", found.get_onesided_tnis);
    loaded.find("utofu_query_onesided_caps", found.query_onesided_caps);
    loaded.find("utofu_query_my_coords", found.query_my_coords);
    loaded.find("utofu_create_vcq", found.create_vcq);
    loaded.find("utofu_free_vcq", found.free_vcq);
    loaded.find("utofu_query_vcq_id", found.query_vcq_id);
    loaded.find("utofu_set_vcq_id_path", found.set_vcq_id_path);
    loaded.find("utofu_reg_mem", found.reg_mem);
    loaded.find("utofu_dereg_mem", found.dereg_mem);
    loaded.find("utofu_put", found.put);
    loaded.find("utofu_put_piggyback", found.put_piggyback);
    loaded.find("utofu_put_piggyback8", found.put_piggyback8);
    loaded.find("utofu_armw8", found.armw8);
    loaded.find("utofu_poll_tcq", found.poll_tcq);
    loaded.find("utofu_poll_mrq", found.poll_mrq);
    return found;
}

const char* name_of(int code) {
    switch (code) {
        case UTOFU_ERR_NOT_FOUND:
            return "NOT_FOUND";
        case UTOFU_ERR_BUSY:
            return "BUSY";
        case UTOFU_ERR_FULL:
            return "FULL";
        case UTOFU_ERR_NOT_AVAILABLE:
            return "NOT_AVAILABLE";
        case UTOFU_ERR_NOT_SUPPORTED:
            return "NOT_SUPPORTED";
        case UTOFU_ERR_TCQ_DESC:
            return "TCQ_DESC";
        case UTOFU_ERR_TCQ_MEMORY:
            return "TCQ_MEMORY";
        case UTOFU_ERR_TCQ_STADD:
            return "TCQ_STADD";
        case UTOFU_ERR_TCQ_LENGTH:
            return "TCQ_LENGTH";
        case UTOFU_ERR_MRQ_PEER:
            return "MRQ_PEER";
        case UTOFU_ERR_MRQ_LCL_MEMORY:
            return "MRQ_LCL_MEMORY";
        case UTOFU_ERR_MRQ_RMT_MEMORY:
            return "MRQ_RMT_MEMORY";
        case UTOFU_ERR_MRQ_LCL_STADD:
            return "MRQ_LCL_STADD";
        case UTOFU_ERR_MRQ_RMT_STADD:
            return "MRQ_RMT_STADD";
        case UTOFU_ERR_MRQ_LCL_LENGTH:
            return "MRQ_LCL_LENGTH";
        case UTOFU_ERR_MRQ_RMT_LENGTH:
            return "MRQ_RMT_LENGTH";
        case UTOFU_ERR_INVALID_ARG:
            return "INVALID_ARG";
        case UTOFU_ERR_INVALID_FLAGS:
            return "INVALID_FLAGS";
        case UTOFU_ERR_INVALID_TNI_ID:
            return "INVALID_TNI_ID";
        case UTOFU_ERR_INVALID_VCQ_HDL:
            return "INVALID_VCQ_HDL";
        case UTOFU_ERR_INVALID_VCQ_ID:
            return "INVALID_VCQ_ID";
        case UTOFU_ERR_INVALID_STADD:
            return "INVALID_STADD";
        case UTOFU_ERR_INVALID_SIZE:
            return "INVALID_SIZE";
        case UTOFU_ERR_INVALID_EDATA:
            return "INVALID_EDATA";
        case UTOFU_ERR_OUT_OF_RESOURCE:
            return "OUT_OF_RESOURCE";
        case UTOFU_ERR_OUT_OF_MEMORY:
            return "OUT_OF_MEMORY";
        case UTOFU_ERR_FATAL:
            return "FATAL";
        default:
            return nullptr;
    }
}

}  // namespace

const Library& library() {
    static const Library loaded = load_library();
    return loaded;
}

std::string code_text(int code) {
    const char* const name = name_of(code);
    const std::string number = std::to_string(code);
    return name == nullptr ? "uTofu error " + number
                           : "UTOFU_ERR_" + std::string(name) + " (" + number + ")";
}

void check(int code, const std::string& what) {
    if (code != UTOFU_SUCCESS) {
        throw Error(Status::system_error, "uTofu: cannot " + what + ": " + code_text(code));
    }
}

std::vector<Interface> interfaces() {
    utofu_tni_id_t* numbers = nullptr;
    std::size_t count = 0;
    check(library().get_onesided_tnis(&numbers, &count), "list the network interfaces");
    const std::unique_ptr<utofu_tni_id_t, decltype(&std::free)> owner(numbers, &std::free);
    if (count == 0) {
        throw Error(Status::not_found,
                    "uTofu: this process may use no network interface; is it started by the job "
                    "manager, on a compute node?");
    }
    std::vector<Interface> all;
    for (std::size_t i = 0; i < count; ++i) {
        utofu_onesided_caps* caps = nullptr;
        const std::string name = "network interface " + std::to_string(numbers[i]);
        check(library().query_onesided_caps(numbers[i], &caps), "ask what " + name + " can do");
        if (caps->max_edata_size < 1 || caps->max_piggyback_size < least_piggyback ||
            caps->max_putget_size < 1) {
            throw Error(Status::unsupported,
                        "uTofu: " + name + " sends " + std::to_string(caps->max_piggyback_size) +
                            " bytes within a descriptor and " +
                            std::to_string(caps->max_edata_size) +
                            " with a notice; Trefoil needs 32 and 1. Is libtofucom of another "
                            "version? Choose another backend (TREFOIL_BACKEND)");
        }
        all.push_back({numbers[i], *caps});
    }
    std::sort(all.begin(), all.end(),
              [](const Interface& a, const Interface& b) { return a.number < b.number; });
    return all;
}

std::vector<Rank> coordinates() {
    std::array<std::uint8_t, 6> place{};
    if (library().query_my_coords(place.data()) != UTOFU_SUCCESS) {
        return {};
    }
    return {place.begin(), place.end()};
}

std::string coordinates_text() {
    std::string text;
    for (const Rank coordinate : coordinates()) {
        text += (text.empty() ? "" : ".") + std::to_string(coordinate);
    }
    return text;
}

}  // namespace trefoil::utofu
