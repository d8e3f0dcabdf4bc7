// SPDX-License-Identifier: BSD-3-Clause
// The exchange of calls in words, and of the counts of pairs.
#include "comm/communicator/call_check.hpp"

#include <algorithm>
#include <cstdint>

#include "comm/plan/hash.hpp"
#include "comm/setup/agreement.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Of one rank's text, with its terminating zero.
constexpr std::size_t text_bytes = 240;

}  // namespace

std::vector<std::string> CallCheck::allgather(const std::string& text) const {
    std::string mine = text;
    if (mine.size() >= text_bytes) {
        const std::string rest = " ... (" + std::to_string(text_hash(mine)) + ")";
        mine = mine.substr(0, text_bytes - 1 - rest.size()) + rest;
    }
    mine.resize(text_bytes);
    const auto ranks = static_cast<std::size_t>(ranks_);
    std::string all(text_bytes * ranks, '\0');
    run_({.collective = Collective::allgather, .type = DataType::uint8, .count = text_bytes},
         mine.data(), all.data());
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < ranks; ++r) {
        texts.emplace_back(&all[r * text_bytes]);
    }
    return texts;
}

void CallCheck::compare(const std::string& call) const {
    require_agreement(allgather(call), "the call (TREFOIL_CHECK)");
}

void CallCheck::compare_pairs(const Request& request) const {
    const bool neighbours = request.traits().with_neighbours();
    const auto sent = request.in_place ? request.counts : request.send_counts;
    std::vector<std::uint64_t> mine(request.counts.size()), theirs(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = sent[sent.size() == 1 ? 0 : i];  // an allgather sends the same to all
    }
    run_({.collective = neighbours ? Collective::neighbor_alltoall : Collective::alltoall,
          .type = DataType::uint64,
          .count = 1},
         mine.data(), theirs.data());
    const std::string whom = neighbours ? " elements of neighbour " : " elements of rank ";
    std::string verdict;
    for (std::size_t r = 0; r < theirs.size(); ++r) {
        if (theirs[r] != request.counts[r]) {
            verdict += (verdict.empty() ? "rank " + std::to_string(rank_) + " expects " : ", ") +
                       std::to_string(request.counts[r]) + whom + std::to_string(r) +
                       ", which sends " + std::to_string(theirs[r]);
        }
    }
    std::string all;
    for (const std::string& text : allgather(verdict)) {
        all += (all.empty() || text.empty() ? "" : "; ") + text;
    }
    if (!all.empty()) {
        throw Error(Status::mismatch, "the ranks disagree about the counts in " +
                                          std::string(request.traits().vector_variant) +
                                          " (TREFOIL_CHECK): " + all);
    }
}

std::string compared_text(const Request& request) {
    const bool all_know =
        request.traits().replicates_results() || request.traits().blocks_both_ways();
    std::string text = request.text() + (request.in_place && all_know ? ", in place" : "");
    if (!request.counts.empty() && !request.counts_in_pairs()) {
        std::uint64_t hash = request.counts.size();
        for (const std::size_t n : request.counts) {
            hash = mix_hash(hash, n);
        }
        text += ", counts " + std::to_string(hash);
    }
    if (request.user != nullptr) {
        text += request.user->commutes ? ", which commutes" : ", which does not commute";
    }
    return text;
}

}  // namespace trefoil
