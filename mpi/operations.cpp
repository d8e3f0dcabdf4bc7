// SPDX-License-Identifier: BSD-3-Clause
// The table of predefined operations, and the user's operations through MPI_Reduce_local.
#include "mpi/operations.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/types.hpp"

namespace trefoil::mpi {

namespace {

/// As in MPI's table of operations and the types that each one takes.
struct OperationEntry {
    std::uint64_t handle = 0;
    trefoil_op_t op{};
    int classes = 0;  ///< of types; 0: none that a collective may use
};
std::array<OperationEntry, 14> operations;

const OperationEntry* find_operation(MPI_Op op) {
    const std::uint64_t handle = number_of(op);
    for (const OperationEntry& entry : operations) {
        if (entry.handle == handle) {
            return &entry;
        }
    }
    return nullptr;
}

/// What the user's operation of this thread's present call is.
struct Present {
    MPI_Op op;
    MPI_Datatype type;
};
thread_local Present present;

void apply(const void* in, void* inout, std::size_t count, void* bound) {
    const Present& what = bound == nullptr ? present : *static_cast<const Present*>(bound);
    PMPI_Reduce_local(in, inout, static_cast<int>(count), what.type, what.op);
}

/// An operation of Trefoil's that stands for one of the user's in a call in flight.
struct Bound {
    Present what{};
    trefoil_op_t op{};
};

/// Those that no call uses, by the bytes of an element and whether they commute. Calls use them
/// again and again, so that Trefoil knows its plans for them.
class BoundOperations {
  public:
    using Key = std::pair<std::size_t, bool>;

    /// Null: `status` says why.
    std::shared_ptr<const Bound> take(const Key& key, const Present& what,
                                      trefoil_status_t& status) {
        std::unique_ptr<Bound> bound;
        {
            const std::lock_guard lock(mutex_);
            std::vector<std::unique_ptr<Bound>>& free = free_[key];
            if (!free.empty()) {
                bound = std::move(free.back());
                free.pop_back();
            }
        }
        if (bound == nullptr) {
            bound = std::make_unique<Bound>();
            status =
                trefoil_op_create(&apply, &bound->what, key.first, key.second ? 1 : 0, &bound->op);
            if (status != TREFOIL_SUCCESS) {
                return nullptr;
            }
        }
        bound->what = what;
        const auto give_back = [this, key](const Bound* used) {
            const std::lock_guard lock(mutex_);
            free_[key].emplace_back(const_cast<Bound*>(used));
        };
        return {bound.release(), give_back};
    }

  private:
    std::mutex mutex_;
    std::map<Key, std::vector<std::unique_ptr<Bound>>> free_;
};

/// One operation of Trefoil's serves all of the user's whose elements are as large: which one it
/// stands for is told by `present`.
trefoil_status_t operation_for(std::size_t element_bytes, bool commutes, trefoil_op_t& op) {
    static std::mutex mutex;
    static std::map<std::pair<std::size_t, bool>, trefoil_op_t> made;
    const std::lock_guard lock(mutex);
    const auto found = made.find({element_bytes, commutes});
    if (found != made.end()) {
        op = found->second;
        return TREFOIL_SUCCESS;
    }
    const trefoil_status_t status =
        trefoil_op_create(&apply, nullptr, element_bytes, commutes ? 1 : 0, &op);
    if (status == TREFOIL_SUCCESS) {
        made[{element_bytes, commutes}] = op;
    }
    return status;
}

Reduction by_user(MPI_Datatype type, MPI_Op op) {
    Reduction result;
    const auto layout = layout_of(type);
    const TypeEntry* const entry = find_type(type);
    if (!layout) {
        result.reason = Reason::arguments;
    } else if (entry == nullptr && !(layout->contiguous() && layout->size > 0)) {
        result.reason = Reason::datatype;  // what lies in its gaps is not to be touched
    }
    result.type = TREFOIL_ELEMENT;
    // A predefined pair's padding may be moved with it.
    result.element_bytes = layout ? static_cast<std::size_t>(layout->extent) : 0;
    result.user = true;
    result.mpi_op = op;
    result.mpi_type = type;
    return result;
}

}  // namespace

void learn_operations() {
    constexpr int whole = integer_class | fortran_integer_class | address_class;
    constexpr int sums = whole | floating_class | complex_class;
    constexpr int orders = whole | floating_class;
    constexpr int bits = whole | byte_class;
    constexpr int logic = integer_class | logical_class;
    operations = {{{number_of(MPI_SUM), TREFOIL_SUM, sums},
                   {number_of(MPI_PROD), TREFOIL_PROD, sums},
                   {number_of(MPI_MIN), TREFOIL_MIN, orders},
                   {number_of(MPI_MAX), TREFOIL_MAX, orders},
                   {number_of(MPI_BAND), TREFOIL_BAND, bits},
                   {number_of(MPI_BOR), TREFOIL_BOR, bits},
                   {number_of(MPI_BXOR), TREFOIL_BXOR, bits},
                   {number_of(MPI_LAND), TREFOIL_LAND, logic},
                   {number_of(MPI_LOR), TREFOIL_LOR, logic},
                   {number_of(MPI_LXOR), TREFOIL_LXOR, logic},
                   {number_of(MPI_MINLOC), TREFOIL_MINLOC, pair_class},
                   {number_of(MPI_MAXLOC), TREFOIL_MAXLOC, pair_class},
                   {number_of(MPI_REPLACE), TREFOIL_SUM, 0},
                   {number_of(MPI_NO_OP), TREFOIL_SUM, 0}}};
}

namespace {

/// What a predefined operation on a predefined datatype is.
struct Known {
    std::uint64_t type = 0, op = 0;  ///< handles; 0: nothing is known
    Reason reason = Reason::none;
    trefoil_datatype_t code{};
    trefoil_op_t operation{};
    std::size_t element_bytes = 0;
    bool exact = false;

