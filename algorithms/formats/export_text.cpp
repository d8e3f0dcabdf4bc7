// SPDX-License-Identifier: BSD-3-Clause
// An estimate from the first rank, then the text itself.
#include "algorithms/formats/export_text.hpp"

#include "algorithms/formats/formats.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(std::string_view form, double bytes, const std::string& what) {
    throw Error(Status::unsupported,
                "the " + std::string(form) + " export would have " +
                    std::to_string(static_cast<std::size_t>(bytes / (1 << 20)) + 1) + " MiB" +
                    what + "; the limit is " + std::to_string(largest_export >> 20) +
                    " MiB. Take a smaller torus, or an algorithm with fewer messages");
}

}  // namespace

std::vector<Schedule> schedules_to_export(const Torus& torus, const Algorithm& algorithm,
                                          const BuildOptions& options, std::string_view form,
                                          std::size_t bytes_per_message) {
    std::vector<Schedule> all;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        all.push_back(algorithm.build(torus, r, options));
        const auto messages = static_cast<double>(all.back().sends.size()) * torus.ranks();
        const double bytes = messages * static_cast<double>(bytes_per_message);
        if (r == 0 && bytes > static_cast<double>(largest_export)) {
            refuse(
                form, bytes,
                " or so, for " + std::to_string(static_cast<std::size_t>(messages)) + " messages");
        }
    }
    for (const Schedule& schedule : all) {
        for (const Move& move : schedule.moves) {
            if (move.pulls()) {
                throw Error(Status::unsupported, std::string(algorithm.name) +
                                                     " reads the memory of other ranks, which " +
                                                     std::string(form) + " cannot say");
            }
        }
    }
    return all;
}

void require_small(const std::string& text, std::string_view form) {
    if (text.size() > largest_export) {
        refuse(form, static_cast<double>(text.size()), " and more");
    }
}

}  // namespace trefoil
