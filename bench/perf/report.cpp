// SPDX-License-Identifier: BSD-3-Clause
// The table and the JSON file of `trefoil perf`.
#include "bench/perf/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/common/bounds.hpp"
#include "bench/common/names.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

std::string_view type_text(const Measurement& m, std::string_view none) {
    return traits_of(m.what.collective).has_data() ? to_string(m.what.type) : none;
}

std::string_view operation_text(const Measurement& m, std::string_view none) {
    if (!traits_of(m.what.collective).reduces) {
        return none;
    }
    return m.what.operation ? to_string(*m.what.operation) : no_operation;
}

Json comparison_json(const Comparison& c) {
    return {{"calls", c.calls},    {"requests_us", c.requests},
            {"begin_us", c.begin}, {"blocking_us", c.blocking},
            {"ratio", c.ratio()},  {"wrong", c.wrong ? Json(*c.wrong) : Json()}};
}

Json run_json(const Setting& s, const Measurement& m) {
    Json run{{"collective", to_string(m.what.collective)},
             {"algorithm", m.algorithm()},
             {"used", m.used},
             {"asked", m.what.algorithm},
             {"torus", s.torus.name()},
             {"ranks", s.torus.ranks()},
             {"backend", s.backend},
             {"provider", s.provider},
             {"launch", s.launch},
             {"bytes", m.bytes},
             {"count", m.what.count},
             {"type", type_text(m, "")},
             {"op", operation_text(m, "")},
             {"root", traits_of(m.what.collective).rooted() ? Json(m.what.root) : Json()},
             {"in_place", m.what.in_place},
             {"uneven", m.what.uneven ? Json(*m.what.uneven) : Json()},
             {"iterations", m.iterations},
             {"checked", m.wrong.has_value()},
             {"wrong", m.wrong ? Json(*m.wrong) : Json()},
             {"identical", m.identical ? Json(*m.identical) : Json()},
             {"algbw", m.algbw},
             {"busbw", m.busbw},
             {"reached", m.reached ? Json(*m.reached) : Json()},
             {"time_us", {{"p50", m.p50}, {"p99", m.p99}, {"min", m.min}, {"max", m.max}}}};
    if (m.separated) {
        run["time_us"]["loop"] = *m.loop;
        run["time_us"]["with_barriers"] = *m.separated;
    }
    if (m.persistent) {
        run["persistent"] = comparison_json(*m.persistent);
        run["persistent"]["received_bytes"] = m.persistent->received_bytes;
        run["persistent"]["copied_bytes"] = m.persistent->copied_bytes;
    }
    if (m.in_flight) {
        run["in_flight"] = comparison_json(*m.in_flight);
    }
    if (m.overlap) {
        const Overlap& o = *m.overlap;
        run["overlap"] = {{"communication_us", o.communication},
                          {"computation_us", o.computation},
                          {"together_us", o.together},
                          {"processors_us", o.processors},
                          {"cores", o.cores},
                          {"of_bound", o.together / o.bound()},
                          {"hidden", o.hidden()},
                          {"wrong", o.wrong ? Json(*o.wrong) : Json()}};
    }
    return run;
}

std::string wrong_text(const std::optional<std::int64_t>& wrong) {
    return wrong ? fmt::format(", {} wrong", *wrong) : "";
}

/// What stands below a row.
void print_requests(const Measurement& m) {
    if (m.separated) {
        fmt::print("#   back to back {:.2f} per call; with a barrier before each call {:.2f}\n",
                   *m.loop, *m.separated);
    }
    if (m.persistent) {
        const Comparison& c = *m.persistent;
        fmt::print(
            "#   persistent {:.1f}, blocking {:.1f} alternately: ratio {:.3f}; {:.2f} bytes copied "
            "per "
            "byte received{}\n",
            c.requests, c.blocking, c.ratio(), c.copied(), wrong_text(c.wrong));
    }
    if (m.in_flight) {
        const Comparison& c = *m.in_flight;
        fmt::print(
            "#   {} in flight {:.1f} (begun after {:.1f}), {} blocking {:.1f} alternately: ratio "
            "{:.3f}{}\n",
            c.calls, c.requests, c.begin, c.calls, c.blocking, c.ratio(), wrong_text(c.wrong));
    }
    if (m.overlap) {
        const Overlap& o = *m.overlap;
        fmt::print(
            "#   communication {:.1f}, computation {:.1f}, together {:.1f}: {:.0f}% hidden; {:.2f} "
            "of the longest of both and of the processor time, {:.1f} on each of {} cores{}\n",
            o.communication, o.computation, o.together, 100 * o.hidden(), o.together / o.bound(),
            o.processors, o.cores, wrong_text(o.wrong));
    }
}

}  // namespace

Report::Report(Setting setting, const PerfOptions& options, bool silent)
    : setting_(std::move(setting)),
      json_file_(options.json),
      silent_(silent),
      asked_to_check_(options.check),
      progress_(!silent && isatty(STDERR_FILENO) != 0) {
    if (silent_) {
        return;
    }
    fmt::print("# trefoil perf {}: torus {} ({}), {} ranks as {}, backend {}{}{}\n",
               options.collective, setting_.torus.name(), setting_.torus_source,
               setting_.torus.ranks(), setting_.launch, setting_.backend,
               setting_.provider.empty() ? "" : ", provider ", setting_.provider);
    fmt::print("# {}\n", setting_.machine);
    fmt::print(
        "# {} iterations after {} to warm up{}; times in us, of the slowest rank; bandwidths in "
        "GB/s, by p50\n#\n",
        options.iterations, options.warmup, options.check ? ", results checked" : "");
    if (options.uneven) {
        fmt::print("# alltoallv with the counts of seed {}, most of them up to count\n#\n",
                   *options.uneven);
    }
    fmt::print(
        "# {:>8} {:>9} {:>14} {:>5} {:>5} {:<30} {:>5} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} "
        "{:>7}{}\n",
        "bytes", "count", "type", "op", "root", "algorithm", "place", "p50", "p99", "mean-min",
        "mean-max", "algbw", "busbw", "#wrong", setting_.seconds_per_byte ? "  %bound" : "");
    std::fflush(stdout);
}