    Reduction reduction() const {
        return {.reason = reason,
                .type = code,
                .op = operation,
                .element_bytes = element_bytes,
                .exact = exact};
    }
};

Known look_up(const OperationEntry& operation, const TypeEntry& entry) {
    Known known{.type = entry.handle, .op = operation.handle};
    if (entry.in_class == no_class) {
        known.reason = Reason::datatype;
    } else if ((operation.classes & entry.in_class) == 0) {
        known.reason = Reason::operation;
    } else {
        known.code = entry.code;
        known.operation = operation.op;
        known.element_bytes = entry.extent;
        known.exact = (operation.op != TREFOIL_SUM && operation.op != TREFOIL_PROD) ||
                      (entry.in_class & (floating_class | complex_class)) == 0;
    }
    return known;
}

}  // namespace

bool is_predefined(MPI_Op op) {
    return find_operation(op) != nullptr;
}

Reduction reduction_of(MPI_Datatype type, MPI_Op op) {
    // Most calls are as the one before: predefined handles mean the same for ever.
    [[gnu::tls_model("initial-exec")]] static thread_local Known last;
    if (last.type == number_of(type) && last.op == number_of(op)) {
        return last.reduction();
    }
    if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL) {
        return {.reason = Reason::arguments};
    }
    const OperationEntry* const operation = find_operation(op);
    if (operation == nullptr) {
        return by_user(type, op);
    }
    const TypeEntry* const entry = find_type(type);
    if (entry == nullptr) {
        return {.reason = Reason::datatype};
    }
    last = look_up(*operation, *entry);
    return last.reduction();
}

trefoil_status_t use(Reduction& reduction) {
    if (!reduction.user) {
        return TREFOIL_SUCCESS;
    }
    int commutes = 0;
    if (PMPI_Op_commutative(reduction.mpi_op, &commutes) != MPI_SUCCESS) {
        return TREFOIL_ERROR_INVALID_ARGUMENT;
    }
    present = {reduction.mpi_op, reduction.mpi_type};
    return operation_for(reduction.element_bytes, commutes != 0, reduction.op);
}

trefoil_status_t bind(Reduction& reduction) {
    if (!reduction.user || reduction.bound != nullptr) {
        return TREFOIL_SUCCESS;
    }
    int commutes = 0;
    if (PMPI_Op_commutative(reduction.mpi_op, &commutes) != MPI_SUCCESS) {
        return TREFOIL_ERROR_INVALID_ARGUMENT;
    }
    static BoundOperations all;
    trefoil_status_t status = TREFOIL_SUCCESS;
    const auto bound = all.take({reduction.element_bytes, commutes != 0},
                                {reduction.mpi_op, reduction.mpi_type}, status);
    if (bound != nullptr) {
        reduction.op = bound->op;
        reduction.bound = bound;
    }
    return status;
}

}  // namespace trefoil::mpi
