// SPDX-License-Identifier: BSD-3-Clause
// Looks at the libraries that are loaded: handles of one MPI mean nothing to another, so a layer
// under the wrong one would crash or worse.
#include "mpi/preload/library_check.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <string_view>

#include "mpi/api.hpp"
#include "mpi/next.hpp"

namespace trefoil::mpi {

namespace {

/// What a name of a loaded file tells, and what that means for the layer of `layer`.
struct Mark {
    std::string_view beginning;  ///< of the file's name
    std::string_view layer;      ///< the layer that it belongs to
    bool is_layer;
};
constexpr std::array<Mark, 7> marks{{{"libtrefoil_mpi_openmpi.", "openmpi", true},
                                     {"libtrefoil_mpi_mpich.", "mpich", true},
                                     {"libtrefoil_mpi_abi.", "abi", true},
                                     {"libmpi_abi.", "abi", false},
                                     {"libmpich.", "mpich", false},
                                     {"libmpi.so.12", "mpich", false},
                                     {"libmpi.so.40", "openmpi", false}}};

struct Findings {
    std::string other_layer, other_mpi;
};

int look(dl_phdr_info* info, std::size_t, void* data) {
    auto& found = *static_cast<Findings*>(data);
    const std::string_view path(info->dlpi_name == nullptr ? "" : info->dlpi_name);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const Mark& mark : marks) {
        if (name.starts_with(mark.beginning) && mark.layer != layer_name) {
            (mark.is_layer ? found.other_layer : found.other_mpi) = std::string(name);
        }
    }
    return 0;
}

/// The first words of what the MPI below says it is. Not every MPI keeps to the room that this one
/// was told to give.
std::string library_version() {
    std::array<char, 65536> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    const std::string_view version(text.data());
    return std::string(version.substr(0, version.find_first_of(",\n")));
}

/// Whether MPI's functions are those of a libmpi_abi. What MPI 4 called its ABI was a draft.
bool has_standard_abi() {
    int version = 0, subversion = 0;
    Dl_info info{};
    auto* const below = next<decltype(PMPI_Get_version)>("PMPI_Get_version");
    if (below == nullptr || dladdr(reinterpret_cast<const void*>(below), &info) == 0 ||
        info.dli_fname == nullptr || below(&version, &subversion) != MPI_SUCCESS) {
        return false;
    }
    const std::string_view path = info.dli_fname;
    return path.substr(path.rfind('/') + 1).starts_with("libmpi_abi.") && version >= 5;
}

}  // namespace

std::string wrong_libraries() {
    const std::string self = std::string("libtrefoil_mpi_") + layer_name + ".so";
    Findings found;
    dl_iterate_phdr(look, &found);
    if (!found.other_layer.empty()) {
        return "both " + self + " and " + found.other_layer +
               " are loaded; keep only the one for the program's MPI in LD_PRELOAD";
    }
    std::string is = found.other_mpi;
    if (is.empty()) {
        is = library_version();
        if (is_standard_abi ? has_standard_abi() : is.starts_with(version_word)) {
            return {};
        }
    }
    return self + " was built for " + version_word + ", but this program runs with " + is +
           "; preload the layer that was built for that MPI";
}

}  // namespace trefoil::mpi
