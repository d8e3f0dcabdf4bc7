// SPDX-License-Identifier: BSD-3-Clause
// The collectives as the Fortran module calls them. Lengths come from the arrays; what does not fit
// is refused before anything moves.
#include "trefoil/collectives.hpp"

#include <algorithm>

#include "bindings/fortran/arrays.hpp"
#include "bindings/fortran/calls.hpp"

using namespace trefoil::fortran;
namespace forms = trefoil::forms;

namespace {

using List = const CFI_cdesc_t*;

void require_length(std::size_t given, std::size_t needed, const char* name) {
    if (given != needed) {
        throw Refused("the array '" + std::string(name) + "' has " + std::to_string(given) +
                      " elements, but needs " + std::to_string(needed));
    }
}

std::size_t whole_blocks(const Array& all, std::size_t blocks, const char* name) {
    if (blocks == 0 || all.count % blocks != 0) {
        throw Refused("the array '" + std::string(name) + "' has " + std::to_string(all.count) +
                      " elements, but needs a multiple of " + std::to_string(blocks));
    }
    return all.count / blocks;
}

/// The block of one rank, and those of all.
struct Blocks {
    Array one, all;
    Moved type;
    std::size_t block = 0;  ///< elements of `type`

    /// `has_all`: this rank is one that knows all blocks.
    Blocks(const How& how, List one_list, List all_list, std::size_t blocks, bool has_all,
           const char* one_name, const char* all_name)
        : one(array_of(one_list, one_name)) {
        if (has_all) {
            all = array_of(all_list, all_name);
            require_alike(one, all);
        }
        const Array& known = one.in_place ? all : one;
        const std::size_t length = one.in_place ? whole_blocks(all, blocks, all_name) : one.count;
        if (has_all) {
            require_length(all.count, length * blocks, all_name);
        }
        type = moved_type(known, how.datatype);
        block = length * type.scale;
    }
};

/// Lists of blocks in one array.
struct Lists {
    std::vector<std::size_t> counts, displacements;

    Lists(const Array& all, List count_list, List displacement_list, std::size_t blocks,
          std::size_t scale, const char* name)
        : counts(list_of(count_list, "counts", blocks)),
          displacements(list_of(displacement_list, "displacements", blocks)) {
        std::size_t end = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            const std::size_t first = displacements.empty() ? end : displacements[b];
            end = counts[b] > 0 ? std::max(end, first + counts[b]) : end;
        }
        if (all.count < end) {
            throw Refused("the array '" + std::string(name) + "' has " + std::to_string(all.count) +
                          " elements, but its blocks end at " + std::to_string(end));
        }
        for (std::size_t& entry : counts) {
            entry *= scale;
        }
        for (std::size_t& entry : displacements) {
            entry *= scale;
        }
    }
    const std::size_t* places() const {
        return displacements.empty() ? nullptr : displacements.data();
    }
};

std::size_t ranks_of(const How& how) {
    return static_cast<std::size_t>(how.ranks());
}
std::size_t neighbours_of(const How& how) {
    return static_cast<std::size_t>(how.neighbours());
}
trefoil_op_t operation(const int* op) {
    return static_cast<trefoil_op_t>(*op);
}

template <typename Forms>
trefoil_status_t same_lengths(const How& how, const Forms& form, List send_list, List recv_list,
                              const int* op) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    if (!send.in_place) {
        require_length(send.count, recv.count, "send");
    }
    return how(form, send.source(), recv.data, recv.count, reduced_type(recv, *op, how.datatype),
               operation(op));
}

trefoil_status_t allreduce(const How& how, List send, List recv, const int* op) {
    return same_lengths(how, forms::allreduce, send, recv, op);
}
trefoil_status_t scan(const How& how, List send, List recv, const int* op) {
    return same_lengths(how, forms::scan, send, recv, op);
}
trefoil_status_t exscan(const How& how, List send, List recv, const int* op) {
    return same_lengths(how, forms::exscan, send, recv, op);
}

