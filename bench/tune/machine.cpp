// SPDX-License-Identifier: BSD-3-Clause
// Exchanges with neighbours in which all directions but one are empty, and what they cost.
#include "bench/tune/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/tune/stopwatch.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil::tool {

namespace {

constexpr int repetitions = 5;
constexpr std::size_t small = 8;
constexpr std::size_t together = 16;

/// The median over the repetitions, each of as many calls as fit in the slice.
double timed(Session& session, double slice, const std::function<void()>& call) {
    call();
    const int calls = calls_in(slice, seconds_per_call(session, 1, call));
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) {
        seconds.push_back(seconds_per_call(session, calls, call));
    }
    return median(std::move(seconds));
}

/// Exchanges in which every rank sends `bytes` bytes through each of some ports.
class Exchange {
  public:
    Exchange(Session& session, const std::vector<Port>& ports, std::size_t bytes)
        : session_(session),
          send_(ports.size() * bytes),
          receive_(send_.size()),
          sent_(static_cast<std::size_t>(session.torus().ports())),
          received_(sent_.size()) {
        for (const Port port : ports) {
            sent_[static_cast<std::size_t>(slot_of(port))] = bytes;
            received_[static_cast<std::size_t>(slot_of(port.opposite()))] = bytes;
        }
    }
    CollectiveCall call() {
        return {.collective = Collective::neighbor_alltoall,
                .send = send_.data(),
                .recv = receive_.data(),
                .type = TREFOIL_UINT8,
                .sent = {.counts = sent_.data()},
                .received = {.counts = received_.data()}};
    }
    double seconds(double slice) {
        return timed(session_, slice, [this] { session_.call(call()); });
    }

  private:
    Session& session_;
    std::vector<std::byte> send_, receive_;
    std::vector<std::size_t> sent_, received_;
};

double messages_per_second(Session& session, Port port, double slice) {
    std::vector<Exchange> exchanges;
    exchanges.reserve(together);
    for (std::size_t i = 0; i < together; ++i) {
        exchanges.emplace_back(session, std::vector{port}, small);
    }
    std::array<trefoil_request_t, together> requests{};
    const double seconds = timed(session, slice, [&] {
        for (std::size_t i = 0; i < together; ++i) {
            session.begin(exchanges[i].call(), &requests[i]);
        }
        require_success(trefoil_waitall(together, requests.data()));
    });
    return together / seconds;
}

PortFigures measure_port(Session& session, Port port, double slice) {
    PortFigures figures{.port = to_string(port)};
    const char* const nic = session.sent(port).nic;
    figures.nic = nic == nullptr ? "" : nic;
    figures.latency = Exchange(session, {port}, small).seconds(slice);
    figures.bytes_rate =
        MachineFigures::large / Exchange(session, {port}, MachineFigures::large).seconds(slice);
    figures.messages = messages_per_second(session, port, slice);
    return figures;
}

/// Seconds of calls in which every rank sends 8 bytes to the rank that is `hops` hops away, as far
/// in each dimension as `hops` allows.
double seconds_over(Session& session, int hops, double slice) {
    const Torus& torus = session.torus();
    std::vector<int> shift(static_cast<std::size_t>(torus.dimensions()));
    for (int j = 0; j < torus.dimensions() && hops > 0; ++j) {
        shift[static_cast<std::size_t>(j)] = std::min(hops, torus.size(j) / 2);
        hops -= shift[static_cast<std::size_t>(j)];
    }
    const auto ranks = static_cast<std::size_t>(torus.ranks());
    std::vector<std::size_t> sent(ranks), received(ranks);
    Rank to = session.rank(), from = to;
    for (int j = 0; j < torus.dimensions(); ++j) {
        to = torus.shifted(to, j, shift[static_cast<std::size_t>(j)]);
        from = torus.shifted(from, j, -shift[static_cast<std::size_t>(j)]);
    }
    sent[static_cast<std::size_t>(to)] = small;
    received[static_cast<std::size_t>(from)] = small;
    std::array<std::byte, small> out{}, in{};
    const CollectiveCall call{.collective = Collective::alltoall,
                              .send = out.data(),
                              .recv = in.data(),
                              .type = TREFOIL_UINT8,
                              .sent = {.counts = sent.data()},
                              .received = {.counts = received.data()}};
    return timed(session, slice, [&] { session.call(call); });
}

