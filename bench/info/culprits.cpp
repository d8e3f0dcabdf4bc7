// SPDX-License-Identifier: BSD-3-Clause
// Who holds a job up: following who waits for whom to the end.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "bench/info/job.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// A rank of one communicator, as it has told.
struct Member {
    bool answers = false, inside = false, seen = true;
    std::uint64_t made = 0;
    std::uint64_t call = 0;  ///< the oldest in flight; 0: none
    std::string signature, what;
    bool by_some = false;     ///< the oldest is made by some ranks alone, so it has no number
    std::set<int> waits_for;  ///< ranks of the job
    std::string error, process;

    bool waits() const { return !waits_for.empty(); }
};

using Members = std::map<int, Member>;  ///< by rank of the job

void take(Member& member, const Json& communicator, const std::vector<int>& members) {
    member.made = communicator["calls_made"];
    if (communicator["calls"].empty()) {
        return;
    }
    const Json& oldest = communicator["calls"].front();
    member.call = oldest["call"];
    member.signature = oldest["signature"];
    member.what = oldest["what"];
    member.by_some = oldest.value("by_some", false);
    for (const Json& call : communicator["calls"]) {
        for (const Json& wait : call["waits"]) {
            member.waits_for.insert(members.at(wait["rank"].get<std::size_t>()));
        }
    }
}

/// By number of the communicator.
std::map<std::string, Members> by_communicator(const Json& answers) {
    std::map<std::string, Members> all;
    for (const Json& answer : answers) {
        for (const Json& communicator : answer.value("communicators", Json::array())) {
            const auto ranks = communicator["members"].get<std::vector<int>>();
            Members& members = all[communicator["number"]];
            for (const int rank : ranks) {
                members[rank];
            }
            take(members[answer["rank"]], communicator, ranks);
        }
    }
    for (auto& [number, members] : all) {
        for (const Json& answer : answers) {
            const auto found = members.find(answer["rank"].get<int>());
            if (found == members.end()) {
                continue;
            }
            found->second.answers = !answer.contains("error");
            found->second.error = answer.value("error", "");
            found->second.inside = answer.value("inside", false);
            found->second.seen = answer.value("looked", true);
            if (found->second.answers) {
                found->second.process =
                    fmt::format("process {} on host {}", answer["process"].get<int>(),
                                answer["host"].get<std::string>());
            }
        }
    }
    return all;
}

/// Those that wait for it, also by way of others.
std::set<int> held_up_by(int culprit, const Members& members) {
    std::set<int> held;
    for (bool grows = true; grows;) {
        grows = false;
        for (const auto& [rank, member] : members) {
            const bool waits =
                std::any_of(member.waits_for.begin(), member.waits_for.end(),
                            [&](int other) { return other == culprit || held.contains(other); });
            grows |= rank != culprit && waits && held.insert(rank).second;
        }
    }
    return held;
}

/// What a rank does on other communicators than `number`; "": it waits on none.
std::string elsewhere(int rank, const std::string& number,
                      const std::map<std::string, Members>& all) {
    for (const auto& [other, members] : all) {
        const auto found = members.find(rank);
        if (other != number && found != members.end() && found->second.waits()) {
            return fmt::format("it waits for rank {} in call {}, {}, of another communicator",
                               fmt::join(found->second.waits_for, ", "), found->second.call,
                               found->second.what);
        }
    }
    return "";
}

std::string reason(const Member& culprit, const Member& waiting, const std::string& elsewhere) {
    if (!culprit.answers) {
        return "it does not answer (" + culprit.error +
               "): it has ended, is stopped, or is in a debugger";
    }
    const std::string who = culprit.process + ": ";
    if (!culprit.seen) {
        return who +
               "it answers, but the thread that works for its calls is held up, perhaps in a "
               "function of the program";
    }
    if (culprit.call == 0) {
        const std::string here =
            fmt::format("they wait in call {}, {}", waiting.call, waiting.what);
        if (!elsewhere.empty()) {
            return fmt::format(
                "{}{}; {}. If each waits for the other, make the calls of all communicators in the "
                "same order on all ranks",
                who, elsewhere, here);
        }
        return fmt::format("{}it has no call in flight and has made {} calls; {}{}",
                           who + (culprit.inside ? "" : "it is not inside Trefoil; "), culprit.made,
                           here,
                           culprit.made >= waiting.call && !waiting.by_some
                               ? ", which it has completed: TREFOIL_CHECK=1 shows whether that was "
                                 "the same call"
                               : "");
    }
    return fmt::format("{}it is in call {}, {}, and waits for nobody{}", who, culprit.call,
                       culprit.what,
                       culprit.inside ? "" : "; but it is not inside Trefoil, so nothing moves");
}

