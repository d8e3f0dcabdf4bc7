// SPDX-License-Identifier: BSD-3-Clause
// The stages of an agreement, and the comparison of what ranks say.
#include "comm/setup/agreement.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <new>

#include "topo/blob.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr const char* worked = "yes";

std::string report(Status status, std::string_view text, const Blame& blame = {}) {
    BlobWriter blob;
    blob.number(status);
    blob.text(text);
    if (status != Status::success) {
        blob.blame(blame);
    }
    return blob.bytes();
}

/// What this rank tells of its work. A rank without memory needs some to say so: it is taken before
/// the work begins, and freed just before it is needed.
std::string report_of(const std::function<std::string()>& work) {
    constexpr std::size_t enough_to_report = 16384;
    std::unique_ptr<char[]> reserve(new (std::nothrow) char[enough_to_report]);
    const auto failed = [&](Status status, std::string_view text, const Blame& blame) {
        reserve.reset();
        return report(status, text, blame);
    };
    try {
        return report(Status::success, work());
    } catch (...) {
        return tell_exception(failed);
    }
}

/// What `rank` has told of its work. Throws its error: its own fault, unless it knows better.
std::string result_of(const std::string& told, Rank rank, const std::string& prefix) {
    BlobReader blob(told);
    const auto status = blob.number<Status>();
    std::string text = blob.text();
    if (status != Status::success) {
        const Blame blame = blob.empty() ? Blame() : blob.blame();  // of another version
        throw Error(status, prefix + text, blame.or_of(rank));
    }
    return text;
}

}  // namespace

std::vector<std::string> Agreement::allgather(const std::string& stage,
                                              const std::function<std::string()>& work) {
    std::vector<std::string> all = bootstrap_.allgather(report_of(work));
    ++traffic_.allgathers;
    traffic_.told += all[bootstrap_.rank()].size();
    for (const std::string& one : all) {
        traffic_.heard += one.size();
    }
    result_of(all[bootstrap_.rank()], bootstrap_.rank(), "");
    for (Rank r = 0; r < bootstrap_.ranks(); ++r) {
        all[r] = result_of(all[r], r,
                           "rank " + std::to_string(r) + " cannot set up its " + stage + ": ");
    }
    return all;
}

void Agreement::for_all(const std::string& stage, const std::function<void()>& work) {
    allgather(stage, [&] {
        work();
        return std::string();
    });
}

bool Agreement::all_say_yes(const std::string& stage, const std::function<bool()>& work) {
    const auto all = allgather(stage, [&] { return std::string(work() ? worked : "no"); });
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one == worked; });
}

void require_agreement(const std::vector<std::string>& texts, const std::string& about) {
    std::map<std::string, std::vector<std::size_t>> voters;
    for (std::size_t r = 0; r < texts.size(); ++r) {
        voters[texts[r]].push_back(r);
    }
    if (voters.size() == 1) {
        return;
    }
    // The smallest group; of equal ones the one that begins later: rank 0 often leads the rest.
    const auto* odd = &voters.begin()->second;
    for (const auto& [text, ranks] : voters) {
        if (ranks.size() < odd->size() ||
            (ranks.size() == odd->size() && ranks.front() > odd->front())) {
            odd = &ranks;
        }
    }
    std::string message = "the ranks disagree about " + about + ":";
    int listed = 0;
    for (const auto& [text, ranks] : voters) {
        if (++listed > 4) {
            message += " ...";
            break;
        }
        message += (listed > 1 ? "; " : " ") + std::string(ranks.size() > 1 ? "ranks " : "rank ");
        for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 3); ++i) {
            message += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
        }
        message += (ranks.size() > 3 ? ", ...: " : ": ") + text;
    }
    throw Error(Status::mismatch, message, {static_cast<Rank>(odd->front()), Evidence::disagrees});
}

}  // namespace trefoil
