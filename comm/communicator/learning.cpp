// SPDX-License-Identifier: BSD-3-Clause
// Calls of a communicator that learns, and the end of its trials.
#include <chrono>

#include "comm/communicator/communicator.hpp"
#include "comm/setup/tuning_writer.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

/// By the algorithm whose turn it is. What cannot run is dropped; nothing has moved then, and all
/// ranks find it alike. A rank that lacks memory has the same turn when it makes the call again.
void Communicator::run_in_trial(Trial& trial, const Request& request, const void* send,
                                void* recv) {
    using Clock = std::chrono::steady_clock;
    std::chrono::duration<double> taken{};
    try {
        const ForcedBefore nothing(*chooser_);
        chooser_->force(trial.collective(), trial.name());
        const auto begin = Clock::now();
        run_unchecked(request, send, recv);
        taken = Clock::now() - begin;
    } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
            throw;
        }
        trial.drop();
        run_unchecked(request, send, recv);
        return;
    }
    if (trial.note(taken.count())) {
        keep_fastest(trial);
    }
}

/// The ranks' times differ, and their choices must not.
void Communicator::keep_fastest(Trial& trial) {
    std::vector<double> mine = trial.medians(), slowest(mine.size());
    Request agreement{.collective = Collective::allreduce,
                      .type = DataType::float64,
                      .op = Operation::max,
                      .count = mine.size()};
    run_unchecked(agreement, mine.data(), slowest.data());
    const Trial::Verdict verdict = trial.decide(slowest);
    chooser_->learn(verdict.rule);
    if (rank_ == 0) {
        log_info(LogTopic::choice, [&] { return "learned: " + verdict.text; });
    }
}

void Communicator::write_what_was_learned() const noexcept {
    if (settings().tuning.empty() || chooser_->learned().empty()) {
        return;
    }
    try {
        write_tuning_file(settings().tuning, {.key = tuning_key(),
                                              .made = made_here() + ", by TREFOIL_LEARN",
                                              .rules = chooser_->learned()});
    } catch (const std::exception& error) {
        log_warning(LogTopic::choice,
                    [&] { return std::string("what was learned is lost: ") + error.what(); });
    }
}

}  // namespace trefoil