void Report::announce(const Case& what, std::size_t done, std::size_t of) const {
    if (progress_) {
        fmt::print(stderr, "\r\033[K{}/{} {} of {} {} by {}\r", done, of,
                   to_string(what.collective), what.count, to_string(what.type), what.algorithm);
    }
}

/// The bound over p50.
std::optional<double> Report::reached(const Measurement& m) {
    if (!setting_.seconds_per_byte || m.what.uneven || m.bytes == 0 || !(m.p50 > 0)) {
        return std::nullopt;
    }
    const auto [known, is_new] = bounds_.try_emplace(m.what.root);
    if (is_new) {
        if (const auto bound = shown_bound(setting_.torus, m.what.collective, m.what.root)) {
            known->second = bound->vectors();
        }
    }
    if (!known->second) {
        return std::nullopt;
    }
    return *known->second * static_cast<double>(m.bytes) * *setting_.seconds_per_byte /
           (m.p50 * 1e-6);
}

void Report::add(Measurement m) {
    wrong_ += m.all_wrong();
    checked_ += m.wrong ? 1 : 0;
    if (silent_) {
        return;
    }
    if (progress_) {
        fmt::print(stderr, "\r\033[K");
    }
    const std::string name = (m.what.algorithm == "auto" ? "auto: " : "") + m.used;
    const std::string wrong = !m.wrong ? "-" : std::to_string(*m.wrong);
    m.reached = reached(m);
    fmt::print(
        "{:>10} {:>9} {:>14} {:>5} {:>5} {:<30} {:>5} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f} "
        "{:>8.3f} {:>8.3f} {:>7}{}{}\n",
        size_text(m.bytes), m.what.count, type_text(m, "-"), operation_text(m, "-"),
        traits_of(m.what.collective).rooted() ? std::to_string(m.what.root) : "-", name,
        !traits_of(m.what.collective).has_data() ? "-"
        : m.what.in_place                        ? "in"
                                                 : "out",
        m.p50, m.p99, m.min, m.max, m.algbw * 1e-9, m.busbw * 1e-9, wrong,
        m.reached                   ? fmt::format(" {:>7.1f}", 100 * *m.reached)
        : setting_.seconds_per_byte ? "       -"
                                    : "",
        !m.identical.value_or(true)   ? "  ranks differ in their bits"
        : asked_to_check_ && !m.wrong ? "  not checked"
                                      : "");
    print_requests(m);
    std::fflush(stdout);
    measurements_.push_back(std::move(m));
}

void Report::add(const ResourceUse& use) {
    resources_ = use;
    for (const std::string& line : resource_lines(use)) {
        if (!silent_) {
            fmt::print(
                "# {}{}\n", line,
                setting_.launch == "threads" ? " (memory and descriptors: of all threads)" : "");
        }
    }
    for (const std::string& line : traffic_lines(use)) {
        if (!silent_) {
            fmt::print("# {}\n", line);
        }
    }
}

void Report::add(const LateBarrier& late) {
    if (!silent_) {
        fmt::print("{}", late_text(late));
        std::fflush(stdout);
    }
    late_ = late;
}

void Report::gap() {
    if (!silent_) {
        fmt::print("\n");
    }
}

void Report::finish(const std::vector<Skipped>& skipped) {
    if (silent_) {
        return;
    }
    for (const Skipped& s : skipped) {
        fmt::print("# skipped {}: {}\n", s.algorithm, s.reason);
    }
    fmt::print("{} measurements, {}\n", measurements_.size(), verdict());
    std::fflush(stdout);
    if (!json_file_.empty()) {
        write_json(skipped);
    }
}

std::string Report::verdict() const {
    if (checked_ == 0) {
        return asked_to_check_ ? "results not checked" : "results not checked (-c checks them)";
    }
    const std::size_t rest = measurements_.size() - checked_;
    return fmt::format("{} wrong{}", wrong_, rest > 0 ? fmt::format(", {} not checked", rest) : "");
}

void Report::write_json(const std::vector<Skipped>& skipped) const {
    Json all{{"trefoil", trefoil_version_string()},
             {"machine", setting_.machine},
             {"runs", Json::array()},
             {"skipped", Json::array()}};
    for (const Measurement& m : measurements_) {
        all["runs"].push_back(run_json(setting_, m));
    }
    if (late_) {
        all["late"] = {{"seconds", late_->late},
                       {"from", late_->from},
                       {"until", late_->until},
                       {"percent", late_->together},
                       {"percent_of_busiest", late_->most},
                       {"wake_us", late_->wake ? Json(*late_->wake) : Json()}};
    }
    for (const Skipped& s : skipped) {
        all["skipped"].push_back({{"algorithm", s.algorithm}, {"reason", s.reason}});
    }
    if (resources_) {
        all["resources"] = resource_json(*resources_);
    }
    std::ofstream file(json_file_);
    file << all.dump(1) << "\n";
    if (!file.flush()) {
        throw Error(Status::system_error, "cannot write " + json_file_);
    }
}

}  // namespace trefoil::tool
