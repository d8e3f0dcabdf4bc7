// SPDX-License-Identifier: BSD-3-Clause
// A send waits for all that was received in the steps before it, of its part; several such receives
// are joined by a calculation of no time.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "algorithms/formats/export_text.hpp"
#include "algorithms/formats/formats.hpp"

namespace trefoil {

namespace {

constexpr std::size_t goal_message_bytes = 120;

class GoalWriter {
  public:
    GoalWriter(const Torus& torus, const CollectiveTraits& row, double vector_bytes)
        : torus_(torus), row_(row), bytes_(vector_bytes) {}

    void write(const Schedule& schedule) {
        text_ += "rank " + std::to_string(schedule.rank) + " {\n";
        for (std::size_t p = 0; p < schedule.parts.size(); ++p) {
            write_part(schedule, p);
        }
        text_ += "}\n";
        require_small(text_, "goal");
    }
    std::string take() { return std::move(text_); }
    void begin() { text_ = "num_ranks " + std::to_string(torus_.ranks()) + "\n\n"; }

  private:
    void write_part(const Schedule& schedule, std::size_t p) {
        const Part& part = schedule.parts[p];
        const double block = bytes_ / static_cast<double>(schedule.parts.size()) /
                             row_.received_of(part.vector_blocks);
        std::string ready;  // what sends wait for
        const auto steps = schedule.of(part);
        for (std::size_t s = 0; s < steps.size(); ++s) {
            const std::string place = "p" + std::to_string(p) + "s" + std::to_string(s);
            // Parts have as many steps as each other, so that no tag is there twice.
            const std::size_t first = (p * steps.size() + s) * torus_.ports();
            std::size_t number = 0;
            for (const Send& send : schedule.sends_of(steps[s])) {
                const std::string label = place + "x" + std::to_string(number++);
                const double size =
                    block * static_cast<double>(block_count(schedule.extents_of(send)));
                message(label, "send", size, "to", send.peer, first + send.port.index);
                if (!ready.empty()) {
                    requires_(label, ready);
                }
            }
            number = 0;
            for (const Receive& receive : schedule.receives_of(steps[s])) {
                const std::string label = place + "y" + std::to_string(number++);
                message(label, "recv", block * received_blocks(schedule, receive), "from",
                        receive.peer, first + receive.port.opposite().index);
            }
            if (number == 0) {
                continue;
            }
            const std::string before = ready;
            ready = number == 1 && before.empty() ? place + "y0" : place + "j";
            if (ready != place + "y0") {
                text_ += ready + ": calc 0\n";
                for (std::size_t i = 0; i < number; ++i) {
                    requires_(ready, place + "y" + std::to_string(i));
                }
                if (!before.empty()) {
                    requires_(ready, before);
                }
            }
        }
    }

    void message(const std::string& label, const char* kind, double size, const char* way,
                 Rank peer, std::size_t tag) {
        const auto bytes = std::max(1LL, std::llround(size));
        text_ += label + ": " + kind + " " + std::to_string(bytes) + "b " + way + " " +
                 std::to_string(peer) + " tag " + std::to_string(tag) + "\n";
    }
    void requires_(const std::string& later, const std::string& earlier) {
        text_ += later + " requires " + earlier + "\n";
    }
    static double received_blocks(const Schedule& schedule, const Receive& receive) {
        const auto applications = schedule.applications_of(receive);
        return applications.empty()
                   ? 0
                   : static_cast<double>(block_count(schedule.extents_of(applications[0])));
    }

    const Torus& torus_;
    const CollectiveTraits& row_;
    double bytes_;
    std::string text_;
};

}  // namespace

std::string goal_text(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                      double vector_bytes) {
    const auto all = schedules_to_export(torus, algorithm, options, "goal", goal_message_bytes);
    GoalWriter writer(torus, traits_of(algorithm.collective), vector_bytes);
    writer.begin();
    for (const Schedule& schedule : all) {
        writer.write(schedule);
    }
    return writer.take();
}

}  // namespace trefoil
