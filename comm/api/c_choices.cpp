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

/// A collective as users name it: by its own name, or by that of a C function.
struct Named {
    Collective collective = Collective::barrier;
    bool uneven = false;  ///< the variant whose blocks may differ in size, where it is another one
};

Named named(const char* name) {
    require(name != nullptr, "the collective's name is NULL");
    for (const Collective each : collectives()) {
        const CollectiveTraits& row = traits_of(each);
        if (row.vector_variant == name && row.vector_variant != row.name) {
            return {each, true};
        }
    }
    return {name == std::string_view("reduce_scatter_block") ? Collective::reduce_scatter
                                                             : find_collective(name)};
}

/// Of all variants, those whose counts are known in pairs alone cannot use each algorithm.
bool has_pairs(const Named& call) {
    return call.uneven && traits_of(call.collective).blocks_both_ways();
}

bool takes_uneven_blocks(Collective collective, const char* algorithm) {
    const Choice choice = parse_choice(collective, algorithm);
    return choice.algorithm == nullptr ||
           choice.algorithm->traits_with(choice.options).vector_variant;
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
        const Named call = named(collective);
        if (has_pairs(call) && !takes_uneven_blocks(call.collective, algorithm)) {
            throw Error(
                Status::unsupported,
                "algorithm " + std::string(algorithm) +
                    " forwards blocks, which must be of one size; name it for blocks of "
                    "one size alone, or take auto or an algorithm that `trefoil info` lists as "
                    "taking blocks of any sizes");
        }
        entry->set_algorithm(call.collective, algorithm);
    });
}

trefoil_status_t trefoil_comm_set_schedule(trefoil_comm_t comm, const char* collective,
                                           const char* json) {
    return guarded([&] {
        const Entry entry(comm);
        require(json != nullptr, "the schedule's text is NULL");
        entry->set_schedule(named(collective).collective, json);
    });
}

trefoil_status_t trefoil_comm_algorithm(trefoil_comm_t comm, const char* collective, size_t count,
                                        trefoil_datatype_t datatype, const char** algorithm) {
    return guarded([&] {
        const Entry entry(comm);
        require(algorithm != nullptr, "the place for the algorithm's name is NULL");
        const Named call = named(collective);
        const auto blocks = traits_of(call.collective).blocks(entry->torus());
        const std::vector<std::size_t> counts(has_pairs(call) ? blocks : 0);  // any will do
        Request request{.collective = call.collective, .count = count, .counts = counts};
        set_type(request, datatype);
        if (request.traits().has_blocks()) {
            span_of(request, static_cast<int>(blocks));
        } else {
            bytes_of(request, count);
        }
        *algorithm = kept(to_string(entry->algorithm(request)));
    });
}

}  // extern "C"