trefoil_status_t reduce(const How& how, List send_list, List recv_list, const int* op,
                        const int* root) {
    const Array send = array_of(send_list, "send");
    Array recv;
    if (how.rank() == *root) {
        recv = array_of(recv_list, "recv");
        require_alike(send, recv);
        if (!send.in_place) {
            require_length(recv.count, send.count, "recv");
        }
    }
    const Array& known = send.in_place ? recv : send;
    return how(forms::reduce, send.source(), recv.data, known.count,
               reduced_type(known, *op, how.datatype), operation(op), *root);
}

trefoil_status_t reduce_scatter_block(const How& how, List send_list, List recv_list,
                                      const int* op) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    const std::size_t count =
        send.in_place ? whole_blocks(recv, ranks_of(how), "recv") : recv.count;
    if (!send.in_place) {
        require_length(send.count, count * ranks_of(how), "send");
    }
    return how(forms::reduce_scatter_block, send.source(), recv.data, count,
               reduced_type(recv, *op, how.datatype), operation(op));
}

trefoil_status_t reduce_scatter(const How& how, List send_list, List recv_list, List counts,
                                const int* op) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    const Lists lists(send.in_place ? recv : send, counts, nullptr, ranks_of(how), 1,
                      send.in_place ? "recv" : "send");
    if (!send.in_place) {
        require_length(recv.count, lists.counts[static_cast<std::size_t>(how.rank())], "recv");
    }
    return how(forms::reduce_scatter, send.source(), recv.data, lists.counts.data(),
               reduced_type(recv, *op, how.datatype), operation(op));
}

trefoil_status_t allgather(const How& how, List send, List recv) {
    const Blocks b(how, send, recv, ranks_of(how), true, "send", "recv");
    return how(forms::allgather, b.one.source(), b.all.data, b.block, b.type.type);
}

trefoil_status_t allgatherv(const How& how, List send_list, List recv_list, List counts,
                            List displacements) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    const Moved type = moved_type(recv, how.datatype);
    const Lists lists(recv, counts, displacements, ranks_of(how), type.scale, "recv");
    return how(forms::allgatherv, send.source(), send.count * type.scale, recv.data,
               lists.counts.data(), lists.places(), type.type);
}

trefoil_status_t bcast(const How& how, List buffer_list, const int* root) {
    const Array buffer = array_of(buffer_list, "buffer");
    const Moved type = moved_type(buffer, how.datatype);
    return how(forms::bcast, buffer.data, buffer.count * type.scale, type.type, *root);
}

trefoil_status_t gather(const How& how, List send, List recv, const int* root) {
    const Blocks b(how, send, recv, ranks_of(how), how.rank() == *root, "send", "recv");
    return how(forms::gather, b.one.source(), b.all.data, b.block, b.type.type, *root);
}

trefoil_status_t gatherv(const How& how, List send_list, List recv_list, List counts,
                         const int* root, List displacements) {
    const Array send = array_of(send_list, "send");
    if (how.rank() != *root) {
        const Moved type = moved_type(send, how.datatype);
        return how(forms::gatherv, send.source(), send.count * type.scale, nullptr, nullptr,
                   nullptr, type.type, *root);
    }
    const Array recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    const Moved type = moved_type(recv, how.datatype);
    const Lists lists(recv, counts, displacements, ranks_of(how), type.scale, "recv");
    return how(forms::gatherv, send.source(), send.count * type.scale, recv.data,
               lists.counts.data(), lists.places(), type.type, *root);
}

trefoil_status_t scatter(const How& how, List send, List recv, const int* root) {
    const Blocks b(how, recv, send, ranks_of(how), how.rank() == *root, "recv", "send");
    return how(forms::scatter, b.all.data, b.one.target(), b.block, b.type.type, *root);
}

trefoil_status_t scatterv(const How& how, List send_list, List recv_list, List counts,
                          const int* root, List displacements) {
    const Array recv = array_of(recv_list, "recv");
    if (how.rank() != *root) {
        const Moved type = moved_type(recv, how.datatype);
        return how(forms::scatterv, nullptr, nullptr, nullptr, recv.target(),
                   recv.count * type.scale, type.type, *root);
    }
    const Array send = array_of(send_list, "send");
    require_alike(send, recv);
    const Moved type = moved_type(send, how.datatype);
    const Lists lists(send, counts, displacements, ranks_of(how), type.scale, "send");
    return how(forms::scatterv, send.data, lists.counts.data(), lists.places(), recv.target(),
               recv.count * type.scale, type.type, *root);
}