int longest_way(const Torus& torus) {
    int hops = 0;
    for (const int size : torus.sizes()) {
        hops += size / 2;
    }
    return hops;
}

std::string us(double seconds) {
    return fmt::format("{:.4g}us", std::max(0.0, 1e6 * seconds));
}
std::string ns(double seconds) {
    return fmt::format("{:.4g}ns", std::max(0.0, 1e9 * seconds));
}

}  // namespace

MachineFigures measure_machine(Session& session, double slice) {
    MachineFigures m;
    const Torus& torus = session.torus();
    std::vector<Port> all;
    for (int p = 0; p < torus.ports(); ++p) {
        if (torus.size(p / 2) > 1) {
            all.push_back({p});
        }
    }
    for (const Port port : all) {
        m.ports.push_back(measure_port(session, port, slice));
    }
    m.latency_of_all = Exchange(session, all, small).seconds(slice);
    m.rate_of_all = static_cast<double>(all.size() * MachineFigures::large) /
                    Exchange(session, all, MachineFigures::large).seconds(slice);
    if (const int hops = longest_way(torus); hops > 1) {
        m.hop =
            std::max(0.0, (seconds_over(session, hops, slice) - seconds_over(session, 1, slice)) /
                              (hops - 1));
    }
    std::vector<float> a(MachineFigures::large / sizeof(float)), b(a.size());
    m.copy = MachineFigures::large /
             timed(session, slice, [&] { std::memcpy(a.data(), b.data(), MachineFigures::large); });
    const ReduceKernel add = reduce_kernels(DataType::float32, Operation::sum).reduce;
    m.reduction = MachineFigures::large /
                  timed(session, slice, [&] { add(a.data(), a.data(), b.data(), a.size()); });
    return m;
}

ModelNumbers numbers_of(const MachineFigures& figures, const CostModel& now) {
    std::vector<double> latencies, rates;
    for (const PortFigures& port : figures.ports) {
        latencies.push_back(port.latency);
        rates.push_back(port.bytes_rate);
    }
    const double latency = median(latencies);
    const double others = static_cast<double>(figures.ports.size()) - 1;
    const double per_byte = 1 / median(rates);
    // One port sends n bytes in n * (link + byte) seconds, all p ports p times as many in
    // n * (link + p * byte).
    const double all_per_byte = static_cast<double>(figures.ports.size()) / figures.rate_of_all;
    const double message =
        others > 0 ? std::max(0.0, (figures.latency_of_all - latency) / others) : 0;
    const double byte =
        others > 0 ? std::clamp((all_per_byte - per_byte) / others, 0.0, per_byte * 0.9) : 0;
    ModelNumbers numbers;
    const bool shares_cores = now.wait > 0;
    const double step =
        shares_cores ? std::min(now.alpha, latency) : std::max(0.0, latency - message);
    numbers.emplace_back("step", us(step));
    if (figures.hop) {
        numbers.emplace_back("hop", us(*figures.hop));
    }
    numbers.emplace_back("rate", fmt::format("{:.4g}mbit", 8e-6 / (per_byte - byte)));
    if (shares_cores) {
        numbers.emplace_back("wait", us(latency - message - step));
    }
    numbers.emplace_back("message", us(message));
    if (now.forward > 0) {  // no measurement here tells it
        numbers.emplace_back("forward", us(now.forward));
    }
    numbers.emplace_back("byte", ns(byte));
    numbers.emplace_back("copy", ns(1 / figures.copy));
    return numbers;
}

std::string text_of(const ModelNumbers& numbers) {
    std::string text;
    for (const auto& [name, value] : numbers) {
        text += (text.empty() ? "" : ",") + name + "=" + value;
    }
    return text;
}

}  // namespace trefoil::tool
