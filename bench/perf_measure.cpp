// SPDX-License-Identifier: BSD-3-Clause
// Times and checks one case on one rank.
#include "bench/perf_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

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

double percentile(const std::vector<double>& sorted, double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace

class Meter::Buffers {
  public:
    Buffers(std::size_t size, bool in_place) : bytes(size), send(in_place ? 0 : size), recv(size) {}
    std::size_t bytes;
    GuardedBuffer send, recv;
};

Measurement Meter::measure(const Case& what) {
    Measurement m;
    m.what = what;
    m.iterations = iterations_;
    m.bytes = what.count * (what.collective == Collective::barrier ? 0 : size_of(what.type));
    Buffers buffers(m.bytes, what.in_place);
    const bool check = check_ && what.collective == Collective::allreduce;
    std::int64_t wrong = 0;
    if (what.collective == Collective::allreduce) {
        session_.set_algorithm(what.algorithm);
    }
    m.algorithm = session_.algorithm(what.collective, what.count, what.type);
    if (check) {
        wrong += checked_call(what, buffers);  // the first call, with all that it has to set up
    }
    std::vector<double> seconds = timed_calls(what, buffers);
    if (check) {
        wrong += checked_call(what, buffers);
        if (is_floating(what.type) &&
            find_algorithm(what.collective, m.algorithm).traits.identical_results) {
            m.identical = identical_call(what, buffers);  // sets another algorithm: the last one
        }
        m.wrong = session_.total(wrong) + (m.identical.value_or(true) ? 0 : 1);
    }
    summarize(std::move(seconds), m);
    return m;
}

void Meter::call(const Case& what, Buffers& buffers, bool pointer_in_place) {
    if (what.collective == Collective::barrier) {
        session_.barrier();
        return;
    }
    std::byte* recv = buffers.recv.data();
    const void* send = !what.in_place     ? buffers.send.data()
                       : pointer_in_place ? recv
                                          : TREFOIL_IN_PLACE;
    session_.allreduce(send, recv, what.count, what.type, what.operation);
}

const Meter::Data& Meter::data_of(const Case& what) {
    const auto key = std::pair(what.type, what.operation);
    const auto found = data_.find(key);
    if (found != data_.end()) {
        return found->second;
    }
    const Rank rank = session_.rank();
    const Rank ranks = session_.torus().ranks();
    Data data{exact_input(what.type, what.operation, rank, ranks),
              exact_result(what.type, what.operation, ranks), std::nullopt};
    if (is_floating(what.type)) {
        data.mixed = mixed_magnitudes(what.type, what.operation, rank, ranks);
    }
    return data_.emplace(key, std::move(data)).first->second;
}

/// One call on data whose result is known; returns how many elements of this rank are wrong,
/// counting damage to the send buffer and to the bytes around the receive buffer.
std::int64_t Meter::checked_call(const Case& what, Buffers& buffers) {
    const Data& data = data_of(what);
    const std::uint64_t salt = ++salt_;
    std::byte* recv = buffers.recv.data();
    std::memset(recv, static_cast<int>(poison_value), buffers.bytes);
    data.input.fill(what.in_place ? recv : buffers.send.data(), what.count, salt);
    call(what, buffers, salt % 2 == 0);
    std::size_t wrong = data.result.count_different(recv, what.count, salt);
    if (!what.in_place) {
        wrong += data.input.count_different(buffers.send.data(), what.count, salt);
    }
    return static_cast<std::int64_t>(wrong) + buffers.recv.broken_guards() +
           buffers.send.broken_guards();
}

bool Meter::identical_call(const Case& what, Buffers& buffers) {
    const ElementStream& mixed = *data_of(what).mixed;
    std::byte* recv = buffers.recv.data();
    std::memset(recv, static_cast<int>(poison_value), buffers.bytes);
    mixed.fill(what.in_place ? recv : buffers.send.data(), what.count, ++salt_);
    call(what, buffers, true);
    return session_.equal_everywhere(hash_bytes(recv, buffers.bytes));
}

/// Seconds of each call on this rank. In place, results become inputs: zeros stay zeros under every
/// operation, so that nothing overflows.
std::vector<double> Meter::timed_calls(const Case& what, Buffers& buffers) {
    if (what.in_place) {
        std::memset(buffers.recv.data(), 0, buffers.bytes);
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
    const double ranks = session_.torus().ranks();
    m.algbw = m.p50 > 0 ? static_cast<double>(m.bytes) / (m.p50 * 1e-6) : 0;
    m.busbw = m.algbw * 2 * (ranks - 1) / ranks;
}

}  // namespace trefoil::tool
