// SPDX-License-Identifier: BSD-3-Clause
// From what is forced, set and modelled to a complete choice.
#include "comm/plan/chooser.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "algorithms/registry/registry.hpp"
#include "comm/plan/single_copy.hpp"
#include "comm/setup/configuration.hpp"
#include "threads/executor/notification.hpp"
#include "topo/decimals.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

AlgorithmChoice by_the_model(Collective collective, const Torus& torus, std::size_t bytes,
                             const Needs& needs, const SelectionBasis& basis) {
    return choose_algorithm(collective, torus, bytes, needs, basis);
}

/// Whose counts only the sender and the receiver know.
[[noreturn]] void refuse_to_forward(const Request& request, const Algorithm& algorithm) {
    const std::string call(request.traits().vector_variant);
    throw Error(Status::unsupported,
                std::string(algorithm.name) + " forwards blocks, " +
                    (request.traits().rooted()
                         ? "whose counts the ranks between do not learn in a nonblocking or "
                           "persistent " +
                               call + "; use auto, linear, or the " + call + " that blocks"
                         : "which must be of one size; for " + call +
                               " use auto, or an algorithm that `trefoil info` lists as taking "
                               "blocks of any sizes"));
}

}  // namespace

Chooser::Chooser(const TorusMap& map, const Settings& settings, Model model)
    : map_(map),
      basis_(selection_basis(settings)),
      tuning_file_(settings.tuning_file),
      tuned_(tuned_for(settings, map.torus)),
      reproducible_(settings.reproducible),
      single_copy_(settings.single_copy && !settings.checksums),
      checksums_(settings.checksums),
      phase_sync_(settings.phase_sync),
      model_(model ? std::move(model) : Model(by_the_model)) {}

const std::shared_ptr<const Chooser::ForcedChoices>& Chooser::nothing_forced() {
    static const auto& nothing =
        *new std::shared_ptr<const ForcedChoices>(std::make_shared<const ForcedChoices>());
    return nothing;
}

void Chooser::set_forced(Collective collective, Forced forced) {
    ForcedChoices changed = *forced_;
    changed[static_cast<std::size_t>(collective)] = std::move(forced);
    forced_ = std::make_shared<const ForcedChoices>(std::move(changed));
    ++version_;
}

void Chooser::force_list(std::string_view list) {
    ForcedChoices changed = *forced_;
    for (const AlgorithmRule& rule : split_choices(list)) {
        Forced& forced = changed[static_cast<std::size_t>(rule.collective)];
        if (!rule.has_range) {
            forced.choice = parse_choice(rule.collective, rule.algorithm, map_.torus);
            continue;
        }
        try {
            forced.ranges.push_back(
                {rule.bytes, parse_choice(rule.collective, rule.algorithm, map_.torus)});
        } catch (const Error& error) {
            throw Error(error.status(), "rule \"" + rule.text + "\": " + error.what());
        }
    }
    forced_ = std::make_shared<const ForcedChoices>(std::move(changed));
    ++version_;
}

const Choice& Chooser::of_ranges(const Forced& forced, const Request& request) const {
    const auto found = std::ranges::find_if(
        forced.ranges,
        [bytes = bytes_of(request)](const Ranged& ranged) { return ranged.bytes.contains(bytes); });
    return found == forced.ranges.end() ? forced.choice : found->choice;
}

void Chooser::force(Collective collective, std::string_view text) {
    if (const UserSchedule* const schedule = find_schedule(collective, text)) {
        set_forced(collective, {{&schedule->algorithm(), {}}, {}});
        return;
    }
    set_forced(collective, {parse_choice(collective, text, map_.torus), {}});
}

void Chooser::force_schedule(Collective collective, std::string_view json) {
    auto schedule = std::make_unique<const UserSchedule>(collective, json);
    const std::string name(schedule->algorithm().name);
    if (schedule->torus().sizes() != map_.torus.sizes()) {  // lines have the schedules of rings
        throw Error(Status::unsupported, "the schedule cannot be used: it is for the torus " +
                                             schedule->torus().name() +
                                             ", and the ranks form the torus " + map_.torus.name());
    }
    const std::size_t messages = landing_needs(*schedule->algorithm().set).messages;
    if (messages >= Notification::index_limit) {
        throw Error(Status::unsupported,
                    "the schedule cannot be used: a rank gets " + std::to_string(messages) +
                        " messages from one peer through one port, and less "
                        "than " +
                        std::to_string(Notification::index_limit) + " can be distinguished");
    }
    if (find_schedule(collective, name) == nullptr) {
        schedules_.push_back(std::move(schedule));
    }
    force(collective, name);
}

