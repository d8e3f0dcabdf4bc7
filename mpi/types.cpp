// SPDX-License-Identifier: BSD-3-Clause
// The table of predefined datatypes.
#include "mpi/types.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace trefoil::mpi {

namespace {

constexpr std::size_t places = 256;  // a power of two, several times as many as there are types
std::array<TypeEntry, places> table;

std::size_t place_of(std::uint64_t handle) {
    return static_cast<std::size_t>(handle * 0x9e3779b97f4a7c15ULL >> 56) % places;
}

trefoil_datatype_t by_size(std::size_t size, trefoil_datatype_t of_one_byte) {
    const int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return static_cast<trefoil_datatype_t>(of_one_byte + step);
}

std::vector<std::uint64_t> refused;

/// Bytes; 0: this MPI lacks the language or the size. Its handle is MPI_DATATYPE_NULL then, or,
/// with the standard ABI, one that MPI refuses.
int bytes_of(MPI_Datatype type) {
    int size = 0;
    if (type == MPI_DATATYPE_NULL) {
        return 0;
    }
    if (PMPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0) {
        refused.push_back(number_of(type));
        return 0;
    }
    return size;
}

/// As long as it lives, MPI returns errors of calls without a communicator.
class ErrorsReturn {
  public:
    ErrorsReturn() {
        for (std::size_t i = 0; i < comms_.size(); ++i) {
            PMPI_Comm_get_errhandler(comms_[i], &before_[i]);
            PMPI_Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
        }
    }
    ~ErrorsReturn() {
        for (std::size_t i = 0; i < comms_.size(); ++i) {
            PMPI_Comm_set_errhandler(comms_[i], before_[i]);
            PMPI_Errhandler_free(&before_[i]);
        }
    }
    ErrorsReturn(const ErrorsReturn&) = delete;
    ErrorsReturn& operator=(const ErrorsReturn&) = delete;

  private:
    /// Whose handler such calls have since MPI 4, and whose before.
    const std::array<MPI_Comm, 2> comms_{MPI_COMM_SELF, MPI_COMM_WORLD};
    std::array<MPI_Errhandler, 2> before_{};
};

void add(MPI_Datatype type, TypeClass in_class, trefoil_datatype_t code) {
    const int size = bytes_of(type);
    if (size == 0) {
        return;
    }
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    TypeEntry entry{number_of(type), static_cast<std::uint32_t>(size),
                    static_cast<std::uint32_t>(extent), in_class, code};
    std::size_t place = place_of(entry.handle);
    while (table[place].size != 0 && table[place].handle != entry.handle) {
        place = (place + 1) % places;
    }
    table[place] = entry;
}

void add_integer(MPI_Datatype type, TypeClass in_class, trefoil_datatype_t of_one_byte) {
    if (const int size = bytes_of(type); size != 0) {
        add(type, in_class, by_size(static_cast<std::size_t>(size), of_one_byte));
    }
}

/// Fortran's reals and complex numbers, whose kinds are options of its compiler.
void add_floating(MPI_Datatype type) {
    const int size = bytes_of(type);
    if (size == 0) {
        return;
    }
    const bool complex = type == MPI_COMPLEX || type == MPI_COMPLEX8 || type == MPI_COMPLEX16 ||
                         type == MPI_DOUBLE_COMPLEX;
    const int part = complex ? size / 2 : size;
    if (part == 4 || part == 8) {
        add(type, complex ? complex_class : floating_class,
            complex     ? part == 4 ? TREFOIL_COMPLEX_FLOAT : TREFOIL_COMPLEX_DOUBLE
            : part == 4 ? TREFOIL_FLOAT
                        : TREFOIL_DOUBLE);
    } else {
        add(type, no_class, TREFOIL_UINT8);
    }
}

/// Two of Fortran's INTEGER, which its compiler may have made longer than C's int.
void add_integer_pair(MPI_Datatype type) {
    if (const int size = bytes_of(type); size != 0) {
        add(type, size == 2 * sizeof(int) ? pair_class : no_class, TREFOIL_2INT);
    }
}

}  // namespace

void learn_types() {
    std::optional<ErrorsReturn> all_the_while;
    if (is_standard_abi) {
        all_the_while.emplace();
    }
    for (const MPI_Datatype type : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG,
                                    MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T}) {
        add_integer(type, integer_class, TREFOIL_INT8);
    }
    for (const MPI_Datatype type :
         {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
          MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}) {
        add_integer(type, integer_class, TREFOIL_UINT8);
    }
    for (const MPI_Datatype type : {MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
        add_integer(type, address_class, TREFOIL_INT8);
    }
    // Fortran's, which the compiler of the program's modules need not have all.
    for (const MPI_Datatype type :
         {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}) {
        add_integer(type, fortran_integer_class, TREFOIL_INT8);
    }
    for (const MPI_Datatype type : {MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_DOUBLE_PRECISION,
                                    MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_DOUBLE_COMPLEX}) {
        add_floating(type);
    }
    add_integer(MPI_LOGICAL, logical_class, TREFOIL_INT8);
    add_integer_pair(MPI_2INTEGER);
    for (const MPI_Datatype type : {MPI_CHARACTER, MPI_2REAL, MPI_2DOUBLE_PRECISION}) {
        add(type, no_class, TREFOIL_UINT8);
    }
    add(MPI_C_BOOL, logical_class, TREFOIL_UINT8);
    add(MPI_BYTE, byte_class, TREFOIL_UINT8);
    add(MPI_FLOAT, floating_class, TREFOIL_FLOAT);
    add(MPI_DOUBLE, floating_class, TREFOIL_DOUBLE);
    add(MPI_C_FLOAT_COMPLEX, complex_class, TREFOIL_COMPLEX_FLOAT);
    add(MPI_C_DOUBLE_COMPLEX, complex_class, TREFOIL_COMPLEX_DOUBLE);
    add(MPI_FLOAT_INT, pair_class, TREFOIL_FLOAT_INT);
    add(MPI_DOUBLE_INT, pair_class, TREFOIL_DOUBLE_INT);
    add(MPI_LONG_INT, pair_class, TREFOIL_LONG_INT);
    add(MPI_2INT, pair_class, TREFOIL_2INT);
    add(MPI_SHORT_INT, pair_class, TREFOIL_SHORT_INT);
    for (const MPI_Datatype type : {MPI_CHAR, MPI_WCHAR, MPI_PACKED, MPI_LONG_DOUBLE,
                                    MPI_LONG_DOUBLE_INT, MPI_C_LONG_DOUBLE_COMPLEX}) {
        add(type, no_class, TREFOIL_UINT8);
    }
}

const TypeEntry* find_type(MPI_Datatype type) {
    const std::uint64_t handle = number_of(type);
    for (std::size_t place = place_of(handle); table[place].size != 0;
         place = (place + 1) % places) {
        if (table[place].handle == handle) {
            return &table[place];
        }
    }
    return nullptr;
}

bool is_refused(MPI_Datatype type) {
    return std::ranges::find(refused, number_of(type)) != refused.end();
}

}  // namespace trefoil::mpi
