// SPDX-License-Identifier: BSD-3-Clause
// Argument checks of the collectives.
#include "comm/c_arguments.hpp"

#include <limits>

#include "comm/user_operations.hpp"

namespace trefoil::c_api {

namespace {

/// No machine gives a process more than 57 bits of addresses, half of them its own.
constexpr std::size_t most_bytes =
    static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) >>
    (sizeof(std::size_t) > 4 ? 7 : 0);

bool is_type(trefoil_datatype_t type) {
    return static_cast<unsigned>(type) < datatype_count;
}

}  // namespace

void set_type(Request& request, trefoil_datatype_t type) {
    require(is_type(type), "the datatype is none of trefoil_datatype_t");
    request.type = static_cast<DataType>(type);
}

void set_operation(Request& request, trefoil_datatype_t type, trefoil_op_t op) {
    if (static_cast<int>(op) >= first_user_operation) {
        request.user = find_user_operation(static_cast<int>(op));
        require(request.user != nullptr,
                "the op is not one that trefoil_op_create made, or it was freed");
        require(type == TREFOIL_ELEMENT || (is_type(type) && size_of(static_cast<DataType>(type)) ==
                                                                 request.user->element_bytes),
                "the datatype has another size than the operation's elements; give "
                "TREFOIL_ELEMENT");
        return;
    }
    set_type(request, type);
    require(static_cast<unsigned>(op) < operation_count,
            "the op is none of trefoil_op_t, nor of trefoil_op_create");
    request.op = static_cast<Operation>(op);
    if (const std::string reason = refusal(request.type, request.op); !reason.empty()) {
        throw Error(Status::unsupported, reason);
    }
}

void set_root(Request& request, trefoil_comm_t comm, int root) {
    if (root < 0 || root >= comm->ranks) {
        throw Error(Status::invalid_argument, "the root " + std::to_string(root) +
                                                  " is no rank; ranks are 0 to " +
                                                  std::to_string(comm->ranks - 1));
    }
    request.root = root;
}

std::size_t bytes_of(const Request& request, std::size_t count) {
    const std::size_t element = request.element_bytes();
    require(count <= most_bytes / element,
            "count times the element size exceeds the address space");
    return count * element;
}

std::size_t span_of(const Request& request, int ranks) {
    std::size_t end = 0;
    for (int r = 0; r < ranks; ++r) {
        const std::size_t count = request.count_of(r);
        if (count == 0) {
            continue;
        }
        const std::size_t begin = request.displacement_of(r);
        require(count <= most_bytes && begin <= most_bytes - count,
                "a displacement plus its count exceeds the address space");
        end = std::max(end, begin + count);
    }
    return bytes_of(request, end);
}

std::span<const std::size_t> list(const size_t* numbers, int ranks, const char* what) {
    if (numbers == nullptr) {
        throw Error(Status::invalid_argument, "the " + std::string(what) + " are NULL");
    }
    return {numbers, static_cast<std::size_t>(ranks)};
}

void require_vector(const Vector& vector) {
    if (vector.bytes > 0 && (vector.address == nullptr || in_place(vector.address))) {
        throw Error(
            Status::invalid_argument,
            "the " + std::string(vector.name) + " buffer is " +
                (vector.address == nullptr ? "NULL" : "TREFOIL_IN_PLACE, which it cannot be here"));
    }
}

void require_disjoint(const Vector& a, const Vector& b) {
    require_vector(a);
    require_vector(b);
    const auto first = reinterpret_cast<std::uintptr_t>(a.address);
    const auto second = reinterpret_cast<std::uintptr_t>(b.address);
    if (a.bytes > 0 && b.bytes > 0 && first < second + b.bytes && second < first + a.bytes) {
        throw Error(Status::invalid_argument, "the " + std::string(a.name) + " and " +
                                                  std::string(b.name) +
                                                  " buffers overlap; give TREFOIL_IN_PLACE, or "
                                                  "disjoint ones");
    }
}

}  // namespace trefoil::c_api
