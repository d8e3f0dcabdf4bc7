// SPDX-License-Identifier: BSD-3-Clause
// The C interface's choice of algorithms.
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "comm/api/c_arguments.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

Collective checked_collective(const char* name) {
    require(name != nullptr, "the collective's name is NULL");
    return find_collective(name);
}

/// A text that lives as long as the library. There are few: algorithms, layouts, powers of two.
const char* kept(std::string text) {
    static auto* const texts = new std::set<std::string>;  // never destroyed
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    return texts->insert(std::move(text)).first->c_str();
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_comm_set_algorithm(trefoil_comm_t comm, const char* collective,
                                            const char* algorithm) {
    return guarded([&] {
        const Entry entry(comm);
        require(algorithm != nullptr, "the algorithm's name is NULL");
        entry->set_algorithm(checked_collective(collective), algorithm);
    });
}

trefoil_status_t trefoil_comm_algorithm(trefoil_comm_t comm, const char* collective, size_t count,
                                        trefoil_datatype_t datatype, const char** algorithm) {
    return guarded([&] {
        const Entry entry(comm);
        require(algorithm != nullptr, "the place for the algorithm's name is NULL");
        const bool pairs =
            collective != nullptr && traits_of(Collective::alltoall).vector_variant == collective;
        const std::vector<std::size_t> counts(pairs ? comm->ranks : 0);  // any will do
        Request request{.collective = pairs ? Collective::alltoall : checked_collective(collective),
                        .count = count,
                        .counts = counts};
        set_type(request, datatype);
        if (request.traits().has_blocks()) {
            span_of(request, comm->ranks);
        } else {
            bytes_of(request, count);
        }
        *algorithm = kept(to_string(entry->algorithm(request)));
    });
}

}  // extern "C"
