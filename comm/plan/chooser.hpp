// SPDX-License-Identifier: BSD-3-Clause
// The one place where a call gets its algorithm and every option.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/json/user_schedule.hpp"
#include "comm/plan/choices.hpp"
#include "comm/plan/request.hpp"
#include "comm/plan/select.hpp"
#include "comm/plan/single_copy.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil {

/// Who has said which algorithm runs.
enum class DecidedBy : std::uint8_t {
    name,         ///< the program, or TREFOIL_ALGORITHM
    tuning,       ///< a rule of the tuning file that was measured
    learned,      ///< a rule that TREFOIL_LEARN has found, in this job or in one before it
    single_copy,  ///< ranks read each other's memory, which gains at this size
    model,        ///< by price
    size          ///< too many ranks to price: a rule by size
};

/// A choice with its reason.
struct Decision {
    Choice choice;
    DecidedBy by = DecidedBy::model;
    AlgorithmChoice model;  ///< what the model has said, where it decides
    /// "12.3 us by the model; next ring, 1.40 times as long"
    std::string reason() const;
};

/// Options travel one way: what the user forces, the settings and the model give a complete Choice
/// here, and the plan is made of that Choice alone. Pure: alike on all ranks that share settings
/// and forced choices.
class Chooser {
  public:
    /// What `auto` goes by, the cost model unless a test says otherwise: as choose_algorithm().
    using Model = std::function<AlgorithmChoice(Collective, const Torus&, std::size_t bytes,
                                                const Needs&, const SelectionBasis&)>;

    /// `settings` has the job's cost model.
    Chooser(const TorusMap& map, const Settings& settings, Model model = {});

    /// `text`: "auto", a name, or a name with modifiers: "swing:send", "ring:single-port"; or the
    /// name of a schedule that force_schedule() has read before. Throws what parse_choice() throws.
    /// Rules for ranges of sizes that the collective had are gone.
    void force(Collective collective, std::string_view text);
    /// The list of TREFOIL_ALGORITHM. What has a range goes before what has none, in whatever
    /// order they stand. Throws what split_choices() and force() throw; then nothing has changed.
    void force_list(std::string_view list);
    /// Takes a schedule of the user's, in JSON, for all calls of the collective. Throws what
    /// UserSchedule throws, Error(unsupported) for another torus; then nothing has changed.
    void force_schedule(Collective collective, std::string_view json);
    /// The same as on another torus and the same of single copy, but for schedules of the user's,
    /// which are for that torus alone.
    void force_as(const Chooser& other);
    /// What is forced for this call; without an algorithm: nothing.
    const Choice& forced(const Request& request) const {
        const Forced& forced = (*forced_)[static_cast<std::size_t>(request.collective)];
        return forced.ranges.empty() ? forced.choice : of_ranges(forced, request);
    }
    /// The same of the collective, outside of all ranges.
    bool has_forced(Collective collective) const {
        const Forced& forced = (*forced_)[static_cast<std::size_t>(collective)];
        return forced.choice.algorithm != nullptr || !forced.ranges.empty();
    }
    const Choice& forced(Collective collective) const {
        return (*forced_)[static_cast<std::size_t>(collective)].choice;
    }

    /// How ranks get at each other's vectors, which decides where `auto` takes single copy; at
    /// first it is by the kernel.
    void single_copy_goes(CopiesBy by) { copies_by_ = by; }
    /// `auto` takes single copy in no call: it is slow on this machine.
    void leave_single_copy_to_names() { single_copy_gains_ = false; }

    /// From now on it goes before the rules of the tuning file; it is advice as they are.
    void learn(const TuningRule& rule) {
        learned_ = with_rules(learned_, {rule});
        ++version_;
    }
    const std::vector<TuningRule>& learned() const { return learned_; }

    /// Grows whenever something is forced or learned.
    std::uint64_t version() const { return version_; }

