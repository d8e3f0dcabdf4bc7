// SPDX-License-Identifier: BSD-3-Clause
// The table and the JSON file of `trefoil perf put`.
#include "bench/put/report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/common/names.hpp"
#include "include/trefoil/trefoil.h"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {
using Json = nlohmann::ordered_json;

std::string core_text(const PutLink& link) {
    const auto [mine, theirs] = link.cores();
    return mine < 0 || theirs < 0 ? "not pinned" : fmt::format("on cores {} and {}", mine, theirs);
}
const char* into_text(PutInto into) {
    switch (into) {
        case PutInto::landing:
            break;
        case PutInto::copied:
            return "copied";
        case PutInto::direct:
            return "direct";
    }
    return "landing";
}
}  // namespace

PutReport::PutReport(const PutLink& link, const PutOptions& options, std::string machine,
                     bool silent)
    : link_(link), options_(options), machine_(std::move(machine)), silent_(silent) {
    if (silent_) {
        return;
    }
    fmt::print("# trefoil perf put: 2 ranks as {}, {}; backend {}, {}\n", options.launch,
               core_text(link), link.backend(), link.port_text());
    fmt::print("# {}\n", machine_);
    fmt::print(
        "# latency in us, half of a round trip; bandwidth in GB/s, over {} repetition{}; {}\n#\n",
        options.repetitions, options.repetitions == 1 ? "" : "s",
        options.check ? "bytes checked" : "the end of each message checked (-c: all bytes)");
    fmt::print("# {:>8} {:>8} {:>7} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>7}{}\n",
               "bytes", "puts", "window", "p50", "p99", "min", "mean", "GB/s", "lowest", "highest",
               "#wrong", options.direct ? "     into" : "");
    std::fflush(stdout);
}

void PutReport::add(const PutFigures& figures) {
    wrong_ += figures.wrong;
    rows_.push_back(figures);
    if (silent_) {
        return;
    }
    const PutFigures& f = figures;
    fmt::print(
        "{:>10} {:>8} {:>7} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>9.3f} {:>9.3f} "
        "{:>9.3f} {:>7}{}\n",
        size_text(f.what.bytes), f.what.iterations, f.what.window, f.p50, f.p99, f.min, f.mean,
        f.bandwidth() * 1e-9, f.bandwidths.front() * 1e-9, f.bandwidths.back() * 1e-9, f.wrong,
        options_.direct ? fmt::format("{:>9}", into_text(f.what.into)) : "");
    std::fflush(stdout);
}

void PutReport::finish() const {
    if (silent_) {
        return;
    }
    fmt::print("{} sizes, {} wrong\n", rows_.size() / (options_.direct ? 2 : 1), wrong_);
    std::fflush(stdout);
    if (!options_.json.empty()) {
        write_json();
    }
}

void PutReport::write_json() const {
    Json all{{"trefoil", trefoil_version_string()},
             {"machine", machine_},
             {"backend", link_.backend()},
             {"provider", link_.provider()},
             {"port", link_.port_text()},
             {"launch", options_.launch},
             {"cores", link_.cores()},
             {"runs", Json::array()}};
    for (const PutFigures& f : rows_) {
        all["runs"].push_back(
            {{"bytes", f.what.bytes},
             {"iterations", f.what.iterations},
             {"repetitions", f.what.repetitions},
             {"window", f.what.window},
             {"into", into_text(f.what.into)},
             {"latency_us", {{"p50", f.p50}, {"p99", f.p99}, {"min", f.min}, {"mean", f.mean}}},
             {"bandwidth",
              {{"median", f.bandwidth()},
               {"min", f.bandwidths.front()},
               {"max", f.bandwidths.back()}}},
             {"checked", options_.check},
             {"wrong", f.wrong}});
    }
    std::ofstream file(options_.json);
    file << all.dump(1) << "\n";
    if (!file.flush()) {
        throw Error(Status::system_error, "cannot write " + options_.json);
    }
}

}  // namespace trefoil::tool
