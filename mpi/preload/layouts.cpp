// SPDX-License-Identifier: BSD-3-Clause
// How derived datatypes lie in memory, read from how they were made and remembered with them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/layer.hpp"
#include "mpi/types.hpp"

namespace trefoil::mpi {

namespace {

/// Of an attribute that tells whether a type is dense: its value, as a pointer.
int keyval = MPI_KEYVAL_INVALID;
char dense_mark, sparse_mark;

struct Contents {
    int combiner = MPI_COMBINER_NAMED;
    /// Made by a function whose counts are MPI_Count; no more is known of it.
    bool has_large_counts = false;
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;

    explicit Contents(MPI_Datatype type) {
        int integer_count = 0, address_count = 0, type_count = 0;
#if MPI_VERSION >= 4  // MPICH answers the other question about such types, as if they had no counts
        MPI_Count integers_c = 0, addresses_c = 0, large_counts = 0, types_c = 0;
        PMPI_Type_get_envelope_c(type, &integers_c, &addresses_c, &large_counts, &types_c,
                                 &combiner);
        has_large_counts = large_counts > 0;
#endif
        if (!has_large_counts) {
            PMPI_Type_get_envelope(type, &integer_count, &address_count, &type_count, &combiner);
        }
        if (combiner == MPI_COMBINER_NAMED || has_large_counts) {
            return;
        }
        integers.resize(static_cast<std::size_t>(integer_count));
        addresses.resize(static_cast<std::size_t>(address_count));
        types.resize(static_cast<std::size_t>(type_count));
        PMPI_Type_get_contents(type, integer_count, address_count, type_count, integers.data(),
                               addresses.data(), types.data());
    }
    /// What contents lists is the caller's to free, but for predefined types.
    ~Contents() {
        for (MPI_Datatype& type : types) {
            if (Contents(type).combiner != MPI_COMBINER_NAMED) {
                PMPI_Type_free(&type);
            }
        }
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;
};

Layout measured(MPI_Datatype type) {
    MPI_Count size = 0;
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent(type, &lower, &extent);
    return {static_cast<std::size_t>(size), extent, false};
}

bool is_dense(MPI_Datatype type);

/// Whether blocks, told one after the other, are one run of bytes from 0 on.
class Run {
  public:
    void block(MPI_Aint at, int count, MPI_Datatype type) {
        if (!dense_ || count == 0) {
            return;
        }
        const Layout layout = measured(type);
        dense_ = at == end_ && is_dense(type) &&
                 (count == 1 || layout.extent == static_cast<std::ptrdiff_t>(layout.size));
        end_ += static_cast<MPI_Aint>(layout.size) * count;
    }
    bool dense() const { return dense_; }

  private:
    bool dense_ = true;
    MPI_Aint end_ = 0;
};

bool vector_is_dense(const Contents& c, bool stride_in_bytes) {
    const MPI_Aint stride =
        stride_in_bytes ? c.addresses[0] : c.integers[2] * measured(c.types[0]).extent;
    Run run;
    // All blocks are as far apart as the first two.
    for (int i = 0; i < std::min(c.integers[0], 2); ++i) {
        run.block(i * stride, c.integers[1], c.types[0]);
    }
    return run.dense();
}

/// Lists of blocks; displacements in elements stand after the lengths.
bool indexed_is_dense(const Contents& c, bool in_bytes, bool equal_blocks) {
    const auto count = static_cast<std::size_t>(c.integers[0]);
    const std::size_t first = equal_blocks ? 2 : 1 + count;
    const MPI_Aint extent = in_bytes ? 1 : measured(c.types[0]).extent;
    Run run;
    for (std::size_t i = 0; i < count && run.dense(); ++i) {
        const MPI_Aint at = in_bytes ? c.addresses[i] : c.integers[first + i] * extent;
        run.block(at, c.integers[equal_blocks ? 1 : 1 + i], c.types[0]);
    }
    return run.dense();
}

bool struct_is_dense(const Contents& c) {
    Run run;
    for (std::size_t i = 0; i < c.types.size() && run.dense(); ++i) {
        run.block(c.addresses[i], c.integers[1 + i], c.types[i]);
    }
    return run.dense();
}

/// What is not understood (subarrays, distributed arrays, large counts) counts as not dense: it is
/// packed.
bool is_dense(MPI_Datatype type) {
    if (const TypeEntry* const entry = find_type(type)) {
        return entry->size == entry->extent;
    }
    const Contents c(type);
    if (c.has_large_counts) {
        return false;
    }
    Run run;
    switch (c.combiner) {
        case MPI_COMBINER_NAMED: {  // of another language
            const Layout layout = measured(type);
            return layout.extent == static_cast<std::ptrdiff_t>(layout.size);
        }
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
            return is_dense(c.types[0]);
        case MPI_COMBINER_CONTIGUOUS:
            run.block(0, c.integers[0], c.types[0]);
            return run.dense();
        case MPI_COMBINER_VECTOR:
            return vector_is_dense(c, false);
        case MPI_COMBINER_HVECTOR:
            return vector_is_dense(c, true);
        case MPI_COMBINER_INDEXED:
            return indexed_is_dense(c, false, false);
        case MPI_COMBINER_HINDEXED:
            return indexed_is_dense(c, true, false);
        case MPI_COMBINER_INDEXED_BLOCK:
            return indexed_is_dense(c, false, true);
        case MPI_COMBINER_HINDEXED_BLOCK:
            return indexed_is_dense(c, true, true);
        case MPI_COMBINER_STRUCT:
            return struct_is_dense(c);
        default:
            return false;
    }
}

/// MPICH reports what is not; Open MPI's collectives take it.
bool is_committed(MPI_Datatype type) {
    int bytes = 0;
    return !is_mpich() || PMPI_Pack_size(1, type, layer.alone, &bytes) == MPI_SUCCESS;
}

}  // namespace

std::optional<Layout> layout_of(MPI_Datatype type) {
    if (const TypeEntry* const entry = find_type(type)) {
        return Layout{entry->size, static_cast<std::ptrdiff_t>(entry->extent),
                      entry->size == entry->extent};
    }
    if (type == MPI_DATATYPE_NULL || (is_standard_abi && is_refused(type))) {
        return std::nullopt;
    }
    static const bool made = PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN,
                                                     &keyval, nullptr) == MPI_SUCCESS;
    void* mark = nullptr;
    int known = 0;
    if (!made || PMPI_Type_get_attr(type, keyval, &mark, &known) != MPI_SUCCESS) {
        return std::nullopt;
    }
    if (known == 0) {
        if (!is_committed(type)) {
            return std::nullopt;
        }
        mark = is_dense(type) ? &dense_mark : &sparse_mark;
        PMPI_Type_set_attr(type, keyval, mark);
    }
    Layout layout = measured(type);
    layout.dense = mark == &dense_mark;
    return layout;
}

void forget_layouts() {
    if (keyval != MPI_KEYVAL_INVALID) {
        PMPI_Type_free_keyval(&keyval);
    }
}

}  // namespace trefoil::mpi
