// SPDX-License-Identifier: BSD-3-Clause
// Communicators, requests, operations and memory as the Fortran module calls them.
#include <algorithm>
#include <vector>

#include "bindings/fortran/arrays.hpp"
#include "bindings/fortran/calls.hpp"

using namespace trefoil::fortran;

namespace {

using Text = const CFI_cdesc_t*;

/// A list of default integers that Fortran gives or takes, in one piece.
struct Integers {
    int* data = nullptr;
    int count = 0;

    Integers(const CFI_cdesc_t* list, const char* name) {
        const Array array = array_of(list, name);
        data = static_cast<int*>(array.data);
        count = static_cast<int>(array.count);
    }
};

const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

}  // namespace

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_create(trefoil_comm_t* comm, int* ierror, Text torus,
                                                 Text algorithm, Text backend, Text provider,
                                                 Text nics, const int* port_threads,
                                                 const double* timeout_seconds, const int* rank,
                                                 const int* ranks, trefoil_allgather_fn allgather,
                                                 trefoil_progress_fn progress, void* context) {
    guarded("comm_create", ierror, [&] {
        const std::string texts[] = {text_of(torus), text_of(algorithm), text_of(backend),
                                     text_of(provider), text_of(nics)};
        trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
        config.torus = or_null(texts[0]);
        config.algorithm = or_null(texts[1]);
        config.backend = or_null(texts[2]);
        config.provider = or_null(texts[3]);
        config.nics = or_null(texts[4]);
        config.port_threads = port_threads == nullptr ? 0 : *port_threads;
        config.timeout_seconds = timeout_seconds == nullptr ? 0 : *timeout_seconds;
        config.rank = rank == nullptr ? 0 : *rank;
        config.ranks = ranks == nullptr ? 0 : *ranks;
        config.allgather = allgather;
        config.progress = progress;
        config.context = context;
        return trefoil_comm_create(&config, comm);
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_destroy(trefoil_comm_t* comm, int* ierror) {
    guarded("comm_destroy", ierror, [&] {
        const trefoil_status_t status = trefoil_comm_destroy(*comm);
        *comm = status == TREFOIL_SUCCESS ? nullptr : *comm;
        return status;
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_rank(trefoil_comm_t* comm, int* rank, int* ierror) {
    guarded("comm_rank", ierror, [&] { return trefoil_comm_rank(*comm, rank); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_size(trefoil_comm_t* comm, int* ranks, int* ierror) {
    guarded("comm_size", ierror, [&] { return trefoil_comm_size(*comm, ranks); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_torus(trefoil_comm_t* comm, CFI_cdesc_t* sizes,
                                                int* ierror) {
    guarded("comm_torus", ierror, [&] {
        int dimensions = 0;
        const trefoil_status_t status = trefoil_comm_torus(*comm, &dimensions, nullptr, 0);
        if (status != TREFOIL_SUCCESS) {
            return status;
        }
        const CFI_index_t lower = 1, upper = dimensions;
        if (sizes->base_addr != nullptr) {
            CFI_deallocate(sizes);
        }
        if (CFI_allocate(sizes, &lower, &upper, 0) != CFI_SUCCESS) {
            throw Refused("the list of sizes cannot be allocated");
        }
        return trefoil_comm_torus(*comm, &dimensions, static_cast<int*>(sizes->base_addr),
                                  dimensions);
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_ranks_per_node(trefoil_comm_t* comm, int* ranks,
                                                         int* ierror) {
    guarded("comm_ranks_per_node", ierror,
            [&] { return trefoil_comm_ranks_per_node(*comm, ranks); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_coordinates(trefoil_comm_t* comm, const int* rank,
                                                      CFI_cdesc_t* coordinates, int* ierror) {
    guarded("comm_coordinates", ierror, [&] {
        const Integers list(coordinates, "coordinates");
        return trefoil_comm_coordinates(*comm, *rank, list.data, list.count);
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_dup(trefoil_comm_t* comm, trefoil_comm_t* made,
                                              int* ierror) {
    guarded("comm_dup", ierror, [&] { return trefoil_comm_dup(*comm, made); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_split(trefoil_comm_t* comm, const int* colour,
                                                const int* key, trefoil_comm_t* made, int* ierror) {
    guarded("comm_split", ierror, [&] { return trefoil_comm_split(*comm, *colour, *key, made); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_sub(trefoil_comm_t* comm, const CFI_cdesc_t* keep,
                                              trefoil_comm_t* made, int* ierror) {
    guarded("comm_sub", ierror, [&] {
        int dimensions = 0;
        const Integers flags(keep, "keep");
        const trefoil_status_t status = trefoil_comm_torus(*comm, &dimensions, nullptr, 0);
        if (status != TREFOIL_SUCCESS) {
            return status;
        }
        if (flags.count != dimensions) {
            throw Refused("'keep' has " + std::to_string(flags.count) + " flags, and the torus " +
                          std::to_string(dimensions) + " dimensions");
        }
        return trefoil_comm_sub(*comm, flags.data, made);
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_create_group(trefoil_comm_t* comm,
                                                       const CFI_cdesc_t* ranks,
                                                       trefoil_comm_t* made, int* ierror,
                                                       const int* tag) {
    guarded("comm_create_group", ierror, [&] {
        const Integers list(ranks, "ranks");
        return trefoil_comm_create_group(*comm, list.data, list.count, tag == nullptr ? 0 : *tag,
                                         made);
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_shrink(trefoil_comm_t* comm, trefoil_comm_t* made,
                                                 int* ierror) {
    guarded("comm_shrink", ierror, [&] { return trefoil_comm_shrink(*comm, made); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_abort(trefoil_comm_t* comm, Text text, int* ierror) {
    guarded("comm_abort", ierror, [&] { return trefoil_comm_abort(*comm, text_of(text).c_str()); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_set_algorithm(trefoil_comm_t* comm, Text collective,
                                                        Text algorithm, int* ierror) {
    guarded("comm_set_algorithm", ierror, [&] {
        return trefoil_comm_set_algorithm(*comm, text_of(collective).c_str(),
                                          text_of(algorithm).c_str());
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_set_schedule(trefoil_comm_t* comm, Text collective,
                                                       Text json, int* ierror) {
    guarded("comm_set_schedule", ierror, [&] {
        return trefoil_comm_set_schedule(*comm, text_of(collective).c_str(), text_of(json).c_str());
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_in_flight(trefoil_comm_t* comm, int* calls, int* ierror) {
    guarded("comm_in_flight", ierror, [&] { return trefoil_comm_in_flight(*comm, calls); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_progress(trefoil_comm_t* comm, int* ierror) {
    guarded("progress", ierror, [&] { return trefoil_progress(*comm); });
}

// Texts, which the module copies.
extern "C" [[gnu::visibility("default")]] const char* trefoil_fortran_last_error(
    trefoil_comm_t comm) {
    const char* failure = "";
    if (comm != nullptr && trefoil_comm_failure(comm, &failure) == TREFOIL_SUCCESS &&
        *failure != '\0') {
        return failure;
    }
    return last_error().c_str();
}

TREFOIL_FORTRAN_CALL trefoil_fortran_last_cause(trefoil_comm_t comm, trefoil_cause_t* cause,
                                                int* ierror) {
    guarded("last_cause", ierror, [&] { return trefoil_last_cause(comm, cause); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_comm_status(trefoil_comm_t* comm, Text text, int* ierror) {
    guarded("comm_status", ierror, [&] {
        std::vector<char> room(text->elem_len + 1);
        const trefoil_status_t status = trefoil_comm_status(*comm, room.data(), room.size());
        char* const out = static_cast<char*>(text->base_addr);
        const std::string told = room.data();
        std::fill_n(std::copy(told.begin(), told.end(), out), text->elem_len - told.size(), ' ');
        return status;
    });
}

// Requests. Fortran's .true. of kind c_bool is 1.
TREFOIL_FORTRAN_CALL trefoil_fortran_wait(trefoil_request_t* request, int* ierror) {
    guarded("wait", ierror, [&] { return trefoil_wait(request); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_test(trefoil_request_t* request, int* done, int* ierror) {
    guarded("test", ierror, [&] { return trefoil_test(request, done); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_waitall(const int* count, trefoil_request_t* requests,
                                             int* ierror) {
    guarded("waitall", ierror, [&] { return trefoil_waitall(*count, requests); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_testall(const int* count, trefoil_request_t* requests,
                                             int* done, int* ierror) {
    guarded("testall", ierror, [&] { return trefoil_testall(*count, requests, done); });
}

/// Counts from 1, as Fortran does; 0: none is under way.
TREFOIL_FORTRAN_CALL trefoil_fortran_waitany(const int* count, trefoil_request_t* requests,
                                             int* index, int* ierror) {
    guarded("waitany", ierror, [&] {
        const trefoil_status_t status = trefoil_waitany(*count, requests, index);
        ++*index;
        return status;
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_start(trefoil_request_t* request, int* ierror) {
    guarded("start", ierror, [&] { return trefoil_start(request); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_startall(const int* count, trefoil_request_t* requests,
                                              int* ierror) {
    guarded("startall", ierror, [&] { return trefoil_startall(*count, requests); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_request_free(trefoil_request_t* request, int* ierror) {
    guarded("request_free", ierror, [&] { return trefoil_request_free(request); });
}

// Operations and memory.
TREFOIL_FORTRAN_CALL trefoil_fortran_op_create(trefoil_reduce_fn function,
                                               const std::size_t* element_bytes,
                                               const int* commutes, int* op, int* ierror,
                                               void* context) {
    guarded("op_create", ierror, [&] {
        trefoil_op_t made{};
        const trefoil_status_t status =
            trefoil_op_create(function, context, *element_bytes, *commutes, &made);
        *op = made;
        return status;
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_op_free(const int* op, int* ierror) {
    guarded("op_free", ierror, [&] { return trefoil_op_free(static_cast<trefoil_op_t>(*op)); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_reduce_local(const CFI_cdesc_t* in, CFI_cdesc_t* inout,
                                                  const int* op, int* ierror, const int* datatype) {
    guarded("reduce_local", ierror, [&] {
        const Array from = array_of(in, "in"), to = array_of(inout, "inout");
        require_alike(from, to);
        if (from.count != to.count) {
            throw Refused("the arrays 'in' and 'inout' must be of one length");
        }
        return trefoil_reduce_local(from.data, to.data, to.count, reduced_type(to, *op, datatype),
                                    static_cast<trefoil_op_t>(*op));
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_alloc(trefoil_comm_t* comm, const std::size_t* bytes,
                                           void** memory, int* ierror) {
    guarded("alloc", ierror, [&] { return trefoil_alloc(*comm, *bytes, memory); });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_free(trefoil_comm_t* comm, void** memory, int* ierror) {
    guarded("free", ierror, [&] {
        const trefoil_status_t status = trefoil_free(*comm, *memory);
        *memory = status == TREFOIL_SUCCESS ? nullptr : *memory;
        return status;
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_register(trefoil_comm_t* comm, CFI_cdesc_t* memory,
                                              int* ierror) {
    guarded("register", ierror, [&] {
        const Array array = array_of(memory, "memory");
        return trefoil_register(*comm, array.data, array.count * array.element_bytes);
    });
}

TREFOIL_FORTRAN_CALL trefoil_fortran_deregister(trefoil_comm_t* comm, CFI_cdesc_t* memory,
                                                int* ierror) {
    guarded("deregister", ierror,
            [&] { return trefoil_deregister(*comm, array_of(memory, "memory").data); });
}
