// SPDX-License-Identifier: BSD-3-Clause
// Filling and checking the buffers of a call in flight.
#include "call_in_flight.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace trefoil::test {

namespace {

using tool::Buffer;
using tool::Content;
using tool::RankCall;
using tool::RoleRange;

constexpr std::size_t guard_bytes = 64;
constexpr auto untouched = std::byte{0xa5};

RankCall rank_call_of(trefoil_comm_t comm, const CollectiveCase& what) {
    RankCall rank_call{what.collective, what.count, what.in_place, what.root, 0, 1, {}, what.gap};
    trefoil_comm_rank(comm, &rank_call.rank);
    trefoil_comm_size(comm, &rank_call.ranks);
    if (traits_of(what.collective).with_neighbours()) {
        rank_call.neighbours = tool::neighbours_of(comm);
    }
    if (!what.counts.empty()) {
        // In place, as many elements of an alltoallv go the other way.
        const bool pairs = traits_of(what.collective).blocks_both_ways();
        const int turn = !pairs ? 0 : what.in_place ? 1 : 2;
        rank_call.block_count = [counts = what.counts, turn, ranks = rank_call.ranks](Rank from,
                                                                                      Rank to) {
            return counts[static_cast<std::size_t>((from + to * turn) % ranks)];
        };
    }
    return rank_call;
}

/// For all kinds of numbers: visit(T()).
template <typename Visit>
auto with_type_of(trefoil_datatype_t type, Visit&& visit) {
    switch (type) {
        case TREFOIL_INT8:
            return visit(std::int8_t());
        case TREFOIL_UINT16:
            return visit(std::uint16_t());
        case TREFOIL_INT32:
            return visit(std::int32_t());
        case TREFOIL_FLOAT:
            return visit(float());
        case TREFOIL_DOUBLE:
            return visit(double());
        default:
            return visit(std::int64_t());
    }
}

bool is_untouched(const std::byte* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (from[i] != untouched) {
            return false;
        }
    }
    return true;
}

template <typename T>
T element(const std::byte* base, std::size_t i) {
    T value;
    std::memcpy(&value, base + i * sizeof(T), sizeof(T));
    return value;
}

}  // namespace

CallInFlight::CallInFlight(trefoil_comm_t comm, CollectiveCase what, trefoil_datatype_t type,
                           const Operation& operation)
    : comm_(comm),
      what_(std::move(what)),
      type_(operation.is_created() && traits_of(what_.collective).reduces ? TREFOIL_INT64 : type),
      result_(operation.result),
      element_bytes_(with_type_of(type_, [](auto zero) { return sizeof(zero); })),
      rank_call_(rank_call_of(comm, what_)),
      role_(role_of(rank_call_)),
      send_(role_.send_count * element_bytes_ + 2 * guard_bytes),
      recv_(role_.receive_count * element_bytes_ + 2 * guard_bytes) {
    const bool elements = operation.is_created() && traits_of(what_.collective).reduces;
    call_.type = elements ? TREFOIL_ELEMENT : type_;
    call_.operation = operation.op;
    set_arguments();
    fill(what_.salt);
}

void CallInFlight::set_arguments() {
    const CollectiveTraits& row = traits_of(what_.collective);
    call_.collective = what_.collective;
    call_.send = buffer(Buffer::send);
    call_.recv = buffer(Buffer::receive);
    call_.count = role_.count;
    call_.root = what_.root;
    const auto lists = [this](const tool::RoleBlocks& blocks) {
        return tool::BlockLists{blocks.counts.empty() ? nullptr : blocks.counts.data(),
                                what_.gap > 0 ? blocks.displacements.data() : nullptr};
    };
    call_.sent = lists(role_.sent);
    call_.received = lists(role_.received);
    // Where the collective has nothing for this rank, its arguments may be null or not.
    const bool gives_null = (rank_call_.rank + what_.salt) % 2 == 0;
    if (role_.send_in_place) {
        call_.send = TREFOIL_IN_PLACE;
        call_.sent = row.reduces ? call_.sent : tool::BlockLists{};
    } else if (!row.in.held_by(rank_call_.rank, rank_call_.root) && gives_null) {
        call_.send = nullptr;
    }
    if (role_.receive_in_place) {
        call_.recv = TREFOIL_IN_PLACE;
    } else if (!row.out.held_by(rank_call_.rank, rank_call_.root) && gives_null) {
        call_.recv = nullptr;
    }
}