void Chooser::force_as(const Chooser& other) {
    single_copy_gains_ = other.single_copy_gains_;
    copies_by_ = other.copies_by_;
    if (map_.torus == other.map_.torus && other.schedules_.empty()) {
        forced_ = other.forced_;
        ++version_;
        return;
    }
    for (std::size_t c = 0; c < collective_count; ++c) {
        const auto collective = static_cast<Collective>(c);
        const Forced& forced = (*other.forced_)[c];
        Forced kept;
        // What is not for this torus is chosen here.
        const auto suits = [&](const Choice& choice) {
            return choice.algorithm == nullptr ||
                   (other.find_schedule(collective, choice.algorithm->name) == nullptr &&
                    refusal(choice, map_.torus).empty());
        };
        if (suits(forced.choice)) {
            kept.choice = forced.choice;
        }
        std::ranges::copy_if(forced.ranges, std::back_inserter(kept.ranges), suits,
                             &Ranged::choice);
        set_forced(collective, std::move(kept));
    }
}

const UserSchedule* Chooser::find_schedule(Collective collective, std::string_view name) const {
    const auto found = std::ranges::find_if(schedules_, [&](const auto& one) {
        return one->algorithm().collective == collective && one->algorithm().name == name;
    });
    return found == schedules_.end() ? nullptr : found->get();
}

bool Chooser::may_read(const Request& request, const Algorithm& algorithm,
                       const PeerAccess& access) const {
    return !algorithm.traits.reads_peers || (single_copy_ && single_copy_refusal(request).empty() &&
                                             access.suffices(algorithm.traits));
}

const Algorithm* Chooser::gaining_reader(const Request& request, const PeerAccess& access) const {
    if (!single_copy_ || !single_copy_refusal(request).empty()) {
        return nullptr;
    }
    const PeerAccess gaining{access.vectors && single_copy_gains_, access.images};
    return trefoil::gaining_reader(request.collective, bytes_of(request), map_.torus.ranks(),
                                   gaining, copies_by_);
}

Decision Chooser::decide(const Request& request, const PeerAccess& access) const {
    const std::size_t bytes = bytes_of(request);
    const bool pairs = request.counts_in_pairs();
    Decision decision{forced(request), DecidedBy::name, {}};
    Choice& choice = decision.choice;
    const bool is_named = choice.algorithm != nullptr;
    const TuningRule* const measured = is_named ? nullptr : tuned(request);
    const Algorithm* const reader =
        is_named || measured != nullptr ? nullptr : gaining_reader(request, access);
    if (measured != nullptr && may_read(request, *measured->algorithm, access)) {
        choice = {measured->algorithm, measured->options};
        decision.by = measured->learned ? DecidedBy::learned : DecidedBy::tuning;
    } else if (reader != nullptr) {
        choice.algorithm = reader;
        decision.by = DecidedBy::single_copy;
    } else if (choice.algorithm == nullptr) {
        decision.model = model_(request.collective, map_.torus, bytes, needs_of(request), basis_);
        choice = decision.model.choice;
        decision.by = decision.model.seconds ? DecidedBy::model : DecidedBy::size;
    } else if (!may_read(request, *choice.algorithm, access)) {
        refuse_to_read(request, *choice.algorithm);
    } else if (pairs && !choice.algorithm->traits_with(choice.options).vector_variant) {
        refuse_to_forward(request, *choice.algorithm);
    }
    // What nobody has said yet.
    if (choice.options.pieces == 0) {
        choice.options.pieces = pieces_for(choice, map_.torus, bytes, basis_);
    }
    if (choice.options.sync == PhaseSync::none) {
        choice.options.sync = phase_sync(*choice.algorithm);
    }
    choice.options.root = map_.position_of[request.root];
    return decision;
}

std::vector<Considered> Chooser::considered(const Request& request) const {
    std::vector<Considered> all;
    (void)choose_algorithm(request.collective, map_.torus, bytes_of(request), needs_of(request),
                           basis_, &all);
    return all;
}

std::vector<Considered> Chooser::priced(const Request& request) const {
    std::vector<Considered> all = considered(request);
    std::erase_if(all, [](const Considered& one) { return !one.price; });
    std::ranges::stable_sort(all, {}, [](const Considered& one) { return one.price->sum(); });
    return all;
}

std::vector<Choice> Chooser::worth_trying(const Request& request, const PeerAccess& access,
                                          double dearest, std::size_t most) const {
    std::vector<Choice> choices;
    const auto add = [&](const Choice& choice) {
        const Choice plain{choice.algorithm, {.by_node = choice.options.by_node}};
        if (std::ranges::find(choices, plain) == choices.end()) {
            choices.push_back(plain);
        }
    };
    add(decide(request, access).choice);
    const std::vector<Considered> all = priced(request);
    for (const Considered& one : all) {
        if (choices.size() < most && one.price->sum() <= dearest * all.front().price->sum()) {
            add(one.choice);
        }
    }
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective == request.collective && algorithm.traits.reads_peers &&
            may_read(request, algorithm, access)) {
            add({&algorithm, {}});
        }
    }
    return choices;
}

Needs Chooser::needs_of(const Request& request) const {
    return {goes_in_rank_order(request), request.counts_in_pairs(), request.same_in_any_order()};
}

