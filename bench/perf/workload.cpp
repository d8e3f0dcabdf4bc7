// SPDX-License-Identifier: BSD-3-Clause
// What buffers hold before a call, and what they must hold after it.
#include "bench/perf/workload.hpp"

#include <algorithm>
#include <cstring>

namespace trefoil::tool {

namespace {

constexpr std::byte guard_value{0xc3}, poison_value{0xa5};

/// Every element alike, of the bytes that buffers are overwritten with.
ElementStream poisoned(DataType type) {
    ElementStream stream(type);
    for (std::size_t variant = 0; variant < ElementStream::variants; ++variant) {
        for (std::size_t j = 0; j < ElementStream::period; ++j) {
            std::memset(stream.element(variant, j), static_cast<int>(poison_value), size_of(type));
        }
    }
    return stream;
}

/// What is moved without being reduced: all the bits that a type has, or for floating-point types
/// numbers of many magnitudes.
ElementStream movement_pattern(DataType type) {
    return is_floating(type) ? mixed_magnitudes(type, Operation::sum, 0, 1)
                             : exact_input(type, Operation::bitwise_xor, 0, 1);
}

/// Each block has a stream of its own, so that blocks in each other's place show.
std::uint64_t salt_of(const RoleRange& range, std::uint64_t salt) {
    return salt + (static_cast<std::uint64_t>(range.block) << 32);
}

}  // namespace

bool Case::has_result() const {
    const CollectiveTraits& row = traits_of(collective);
    return row.has_data() && (operation || !row.reduces);
}

RankCall rank_call_of(const Case& what, const Session& session) {
    RankCall rank_call{what.collective, what.count,     what.in_place,
                       what.root,       session.rank(), session.torus().ranks()};
    if (traits_of(what.collective).with_neighbours()) {
        rank_call.neighbours = session.neighbours();
    }
    if (what.uneven) {
        rank_call.block_count = random_counts(*what.uneven, what.count, what.in_place);
    }
    return rank_call;
}

const ElementStream& Patterns::Data::of(Content content) const {
    return content == Content::input ? input : content == Content::result ? result : untouched;
}

const Patterns::Data& Patterns::of(const Case& what) {
    const auto key = std::tuple(what.type, what.operation, traits_of(what.collective).prefix);
    auto found = data_.find(key);
    if (found == data_.end()) {
        found = data_.emplace(key, make(what)).first;
    }
    return found->second;
}

Patterns::Data Patterns::make(const Case& what) const {
    if (!what.operation) {
        const ElementStream moved = movement_pattern(what.type);
        return {moved, moved, poisoned(what.type), std::nullopt};
    }
    const Rank contributors = traits_of(what.collective).contributors(rank_, ranks_);
    Data data{exact_input(what.type, *what.operation, rank_, ranks_),
              exact_result(what.type, *what.operation, ranks_, std::max(1, contributors)),
              poisoned(what.type), std::nullopt};
    if (is_floating(what.type)) {
        data.mixed = mixed_magnitudes(what.type, *what.operation, rank_, ranks_);
    }
    return data;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes)
    : bytes_(bytes),
      all_(static_cast<std::byte*>(
          ::operator new (bytes + 2 * guard_bytes, std::align_val_t{guard_bytes}))) {
    std::memset(all_.get(), static_cast<int>(guard_value), bytes + 2 * guard_bytes);
    std::memset(data(), 0, bytes);
}

std::int64_t GuardedBuffer::broken_guards() const {
    const auto broken = [](const std::byte* guard) {
        return std::any_of(guard, guard + guard_bytes,
                           [](std::byte b) { return b != guard_value; });
    };
    return (broken(all_.get()) ? 1 : 0) + (broken(all_.get() + guard_bytes + bytes_) ? 1 : 0);
}

Workload::Workload(const Case& what, Session& session, Patterns& patterns)
    : what_(what),
      session_(session),
      patterns_(patterns),
      role_(role_of(rank_call_of(what, session))),
      element_bytes_(size_of(what.type)),
      send_(role_.send_count * element_bytes_),
      recv_(role_.receive_count * element_bytes_) {}

std::byte* Workload::address(const RoleRange& range) {
    return (range.buffer == Buffer::send ? send_ : recv_).data() + range.first * element_bytes_;
}

void Workload::overwrite() {
    std::memset(send_.data(), static_cast<int>(poison_value), send_.bytes());
    std::memset(recv_.data(), static_cast<int>(poison_value), recv_.bytes());
}

CollectiveCall Workload::call(bool pointer_in_place) {
    CollectiveCall call{.collective = what_.collective,
                        .send = send_.data(),
                        .recv = recv_.data(),
                        .count = role_.count,
                        .type = static_cast<trefoil_datatype_t>(what_.type),
                        .root = what_.root};
    if (what_.operation) {
        call.operation = static_cast<trefoil_op_t>(*what_.operation);
    } else if (traits_of(what_.collective).reduces) {
        call.type = TREFOIL_ELEMENT;
        call.operation = session_.no_arithmetic(size_of(what_.type));
    }
    if (what_.uneven) {
        call.sent.counts = role_.sent.counts.data();
        call.received.counts = role_.received.counts.data();
    }
    if (role_.send_in_place) {
        const bool pointer = pointer_in_place && traits_of(what_.collective).reduces;
        call.send = pointer ? recv_.data() : TREFOIL_IN_PLACE;
    }
    if (role_.receive_in_place) {
        call.recv = TREFOIL_IN_PLACE;
    }
    return call;
}

void Workload::fill(std::uint64_t salt) {
    const Patterns::Data& data = patterns_.of(what_);
    overwrite();
    for (const RoleRange& range : role_.before) {
        data.of(range.content).fill(address(range), range.count, salt_of(range, salt));
    }
}

std::int64_t Workload::wrong(std::uint64_t salt) {
    const Patterns::Data& data = patterns_.of(what_);
    std::size_t wrong = 0;
    for (const RoleRange& range : role_.after) {
        wrong += data.of(range.content)
                     .count_different(address(range), range.count, salt_of(range, salt));
    }
    return static_cast<std::int64_t>(wrong) + recv_.broken_guards() + send_.broken_guards();
}

void Workload::fill_mixed(std::uint64_t salt) {
    overwrite();
    patterns_.of(what_).mixed->fill(what_.in_place ? recv_.data() : send_.data(), what_.count,
                                    salt);
}

void Workload::make_repeatable() {
    if (what_.in_place) {
        std::memset(recv_.data(), 0, recv_.bytes());
    }
}

}  // namespace trefoil::tool
