// SPDX-License-Identifier: BSD-3-Clause
// MPI's operations as Trefoil runs them.
#pragma once

#include <cstddef>
#include <memory>

#include "mpi/api.hpp"
#include "mpi/collective_kind.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// What a call that reduces asks of Trefoil.
struct Reduction {
    Reason reason = Reason::none;
    trefoil_datatype_t type{};
    trefoil_op_t op{};
    std::size_t element_bytes = 0;
    /// However the elements are paired, the result has the same bits.
    bool exact = false;
    /// The user's: MPI runs it, in the calling thread alone, since the user's function need not
    /// bear anything else. For that the handles are kept.
    bool user = false;
    MPI_Op mpi_op{};
    MPI_Datatype mpi_type{};
    /// Of a call in flight with an operation of the user's: Trefoil's operation for it alone.
    std::shared_ptr<const void> bound{};
};

/// Fills the table of predefined operations; once.
void learn_operations();
bool is_predefined(MPI_Op op);

/// Alike on all ranks: MPI wants the same type and operation everywhere. Of the user's operations
/// `op` is left open until use().
Reduction reduction_of(MPI_Datatype type, MPI_Op op);

/// Makes `reduction` ready to be called in this thread, until the next call of use().
trefoil_status_t use(Reduction& reduction);
/// Makes it ready to be called as long as it lives.
trefoil_status_t bind(Reduction& reduction);

}  // namespace trefoil::mpi