const TuningRule* Chooser::tuned(const Request& request) const {
    const TuningRule* const learned = tuned_by(learned_, request);
    return learned != nullptr || tuned_ == nullptr ? learned : tuned_by(tuned_->rules, request);
}

const TuningRule* Chooser::tuned_by(const std::vector<TuningRule>& rules,
                                    const Request& request) const {
    if (rules.empty()) {
        return nullptr;
    }
    const Needs needs = needs_of(request);
    const auto rule = std::ranges::find_if(rules, [&](const TuningRule& each) {
        return each.is_for(request.collective, needs.any_order, bytes_of(request));
    });
    if (rule == rules.end()) {
        return nullptr;
    }
    const Traits traits = rule->algorithm->traits_with(rule->options);
    const bool reduces = request.traits().reduces;
    const bool suits = (!needs.vector_variant || traits.vector_variant) &&
                       (!reduces || !needs.rank_order || traits.order_preserving) &&
                       (!reduces || needs.any_order || traits.identical_results);
    return suits ? &*rule : nullptr;
}

std::string Decision::reason() const {
    switch (by) {
        case DecidedBy::name:
            return "it was named";
        case DecidedBy::tuning:
            return "the tuning file has it for such calls";
        case DecidedBy::learned:
            return "it was learned in such calls (TREFOIL_LEARN)";
        case DecidedBy::single_copy:
            return "ranks read each other's memory, which gains at this size";
        case DecidedBy::size:
            return "there are too many ranks to price all candidates, so the size decides";
        case DecidedBy::model:
            break;
    }
    std::string reason = short_decimal(1e6 * model.seconds.value_or(0), 4) + " us by the model";
    if (model.next_seconds && *model.seconds > 0) {
        reason += "; next " + to_string(model.next) + (model.next_at_least ? ", at least " : ", ") +
                  fixed_decimal(*model.next_seconds / *model.seconds, 2) + " times as long";
    }
    return reason;
}

[[noreturn]] void Chooser::refuse_to_read(const Request& request,
                                          const Algorithm& algorithm) const {
    const std::string why = single_copy_refusal(request);
    throw Error(Status::unsupported,
                std::string(algorithm.name) + " reads the memory of other ranks, " +
                    (!why.empty()   ? "which this call does not allow: " + why
                     : single_copy_ ? "which the transport or the kernel does not let all ranks do"
                     : checksums_   ? "which TREFOIL_CHECKSUM=1 rules out"
                                    : "which TREFOIL_SINGLE_COPY=0 rules out") +
                    "; use auto or another algorithm");
}

void Chooser::require_root(const Choice& choice) const {
    const std::string reason = choice.algorithm->set == nullptr ? "" : refusal(choice, map_.torus);
    if (!reason.empty()) {
        throw Error(Status::unsupported,
                    std::string(choice.algorithm->name) + " does not run this call: " + reason);
    }
}

void Chooser::require_rank_order(const Request& request, const Choice& choice) const {
    const bool is_prefix = request.traits().is_prefix();
    if (!request.traits().reduces || !(is_prefix || goes_in_rank_order(request))) {
        return;
    }
    const std::string who = is_prefix            ? std::string(request.traits().name)
                            : request.commutes() ? "TREFOIL_REPRODUCIBLE=1"
                                                 : "an operation that does not commute";
    if (goes_in_rank_order(request) &&
        !choice.algorithm->traits_with(choice.options).order_preserving) {
        throw Error(Status::unsupported,
                    std::string(choice.algorithm->name) + " does not reduce in rank order, which " +
                        (is_prefix ? "TREFOIL_REPRODUCIBLE=1" : who) +
                        " needs; use auto, or an algorithm that `trefoil info` lists as order "
                        "preserving");
    }
    if (!std::is_sorted(map_.rank_at.begin(), map_.rank_at.end())) {
        throw Error(Status::unsupported,
                    who +
                        " needs ranks that lie in the torus row by row, but here they lie in "
                        "another order (" +
                        map_.torus.name() + ", " + map_.source + ")");
    }
}

/// Not all ranks know counts that are known in pairs.
std::size_t Chooser::bytes_of(const Request& request) const {
    const Torus& torus = map_.torus;
    return request.counts_in_pairs() ? usual_block_bytes * request.traits().blocks(torus)
                                     : request.vector_elements(torus) * request.element_bytes();
}

bool Chooser::goes_in_rank_order(const Request& request) const {
    // A prefix goes by the order of the ranks in any case; it is the same bits that need one
    // association.
    return (!request.commutes() && !request.traits().is_prefix()) || reproducible_;
}

/// What TREFOIL_PHASE_SYNC makes of an algorithm.
PhaseSync Chooser::phase_sync(const Algorithm& algorithm) const {
    const bool signals = phase_sync_ == PhaseSync::signals && algorithm.abilities.signals;
    const bool any = phase_sync_ != PhaseSync::none && algorithm.abilities.barriers;
    return signals ? PhaseSync::signals : any ? PhaseSync::barrier : PhaseSync::none;
}

}  // namespace trefoil