trefoil_status_t alltoall(const How& how, List send_list, List recv_list) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    if (!send.in_place) {
        require_length(send.count, recv.count, "send");
    }
    const Moved type = moved_type(recv, how.datatype);
    return how(forms::alltoall, send.source(), recv.data,
               whole_blocks(recv, ranks_of(how), "recv") * type.scale, type.type);
}

/// alltoallv and neighbor_alltoallv.
template <typename Forms>
trefoil_status_t listed_exchange(const How& how, const Forms& form, std::size_t blocks,
                                 List send_list, List send_counts, List recv_list, List recv_counts,
                                 List send_displacements, List recv_displacements) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    const Moved type = moved_type(recv, how.datatype);
    const Lists to(recv, recv_counts, recv_displacements, blocks, type.scale, "recv");
    if (send.in_place) {
        return how(form, send.source(), nullptr, nullptr, recv.data, to.counts.data(), to.places(),
                   type.type);
    }
    const Lists from(send, send_counts, send_displacements, blocks, type.scale, "send");
    return how(form, send.source(), from.counts.data(), from.places(), recv.data, to.counts.data(),
               to.places(), type.type);
}

trefoil_status_t alltoallv(const How& how, List send, List send_counts, List recv, List recv_counts,
                           List send_displacements, List recv_displacements) {
    return listed_exchange(how, forms::alltoallv, ranks_of(how), send, send_counts, recv,
                           recv_counts, send_displacements, recv_displacements);
}
trefoil_status_t neighbor_alltoallv(const How& how, List send, List send_counts, List recv,
                                    List recv_counts, List send_displacements,
                                    List recv_displacements) {
    return listed_exchange(how, forms::neighbor_alltoallv, neighbours_of(how), send, send_counts,
                           recv, recv_counts, send_displacements, recv_displacements);
}

trefoil_status_t neighbor_allgather(const How& how, List send, List recv) {
    const Blocks b(how, send, recv, neighbours_of(how), true, "send", "recv");
    return how(forms::neighbor_allgather, b.one.source(), b.all.data, b.block, b.type.type);
}

trefoil_status_t neighbor_allgatherv(const How& how, List send_list, List recv_list, List counts,
                                     List displacements) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    const Moved type = moved_type(recv, how.datatype);
    const Lists lists(recv, counts, displacements, neighbours_of(how), type.scale, "recv");
    return how(forms::neighbor_allgatherv, send.source(), send.count * type.scale, recv.data,
               lists.counts.data(), lists.places(), type.type);
}

trefoil_status_t neighbor_alltoall(const How& how, List send_list, List recv_list) {
    const Array send = array_of(send_list, "send"), recv = array_of(recv_list, "recv");
    require_alike(send, recv);
    require_length(send.count, recv.count, "send");
    const Moved type = moved_type(recv, how.datatype);
    return how(forms::neighbor_alltoall, send.source(), recv.data,
               whole_blocks(recv, neighbours_of(how), "recv") * type.scale, type.type);
}

}  // namespace

// The three names of each collective; a macro, because it makes names. FIRST are the parameters
// before the communicator, LAST those behind `datatype`; USED are their names.
#define TREFOIL_UNPACK(...) __VA_ARGS__
#define TREFOIL_THREE_FORMS(NAME, FIRST, LAST, USED)                                              \
    TREFOIL_FORTRAN_CALL trefoil_fortran_##NAME(TREFOIL_UNPACK FIRST trefoil_comm_t* comm,        \
                                                int* ierror,                                      \
                                                const int* datatype TREFOIL_UNPACK LAST) {        \
        guarded(#NAME, ierror, [&] {                                                              \
            return NAME(How{Form::blocking, *comm, nullptr, datatype} TREFOIL_UNPACK USED);       \
        });                                                                                       \
    }                                                                                             \
    TREFOIL_FORTRAN_CALL trefoil_fortran_i##NAME(TREFOIL_UNPACK FIRST trefoil_comm_t* comm,       \
                                                 trefoil_request_t* request, int* ierror,         \
                                                 const int* datatype TREFOIL_UNPACK LAST) {       \
        guarded("i" #NAME, ierror, [&] {                                                          \
            return NAME(How{Form::nonblocking, *comm, request, datatype} TREFOIL_UNPACK USED);    \
        });                                                                                       \
    }                                                                                             \
    TREFOIL_FORTRAN_CALL trefoil_fortran_##NAME##_init(TREFOIL_UNPACK FIRST trefoil_comm_t* comm, \
                                                       trefoil_request_t* request, int* ierror,   \
                                                       const int* datatype TREFOIL_UNPACK LAST) { \
        guarded(#NAME "_init", ierror, [&] {                                                      \
            return NAME(How{Form::persistent, *comm, request, datatype} TREFOIL_UNPACK USED);     \
        });                                                                                       \
    }

