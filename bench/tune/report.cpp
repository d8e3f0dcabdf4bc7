// SPDX-License-Identifier: BSD-3-Clause
// Tables that grow, and a line of progress on a terminal.
#include "bench/tune/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "bench/common/names.hpp"
#include "bench/tune/stopwatch.hpp"

namespace trefoil::tool {

namespace {

std::string types_text(TuningRule::Types types) {
    using Types = TuningRule::Types;
    return types == Types::any_order     ? ", for reductions with the same bits in any order"
           : types == Types::fixed_order ? ", for all other reductions"
                                         : "";
}

std::string range_text(const WinnersRange& range) {
    const bool ends = range.bytes.most < SizeRange().most;
    return fmt::format("{}-{} {}", range.bytes.least, ends ? std::to_string(range.bytes.most) : "",
                       range.algorithm);
}

/// The fastest of those that did not win; null: there is none.
const Contender* next_of(const std::vector<Contender>& contenders, const Contender& winner) {
    const Contender* next = nullptr;
    for (const Contender& one : contenders) {
        if (&one != &winner && !one.seconds.empty() &&
            (next == nullptr || one.median < next->median)) {
            next = &one;
        }
    }
    return next;
}

}  // namespace

TuneReport::TuneReport(bool silent)
    : silent_(silent),
      progress_(!silent && isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

void TuneReport::head(const TunedJob& job) const {
    if (!silent_) {
        fmt::print("# {}\n# {}\n", job.made, job.key.text());
        std::fflush(stdout);
    }
}

void TuneReport::add(const MachineFigures& m, const ModelNumbers& numbers) const {
    if (silent_) {
        return;
    }
    fmt::print("\n{:>5} {:>11} {:>12} {:>14}  {}\n", "port", "latency us", "Gbit/s", "messages/s",
               "NIC");
    for (const PortFigures& port : m.ports) {
        fmt::print("{:>5} {:>11.3f} {:>12.4g} {:>14.4g}  {}\n", port.port, 1e6 * port.latency,
                   8e-9 * port.bytes_rate, port.messages, port.nic.empty() ? "-" : port.nic);
    }
    fmt::print("{:>5} {:>11.3f} {:>12.4g}\n", "all", 1e6 * m.latency_of_all, 8e-9 * m.rate_of_all);
    fmt::print(
        "a further hop: {}; of each rank, all at once: copies {:.3g} GB/s, sums of floats "
        "{:.3g} GB/s\n",
        m.hop ? fmt::format("{:.3g} us", 1e6 * *m.hop) : "there is none", 1e-9 * m.copy,
        1e-9 * m.reduction);
    fmt::print("numbers for the model: {}\n", text_of(numbers));
    std::fflush(stdout);
}

void TuneReport::expect(double seconds) {
    expected_ = seconds;
    start_ = std::chrono::steady_clock::now();
}

void TuneReport::begin(Collective collective, std::string_view type,
                       TuningRule::Types types) const {
    if (silent_) {
        return;
    }
    fmt::print("\n{}, {}{}\n{:>11}  {:<28} {:>10}  {:<28} {:>10}  {:<28} {:>6}\n",
               to_string(collective), type, types_text(types), "bytes", "chosen", "us",
               "the model takes", "us", "next", "times");
    std::fflush(stdout);
}

std::string TuneReport::left_text() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return done_ <= 0 ? fmt::format("about {:.0f} s in all", expected_)
                      : fmt::format("about {:.0f} s left",
                                    spent.count() * std::max(0.0, expected_ / done_ - 1));
}

void TuneReport::announce(Collective collective, std::size_t bytes) const {
    if (progress_) {
        fmt::print(stderr, "\r\033[K{} of {} bytes, {}\r", to_string(collective), bytes,
                   left_text());
    }
}

void TuneReport::add(std::size_t bytes, const std::vector<Contender>& contenders,
                     const Contender& winner, bool models) {
    const Contender& first = contenders.front();
    const bool known = models && !first.seconds.empty();
    if (known) {
        gains_.push_back(first.median / winner.median);
    }
    if (silent_) {
        return;
    }
    const Contender* const next = next_of(contenders, winner);
    if (progress_) {
        fmt::print(stderr, "\r\033[K");
    }
    fmt::print("{:>11}  {:<28} {:>10.2f}  {:<28} {:>10}  {:<28} {:>6}\n", bytes, winner.algorithm,
               1e6 * winner.median, models ? first.algorithm : "(a crossover)",
               known ? fmt::format("{:.2f}", 1e6 * first.median) : "-",
               next == nullptr ? "-" : next->algorithm,
               next == nullptr ? "" : fmt::format("{:.2f}", next->median / winner.median));
    std::fflush(stdout);
}

void TuneReport::done(double seconds) {
    done_ += seconds;
}

void TuneReport::end(const std::vector<WinnersRange>& ranges) const {
    if (silent_) {
        return;
    }
    std::vector<std::string> texts;
    for (const WinnersRange& range : ranges) {
        texts.push_back(range_text(range));
    }
    fmt::print("{:>11}: {}\n", "rules", fmt::join(texts, ", "));
    if (!progress_) {
        fmt::print(stderr, "{}\n", left_text());
    }
    std::fflush(stdout);
}

void TuneReport::judge(double missed, double missed_now, bool better) const {
    if (silent_ || gains_.empty()) {
        return;
    }
    const std::size_t faster = static_cast<std::size_t>(
        std::ranges::count_if(gains_, [](double gain) { return gain > 1; }));
    fmt::print(
        "\nin {} of {} calls the file's choice beats the model's; the median gain is {:.2f} times, "
        "the largest {:.2f}\n",
        faster, gains_.size(), median(gains_), std::ranges::max(gains_));
    fmt::print(
        "with the measured numbers the model's median error is a factor of {:.2f}, with the "
        "current ones {:.2f}: {}\n",
        missed, missed_now, better ? "the file gets them" : "the file leaves the model as it is");
}

void TuneReport::finish(const std::string& text) const {
    if (!silent_) {
        fmt::print("{}\n", text);
        std::fflush(stdout);
    }
}

}  // namespace trefoil::tool
