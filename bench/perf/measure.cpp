// SPDX-License-Identifier: BSD-3-Clause
// Times and checks one case on one rank.
#include "bench/perf/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>

#include "algorithms/registry/registry.hpp"
#include "bench/common/percentile.hpp"

namespace trefoil::tool {

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard_value{0xc3}, poison_value{0xa5};

/// A buffer between two guards, aligned as the guards are long.
class GuardedBuffer {
  public:
    explicit GuardedBuffer(std::size_t bytes)
        : bytes_(bytes),
          all_(static_cast<std::byte*>(
              ::operator new (bytes + 2 * guard_bytes, std::align_val_t{guard_bytes}))) {
        std::memset(all_.get(), static_cast<int>(guard_value), bytes + 2 * guard_bytes);
        std::memset(data(), 0, bytes);
    }
    std::byte* data() { return all_.get() + guard_bytes; }
    std::int64_t broken_guards() {
        const auto broken = [](const std::byte* guard) {
            return std::any_of(guard, guard + guard_bytes,
                               [](std::byte b) { return b != guard_value; });
        };
        return (broken(all_.get()) ? 1 : 0) + (broken(data() + bytes_) ? 1 : 0);
    }

  private:
    struct Free {
        void operator()(std::byte* p) const {
            ::operator delete (p, std::align_val_t{guard_bytes});
        }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> all_;
};

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
std::uint64_t salt_of(const Piece& piece, std::uint64_t salt) {
    return salt + (static_cast<std::uint64_t>(piece.block) << 32);
}

}  // namespace

bool Case::has_result() const {
    const CollectiveTraits& row = traits_of(collective);
    return row.has_data() && (operation || !row.reduces);
}

class Meter::Buffers {
  public:
    Buffers(const Part& part, DataType type)
        : role(role_of(part)),
          element_bytes(size_of(type)),
          send(role.send_count * element_bytes),
          recv(role.receive_count * element_bytes) {}
    std::byte* address(const Piece& piece) {
        return (piece.buffer == Buffer::send ? send : recv).data() + piece.first * element_bytes;
    }
    void overwrite() {
        std::memset(send.data(), static_cast<int>(poison_value), role.send_count * element_bytes);
        clear_received(poison_value);
    }
    void clear_received(std::byte value) {
        std::memset(recv.data(), static_cast<int>(value), role.receive_count * element_bytes);
    }
    Role role;
    std::size_t element_bytes;
    GuardedBuffer send, recv;
};

const ElementStream& Meter::Data::of(Content content) const {
    return content == Content::input ? input : content == Content::result ? result : untouched;
}

const Traits& Meter::traits(Collective collective, std::string_view algorithm) const {
    const bool users = schedule_ != nullptr && algorithm == schedule_->algorithm().name;
    return users ? schedule_->algorithm().traits : find_algorithm(collective, algorithm).traits;
}

Part Meter::part_of(const Case& what) const {
    Part part{what.collective, what.count,      what.in_place,
              what.root,       session_.rank(), session_.torus().ranks()};
    if (what.uneven) {
        part.block_count = random_counts(*what.uneven, what.count, what.in_place);
    }
    return part;
}

std::size_t Meter::vector_bytes(const Case& what) const {
    if (!traits_of(what.collective).has_data()) {
        return 0;
    }
    const Rank ranks = session_.torus().ranks();
    return size_of(what.type) * (what.uneven ? mean_count(part_of(what).block_count, ranks)
                                             : whole_count(what.collective, what.count, ranks));
}

Measurement Meter::measure(const Case& what) {
    Measurement m;
    m.what = what;
    m.iterations = iterations_;
    m.bytes = vector_bytes(what);
    Buffers buffers(part_of(what), what.type);
    const bool check = check_ && what.has_result();
    std::int64_t wrong = 0;
    session_.set_algorithm(what.collective, what.algorithm);
    m.used = session_.algorithm(what.collective, what.count, what.type, what.uneven.has_value());
    if (check) {
        wrong += checked_call(what, buffers);  // the first call, with all that it has to set up
    }
    std::vector<double> seconds = timed_calls(what, buffers);
    if (check) {
        wrong += checked_call(what, buffers);
        if (traits_of(what.collective).replicates_results() && is_floating(what.type) &&
            traits(what.collective, m.algorithm()).identical_results) {
            m.identical = identical_call(what, buffers);  // sets another algorithm: the last one
        }
        m.wrong = session_.total(wrong) + (m.identical.value_or(true) ? 0 : 1);
    }
    summarize(std::move(seconds), m);
    return m;
}

void Meter::call(const Case& what, Buffers& buffers, bool pointer_in_place) {
    const Role& role = buffers.role;
    CollectiveCall call{.collective = what.collective,
                        .send = buffers.send.data(),
                        .recv = buffers.recv.data(),
                        .count = role.count,
                        .type = static_cast<trefoil_datatype_t>(what.type),
                        .root = what.root};
    if (what.operation) {
        call.operation = static_cast<trefoil_op_t>(*what.operation);
    } else if (traits_of(what.collective).reduces) {
        call.type = TREFOIL_ELEMENT;
        call.operation = session_.no_arithmetic(size_of(what.type));
    }
    if (what.uneven) {
        call.sent.counts = role.sent.counts.data();
        call.received.counts = role.received.counts.data();
    }
    if (role.send_in_place) {
        const bool pointer = pointer_in_place && traits_of(what.collective).reduces;
        call.send = pointer ? buffers.recv.data() : TREFOIL_IN_PLACE;
    }
    if (role.receive_in_place) {
        call.recv = TREFOIL_IN_PLACE;
    }
    session_.call(call);
}

Meter::Data Meter::make_data(const Case& what) const {
    if (!what.operation) {
        const ElementStream moved = movement_pattern(what.type);
        return {moved, moved, poisoned(what.type), std::nullopt};
    }
    const Rank rank = session_.rank();
    const Rank ranks = session_.torus().ranks();
    const Rank contributors = traits_of(what.collective).contributors(rank, ranks);
    Data data{exact_input(what.type, *what.operation, rank, ranks),
              exact_result(what.type, *what.operation, ranks, std::max(1, contributors)),
              poisoned(what.type), std::nullopt};
    if (is_floating(what.type)) {
        data.mixed = mixed_magnitudes(what.type, *what.operation, rank, ranks);
    }
    return data;
}

const Meter::Data& Meter::data_of(const Case& what) {
    const auto key = std::tuple(what.type, what.operation, traits_of(what.collective).prefix);
    auto found = data_.find(key);
    if (found == data_.end()) {
        found = data_.emplace(key, make_data(what)).first;
    }
    return found->second;
}

/// One call on data whose result is known; returns how many elements of this rank are wrong,
/// counting damage to what is only read or not used, and to the bytes around both buffers.
std::int64_t Meter::checked_call(const Case& what, Buffers& buffers) {
    const Data& data = data_of(what);
    const std::uint64_t salt = ++salt_;
    buffers.overwrite();
    for (const Piece& piece : buffers.role.before) {
        data.of(piece.content).fill(buffers.address(piece), piece.count, salt_of(piece, salt));
    }
    call(what, buffers, salt % 2 == 0);
    std::size_t wrong = 0;
    for (const Piece& piece : buffers.role.after) {
        wrong += data.of(piece.content)
                     .count_different(buffers.address(piece), piece.count, salt_of(piece, salt));
    }
    return static_cast<std::int64_t>(wrong) + buffers.recv.broken_guards() +
           buffers.send.broken_guards();
}

/// Of an allreduce.
bool Meter::identical_call(const Case& what, Buffers& buffers) {
    const ElementStream& mixed = *data_of(what).mixed;
    std::byte* recv = buffers.recv.data();
    buffers.overwrite();
    mixed.fill(what.in_place ? recv : buffers.send.data(), what.count, ++salt_);
    call(what, buffers, true);
    return session_.equal_everywhere(hash_bytes(recv, what.count * buffers.element_bytes));
}

/// Seconds of each call on this rank. In place, results become inputs: zeros stay zeros under every
/// operation, so that nothing overflows.
std::vector<double> Meter::timed_calls(const Case& what, Buffers& buffers) {
    if (what.in_place) {
        buffers.clear_received(std::byte{0});
    }
    for (int i = 0; i < warmup_; ++i) {
        call(what, buffers, true);
    }
    session_.barrier();
    std::vector<double> seconds(iterations_);
    for (double& s : seconds) {
        const auto start = std::chrono::steady_clock::now();
        call(what, buffers, true);
        s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return seconds;
}

void Meter::summarize(std::vector<double> seconds, Measurement& m) {
    const double mean =
        std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
    seconds.push_back(mean);
    seconds.push_back(-mean);
    session_.maximize(seconds);
    m.min = -seconds.back() * 1e6;
    seconds.pop_back();
    m.max = seconds.back() * 1e6;
    seconds.pop_back();
    std::sort(seconds.begin(), seconds.end());
    m.p50 = percentile(seconds, 0.50) * 1e6;
    m.p99 = percentile(seconds, 0.99) * 1e6;
    m.algbw = m.p50 > 0 ? static_cast<double>(m.bytes) / (m.p50 * 1e-6) : 0;
    m.busbw = m.algbw * bus_factor(m.what.collective, session_.torus().ranks());
}

}  // namespace trefoil::tool