TREFOIL_THREE_FORMS(allreduce, (List send, List recv, const int* op, ), (), (, send, recv, op))
TREFOIL_THREE_FORMS(scan, (List send, List recv, const int* op, ), (), (, send, recv, op))
TREFOIL_THREE_FORMS(exscan, (List send, List recv, const int* op, ), (), (, send, recv, op))
TREFOIL_THREE_FORMS(reduce, (List send, List recv, const int* op, const int* root, ), (),
                    (, send, recv, op, root))
TREFOIL_THREE_FORMS(reduce_scatter_block, (List send, List recv, const int* op, ), (),
                    (, send, recv, op))
TREFOIL_THREE_FORMS(reduce_scatter, (List send, List recv, List counts, const int* op, ), (),
                    (, send, recv, counts, op))
TREFOIL_THREE_FORMS(allgather, (List send, List recv, ), (), (, send, recv))
TREFOIL_THREE_FORMS(allgatherv, (List send, List recv, List counts, ), (, List displacements),
                    (, send, recv, counts, displacements))
TREFOIL_THREE_FORMS(bcast, (List buffer, const int* root, ), (), (, buffer, root))
TREFOIL_THREE_FORMS(gather, (List send, List recv, const int* root, ), (), (, send, recv, root))
TREFOIL_THREE_FORMS(gatherv, (List send, List recv, List counts, const int* root, ),
                    (, List displacements), (, send, recv, counts, root, displacements))
TREFOIL_THREE_FORMS(scatter, (List send, List recv, const int* root, ), (), (, send, recv, root))
TREFOIL_THREE_FORMS(scatterv, (List send, List recv, List counts, const int* root, ),
                    (, List displacements), (, send, recv, counts, root, displacements))
TREFOIL_THREE_FORMS(alltoall, (List send, List recv, ), (), (, send, recv))
TREFOIL_THREE_FORMS(alltoallv, (List send, List send_counts, List recv, List recv_counts, ),
                    (, List send_displacements, List recv_displacements),
                    (, send, send_counts, recv, recv_counts, send_displacements,
                     recv_displacements))
TREFOIL_THREE_FORMS(neighbor_allgather, (List send, List recv, ), (), (, send, recv))
TREFOIL_THREE_FORMS(neighbor_allgatherv, (List send, List recv, List counts, ),
                    (, List displacements), (, send, recv, counts, displacements))
TREFOIL_THREE_FORMS(neighbor_alltoall, (List send, List recv, ), (), (, send, recv))
TREFOIL_THREE_FORMS(neighbor_alltoallv,
                    (List send, List send_counts, List recv, List recv_counts, ),
                    (, List send_displacements, List recv_displacements),
                    (, send, send_counts, recv, recv_counts, send_displacements,
                     recv_displacements))

TREFOIL_FORTRAN_CALL trefoil_fortran_barrier(trefoil_comm_t* comm, int* ierror) {
    guarded("barrier", ierror, [&] { return trefoil_barrier(*comm); });
}
TREFOIL_FORTRAN_CALL trefoil_fortran_ibarrier(trefoil_comm_t* comm, trefoil_request_t* request,
                                              int* ierror) {
    guarded("ibarrier", ierror, [&] { return trefoil_ibarrier(*comm, request); });
}
TREFOIL_FORTRAN_CALL trefoil_fortran_barrier_init(trefoil_comm_t* comm, trefoil_request_t* request,
                                                  int* ierror) {
    guarded("barrier_init", ierror, [&] { return trefoil_barrier_init(*comm, request); });
}