    /// Algorithm and all options of a call. Throws Error(unsupported) when what is forced does not
    /// suit the call, or the ranks.
    Decision decide(const Request& request, const PeerAccess& access) const;
    Choice choose(const Request& request, const PeerAccess& access) const {
        return decide(request, access).choice;
    }
    /// What the cost model finds of all algorithms, whoever decides.
    std::vector<Considered> considered(const Request& request) const;
    /// Those of them that have a price, the cheapest first.
    std::vector<Considered> priced(const Request& request) const;
    /// What is worth trying in a call: what decide() takes, then what costs at most `dearest` times
    /// as much as the cheapest, `most` in all, and then single copy if it is possible. Pieces are
    /// left to the model.
    std::vector<Choice> worth_trying(const Request& request, const PeerAccess& access,
                                     double dearest, std::size_t most) const;
    /// By which the call is priced, and by which rules for ranges count it.
    std::size_t bytes_of(const Request& request) const;

    /// Throws Error(unsupported) when a schedule of the user's is for another root.
    void require_root(const Choice& choice) const;

    /// Throws Error(unsupported) when the call must go in the order of the ranks and the choice, or
    /// the places of the ranks, do not let it.
    void require_rank_order(const Request& request, const Choice& choice) const;

  private:
    friend class ForcedBefore;
    bool may_read(const Request& request, const Algorithm& algorithm,
                  const PeerAccess& access) const;
    /// What reads peers and is faster for that; null: nothing.
    const Algorithm* gaining_reader(const Request& request, const PeerAccess& access) const;
    [[noreturn]] void refuse_to_read(const Request& request, const Algorithm& algorithm) const;
    struct Ranged {
        SizeRange bytes;
        Choice choice;
    };
    struct Forced {
        Choice choice;
        std::vector<Ranged> ranges;  ///< none meets another one
    };
    using ForcedChoices = std::array<Forced, collective_count>;
    static const std::shared_ptr<const ForcedChoices>& nothing_forced();
    void set_forced(Collective collective, Forced forced);
    const Choice& of_ranges(const Forced& forced, const Request& request) const;
    Needs needs_of(const Request& request) const;
    /// What the tuning file has for this call, if it suits; null: nothing.
    const TuningRule* tuned(const Request& request) const;
    const TuningRule* tuned_by(const std::vector<TuningRule>& rules, const Request& request) const;
    bool goes_in_rank_order(const Request& request) const;
    PhaseSync phase_sync(const Algorithm& algorithm) const;
    const UserSchedule* find_schedule(Collective collective, std::string_view name) const;

    const TorusMap& map_;
    SelectionBasis basis_;
    std::shared_ptr<const TuningFile> tuning_file_;  ///< holds `tuned_`
    const TuningEntry* tuned_ = nullptr;
    std::vector<TuningRule> learned_;
    bool reproducible_ = false, single_copy_ = false, single_copy_gains_ = true;
    CopiesBy copies_by_ = CopiesBy::kernel;
    bool checksums_ = false;
    PhaseSync phase_sync_ = PhaseSync::none;
    Model model_;
    /// Shared with choosers that were made from this one, until one of them changes.
    std::shared_ptr<const ForcedChoices> forced_ = nothing_forced();
    std::uint64_t version_ = 0;
    std::vector<std::unique_ptr<const UserSchedule>> schedules_;  ///< kept: plans point at them
};

/// What is forced now is forced again when this ends, which cannot fail.
class ForcedBefore {
  public:
    explicit ForcedBefore(Chooser& chooser) : chooser_(chooser), forced_(chooser.forced_) {}
    ~ForcedBefore() {
        chooser_.forced_ = std::move(forced_);
        ++chooser_.version_;
    }
    ForcedBefore(const ForcedBefore&) = delete;
    ForcedBefore& operator=(const ForcedBefore&) = delete;

  private:
    Chooser& chooser_;
    std::shared_ptr<const Chooser::ForcedChoices> forced_;
};

}  // namespace trefoil