trefoil_status_t CallInFlight::begin(trefoil_request_t* request) const {
    return begin_collective(comm_, call_, request);
}

trefoil_status_t CallInFlight::prepare(trefoil_request_t* request) const {
    return prepare_collective(comm_, call_, request);
}

std::byte* CallInFlight::buffer(Buffer which) {
    return (which == Buffer::send ? send_ : recv_).data() + guard_bytes;
}

const std::byte* CallInFlight::buffer(Buffer which) const {
    return (which == Buffer::send ? send_ : recv_).data() + guard_bytes;
}

/// Element i of a range. What goes into a reduction is r + 1 times as much on rank r, small enough
/// for every type on up to 18 ranks; a sum may wrap, as Trefoil's does.
template <typename T>
T CallInFlight::expected(const RoleRange& range, std::size_t i) const {
    const auto number = static_cast<std::int64_t>(i) * 5 + range.block * 7 + what_.salt;
    const std::int64_t value = number % 8;
    const CollectiveTraits& row = traits_of(what_.collective);
    const std::int64_t ranks = row.contributors(rank_call_.rank, rank_call_.ranks);
    if (!row.reduces) {
        return static_cast<T>(number % 101);
    }
    if (range.content == Content::input) {
        return static_cast<T>(value * (rank_call_.rank + 1));
    }
    const T sum = static_cast<T>(value * (ranks * (ranks + 1) / 2));
    switch (result_) {
        case Result::min:
        case Result::first:
            return static_cast<T>(value);
        case Result::max:
            return static_cast<T>(value * ranks);
        case Result::average:
            return static_cast<T>(sum / static_cast<T>(ranks));
        case Result::sum:
            break;
    }
    return sum;
}

template <typename T>
void CallInFlight::fill_as() {
    for (const RoleRange& range : role_.before) {
        for (std::size_t i = 0; i < range.count && range.content != Content::untouched; ++i) {
            const T value = expected<T>(range, i);
            std::memcpy(buffer(range.buffer) + (range.first + i) * sizeof value, &value,
                        sizeof value);
        }
    }
}

void CallInFlight::fill(std::int64_t salt) {
    what_.salt = salt;
    std::fill(send_.begin(), send_.end(), untouched);
    std::fill(recv_.begin(), recv_.end(), untouched);
    with_type_of(type_, [this](auto zero) { fill_as<decltype(zero)>(); });
}

template <typename T>
std::string CallInFlight::check_as() const {
    for (const RoleRange& range : role_.after) {
        const std::byte* const from = buffer(range.buffer) + range.first * sizeof(T);
        if (range.content == Content::untouched) {
            if (!is_untouched(from, range.count * sizeof(T))) {
                return "wrote between the blocks";
            }
            continue;
        }
        for (std::size_t i = 0; i < range.count; ++i) {
            const T is = element<T>(from, i), should = expected<T>(range, i);
            if (is != should) {
                return std::string(range.content == Content::input ? "input" : "result") +
                       " block " + std::to_string(range.block) + ": element " + std::to_string(i) +
                       " of " + std::to_string(range.count) + " is " +
                       std::to_string(static_cast<double>(is)) + ", not " +
                       std::to_string(static_cast<double>(should));
            }
        }
    }
    return "";
}

std::string CallInFlight::check() const {
    for (const auto* const whole : {&send_, &recv_}) {
        if (!is_untouched(whole->data(), guard_bytes) ||
            !is_untouched(whole->data() + whole->size() - guard_bytes, guard_bytes)) {
            return "wrote outside a buffer";
        }
    }
    return with_type_of(type_, [this](auto zero) { return check_as<decltype(zero)>(); });
}

std::string CallInFlight::text() const {
    return describe(what_) + ", type " + std::to_string(call_.type) + ", operation " +
           std::to_string(call_.operation);
}

}  // namespace trefoil::test