/// Ranks that are in the same call by number, and not in the same one.
std::string disagreement(const Members& members) {
    std::map<std::uint64_t, std::map<std::string, std::vector<int>>> calls;
    std::map<std::string, std::string> what;
    for (const auto& [rank, member] : members) {
        if (member.call != 0 && !member.by_some) {
            calls[member.call][member.signature].push_back(rank);
            what[member.signature] = member.what;
        }
    }
    for (const auto& [number, kinds] : calls) {
        if (kinds.size() < 2) {
            continue;
        }
        std::string text = fmt::format("The ranks disagree about call {}", number);
        const char* separator = ": ";
        for (const auto& [signature, ranks] : kinds) {
            text += fmt::format("{}{} {} in {}", separator, ranks.size() == 1 ? "rank" : "ranks",
                                fmt::join(ranks, ", "), what[signature]);
            separator = "; ";
        }
        return text + ". All ranks must make the same calls in the same order.";
    }
    return "";
}

/// A rank that waits for one that is in a later call; "": none does.
std::string overtaken(const Members& members) {
    for (const auto& [rank, member] : members) {
        for (const int other : member.waits_for) {
            const Member& ahead = members.at(other);
            if (ahead.call > member.call && !ahead.by_some && !member.by_some) {
                return fmt::format(
                    "Rank {} waits in call {}, {}, for rank {}, which has completed its call {} "
                    "and is in call {}, {}: they made different calls, perhaps with different "
                    "roots. TREFOIL_CHECK=1 names the call.",
                    rank, member.call, member.what, other, member.call, ahead.call, ahead.what);
            }
        }
    }
    return "";
}

void judge(const std::string& number, const std::map<std::string, Members>& all, Json& found) {
    const Members& members = all.at(number);
    const bool somebody_waits = std::any_of(members.begin(), members.end(),
                                            [](const auto& one) { return one.second.waits(); });
    if (!somebody_waits) {
        return;
    }
    if (const std::string text = disagreement(members); !text.empty()) {
        found.push_back({{"communicator", number}, {"rank", -1}, {"held_up", 0}, {"text", text}});
        return;
    }
    std::size_t before = found.size();
    for (const auto& [rank, member] : members) {
        const std::set<int> held = member.waits() ? std::set<int>() : held_up_by(rank, members);
        if (held.empty()) {
            continue;
        }
        const std::size_t others = members.size() - 1;
        const std::string other = elsewhere(rank, number, all);
        const std::string who =
            held.size() == 1 ? fmt::format("Rank {} waits", *held.begin())
            : held.size() == others
                ? "All other ranks wait"
                : fmt::format("{} of the {} other ranks wait", held.size(), others);
        found.push_back({{"communicator", number},
                         {"rank", rank},
                         {"held_up", held.size()},
                         {"text", fmt::format("{} for rank {}{}: {}.", who, rank,
                                              other.empty() ? " in the end" : "",
                                              reason(member, members.at(*held.begin()), other))}});
    }
    if (found.size() == before) {
        const std::string text = overtaken(members);
        found.push_back(
            {{"communicator", number},
             {"rank", -1},
             {"held_up", 0},
             {"text", text.empty()
                          ? "The ranks wait for each other: a message is on its way, or lost."
                          : text}});
    }
}

}  // namespace

Json culprits(const Json& answers) {
    Json found = Json::array();
    const std::map<std::string, Members> all = by_communicator(answers);
    for (const auto& [number, members] : all) {
        judge(number, all, found);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Json& a, const Json& b) { return a["held_up"] > b["held_up"]; });
    return found;
}

}  // namespace trefoil::tool
