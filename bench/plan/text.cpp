// SPDX-License-Identifier: BSD-3-Clause
// A schedule in words: compact lines, one per message, with exact fractions of the vector.
#include "bench/plan/text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <numeric>

#include "algorithms/schedule/acknowledgements.hpp"

namespace trefoil::tool {

namespace {

/// "0-3, 7, s0": runs of blocks; scratch blocks are numbered on their own after an s.
std::string blocks_text(const Part& part, std::span<const Extent> extents) {
    std::string text;
    const auto append = [&](const char* prefix, Block first, Block count) {
        if (count == 0) {
            return;
        }
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", prefix, first);
        if (count > 1) {
            text += fmt::format("-{}{}", prefix, first + count - 1);
        }
    };
    for (const Extent& e : extents) {
        const Block vector_end = std::max(e.first, std::min(e.first + e.count, part.vector_blocks));
        append("", e.first, vector_end - e.first);
        const Block scratch = std::max(e.first, part.vector_blocks);
        append("s", scratch - part.vector_blocks,
               e.first + e.count > scratch ? e.first + e.count - scratch : 0);
    }
    return (block_count(extents) == 1 ? "block " : "blocks ") + text;
}

class SchedulePrinter {
  public:
    SchedulePrinter(const Torus& torus, const Schedule& schedule)
        : torus_(torus), schedule_(schedule) {}

    std::string take() {
        for (std::size_t p = 0; p < schedule_.parts.size(); ++p) {
            part(p);
        }
        return std::move(text_);
    }

  private:
    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
        text_ += '\n';
    }

    std::string share(const Part& part, std::uint64_t blocks) const {
        return fraction_text(blocks, std::uint64_t{part.vector_blocks} * schedule_.parts.size());
    }

    void part(std::size_t index) {
        const Part& part = schedule_.parts[index];
        const std::size_t parts = schedule_.parts.size();
        line("");
        line("part {}: elements {} to {} of the vector, {} block{}{}", index,
             fraction_text(index, parts), fraction_text(index + 1, parts), part.vector_blocks,
             part.vector_blocks == 1 ? "" : "s",
             part.scratch_blocks == 0 ? "" : fmt::format(" + {} of scratch", part.scratch_blocks));
        int number = 0;
        for (const Step& step : schedule_.of(part)) {
            this->step(part, step, number++);
        }
    }

    void step(const Part& part, const Step& step, int number) {
        const bool idle = step.moves.count + step.sends.count + step.receives.count == 0;
        line("  step {}{}", number, idle ? ": nothing" : "");
        for (const Move& m : schedule_.moves_of(step)) {
            move(part, m);
        }
        for (const Send& s : schedule_.sends_of(step)) {
            const auto extents = schedule_.extents_of(s);
            line("    send    {} to   {:<14} {}", to_string(s.port), rank_text(torus_, s.peer),
                 extents.empty() ? signal_text(s.opens) : data_text(part, extents));
        }
        for (const Receive& r : schedule_.receives_of(step)) {
            receive(part, r);
        }
    }

    /// "pull    block 2 of rank 1 (1) into block 2, reduced".
    void move(const Part& part, const Move& m) {
        const Extent to{m.to, m.from.count};
        const bool reduces = m.action == trefoil::Action::reduce;
        const std::string source = blocks_text(part, {&m.from, 1}) +
                                   (m.pulls() ? " of " + rank_text(torus_, m.peer) : "") +
                                   (m.initial ? " as it began" : "");
        line("    {:<7} {} {} {}",
             m.pulls() ? "pull"
             : reduces ? "reduce"
                       : "copy",
             source,
             !reduces    ? "to"
             : m.pulls() ? "and reduce into"
                         : "into",
             blocks_text(part, {&to, 1}));
    }

    static std::string signal_text(bool opens) {
        return opens ? "a signal that opens the vector" : "a signal";
    }

    std::string data_text(const Part& part, std::span<const Extent> extents) const {
        return fmt::format("{:<5} of the vector: {}", share(part, block_count(extents)),
                           blocks_text(part, extents));
    }

    void receive(const Part& part, const Receive& r) {
        const auto applications = schedule_.applications_of(r);
        std::string what = applications.empty() ? signal_text(r.opens) : "";
        for (const Application& a : applications) {
            const auto extents = schedule_.extents_of(a);
            const std::string action = a.action == trefoil::Action::reduce    ? "reduced into"
                                       : a.action == trefoil::Action::prepend ? "reduced before"
                                                                              : "replaces";
            what += what.empty() ? fmt::format("{:<5} of the vector: {} {}",
                                               share(part, block_count(extents)), action,
                                               blocks_text(part, extents))
                                 : fmt::format(", and {} {}", action, blocks_text(part, extents));
        }
        line("    receive {} from {:<14} {}", to_string(r.port), rank_text(torus_, r.peer), what);
    }

    const Torus& torus_;
    const Schedule& schedule_;
    std::string text_;
};

}  // namespace

std::string rank_text(const Torus& torus, Rank rank) {
    return fmt::format("rank {} ({})", rank, fmt::join(torus.coordinates(rank), ","));
}

std::string fraction_text(std::uint64_t numerator, std::uint64_t denominator) {
    const std::uint64_t divisor = std::gcd(numerator, denominator);
    if (divisor == denominator) {
        return fmt::format("{}", numerator / denominator);
    }
    return fmt::format("{}/{}", numerator / divisor, denominator / divisor);
}

std::string schedule_text(const Torus& torus, const Algorithm& algorithm,
                          const Schedule& schedule) {
    std::string text = SchedulePrinter(torus, schedule).take();
    const auto channels = acknowledgements(schedule, traits_of(algorithm.collective));
    text += channels.empty() ? "" : "\nwhen it begins\n";
    for (const IncomingChannel& c : channels) {
        text +=
            fmt::format("    acknowledge {} to {}\n", to_string(c.port), rank_text(torus, c.peer));
    }
    return text;
}

}  // namespace trefoil::tool
