// SPDX-License-Identifier: BSD-3-Clause
// Argument checks of the collectives.
#include "comm/api/c_arguments.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include "comm/api/user_operations.hpp"
#include "topo/device_memory.hpp"
#include "topo/per_thread.hpp"

namespace trefoil::c_api {

namespace {

/// No machine gives a process more than 57 bits of addresses, half of them its own.
constexpr std::size_t most_bytes =
    static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) >>
    (sizeof(std::size_t) > 4 ? 7 : 0);

/// "send buffer (16 bytes at 0x7f...)".
std::string place_text(const Vector& vector) {
    std::ostringstream text;
    text << vector.name << " buffer (" << vector.bytes << " bytes at " << vector.address << ")";
    return text.str();
}

bool is_type(trefoil_datatype_t type) {
    return static_cast<unsigned>(type) < datatype_count;
}

/// "rank 3", "neighbour 0": whose block it is.
std::string owner_text(const Request& request, int block) {
    return (request.traits().with_neighbours() ? "neighbour " : "rank ") + std::to_string(block);
}

/// Each block lies behind the one of the rank before, as nearly always.
bool ascend(const Request& request, int blocks) {
    std::size_t end = 0;
    for (int r = 0; r < blocks; ++r) {
        if (request.count_of(r) > 0) {
            if (request.displacements[r] < end) {
                return false;
            }
            end = request.displacements[r] + request.count_of(r);
        }
    }
    return true;
}

}  // namespace

void set_type(Request& request, trefoil_datatype_t type) {
    if (!is_type(type)) {
        refuse(type == TREFOIL_ELEMENT
                   ? "TREFOIL_ELEMENT goes with operations of trefoil_op_create only"
                   : "datatype " + std::to_string(type) + " is none of trefoil_datatype_t");
    }
    request.type = static_cast<DataType>(type);
}

void set_operation(Request& request, trefoil_datatype_t type, trefoil_op_t op) {
    if (static_cast<int>(op) >= first_user_operation) {
        request.user = find_user_operation(static_cast<int>(op));
        if (request.user == nullptr) {
            refuse("op " + std::to_string(op) +
                   " is not one that trefoil_op_create made, or it was freed");
        }
        if (type == TREFOIL_ELEMENT) {
            return;
        }
        set_type(request, type);
        if (size_of(request.type) != request.user->element_bytes) {
            refuse("an element of datatype " + std::string(to_string(request.type)) + " has " +
                   std::to_string(size_of(request.type)) + " bytes, one of the operation has " +
                   std::to_string(request.user->element_bytes) +
                   " bytes; give TREFOIL_ELEMENT, or another operation");
        }
        return;
    }
    set_type(request, type);
    if (static_cast<unsigned>(op) >= operation_count) {
        refuse("op " + std::to_string(op) + " is none of trefoil_op_t, nor of trefoil_op_create");
    }
    request.op = static_cast<Operation>(op);
    if (const std::string reason = refusal(request.type, request.op); !reason.empty()) {
        throw Error(Status::unsupported, reason);
    }
}

void require_no_average(const Request& request, const char* where) {
    if (request.averages()) {
        throw Error(Status::unsupported,
                    std::string("avg is not for ") + where +
                        "; use sum and divide, or allreduce, reduce or reduce_scatter");
    }
}

void set_root(Request& request, trefoil_comm_t comm, int root) {
    if (root < 0 || root >= comm->ranks) {
        refuse("the root " + std::to_string(root) + " is not a rank; ranks are 0 to " +
               std::to_string(comm->ranks - 1));
    }
    request.root = root;
}

std::size_t bytes_of(const Request& request, std::size_t count) {
    const std::size_t element = request.element_bytes();
    if (count > most_bytes / element) {
        refuse("count " + std::to_string(count) + " times " + std::to_string(element) +
               " bytes exceeds the address space");
    }
    return count * element;
}

std::size_t span_of(const Request& request, int blocks, const char* which) {
    const std::size_t most = most_bytes / request.element_bytes();
    std::size_t end = 0, next = 0;
    for (int r = 0; r < blocks; ++r) {
        const std::size_t count = request.count_of(r);
        if (count == 0) {
            continue;
        }
        const bool listed = !request.displacements.empty();
        const std::size_t begin = listed ? request.displacements[r] : next;
        if (count > most || begin > most - count) {
            refuse("the " + std::string(which) + " of " + owner_text(request, r) + ", count " +
                   std::to_string(count) + " at " + (listed ? "displacement " : "element ") +
                   std::to_string(begin) + ", exceeds the address space");
        }
        next = begin + count;
        end = std::max(end, next);
    }
    return end * request.element_bytes();
}

void require_separate_blocks(const Request& request, int blocks) {
    if (request.displacements.empty() || ascend(request, blocks)) {
        return;
    }
    static PerThread<std::vector<int>> orders;  // kept, so that the next call does not allocate
    std::vector<int>& order = orders.own();
    order.clear();
    for (int r = 0; r < blocks; ++r) {
        if (request.count_of(r) > 0) {
            order.push_back(r);
        }
    }
    const auto begin = [&](int r) { return request.displacements[r]; };
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::pair(begin(a), a) < std::pair(begin(b), b); });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const int left = order[i - 1], right = order[i];
        if (begin(left) + request.count_of(left) > begin(right)) {
            refuse("the blocks of " + owner_text(request, std::min(left, right)) + " and " +
                   owner_text(request, std::max(left, right)) + " overlap in the receive buffer");
        }
    }
}

std::span<const std::size_t> list(const size_t* numbers, int length, const char* what) {
    if (numbers == nullptr) {
        refuse("the " + std::string(what) + " are NULL");
    }
    return {numbers, static_cast<std::size_t>(length)};
}

void require_vector(const Vector& vector) {
    if (vector.bytes > 0 && (vector.address == nullptr || in_place(vector.address))) {
        refuse("the " + std::string(vector.name) + " buffer is " +
               (vector.address == nullptr
                    ? "NULL, but has " + std::to_string(vector.bytes) + " bytes"
                    : "TREFOIL_IN_PLACE, which it cannot be here"));
    }
    if (vector.bytes > 0 && device_of(vector.address) != nullptr) {
        require_host_memory(vector.address, (std::string(vector.name) + " buffer").c_str());
    }
}

void require_disjoint(const Vector& a, const Vector& b, const char* advice) {
    require_vector(a);
    require_vector(b);
    const auto first = reinterpret_cast<std::uintptr_t>(a.address);
    const auto second = reinterpret_cast<std::uintptr_t>(b.address);
    if (a.bytes > 0 && b.bytes > 0 && first < second + b.bytes && second < first + a.bytes) {
        refuse("the " + place_text(a) + " and the " + place_text(b) + " overlap; give " + advice);
    }
}

std::span<const std::size_t> displacements_of(const size_t* numbers, int ranks) {
    return numbers == nullptr ? std::span<const std::size_t>{}
                              : list(numbers, ranks, "displacements");
}

void require_equal_counts(std::size_t own, std::size_t listed, const char* what) {
    if (own != listed) {
        refuse("this rank's " + std::string(what) + " count is " + std::to_string(own) +
               ", but the list says " + std::to_string(listed));
    }
}

}  // namespace trefoil::c_api
