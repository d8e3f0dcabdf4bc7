// SPDX-License-Identifier: BSD-3-Clause
// The verifier: checks the form of all schedules, then proves part after part.
#include "algorithms/analysis/verify.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/analysis/proof.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr double memory_limit = 4.0 * 1024 * 1024 * 1024;

double bytes_of(const Schedule& s) {
    return static_cast<double>(s.steps.size() * sizeof(Step) + s.moves.size() * sizeof(Move) +
                               s.sends.size() * sizeof(Send) + s.receives.size() * sizeof(Receive) +
                               s.applications.size() * sizeof(Application) +
                               s.extents.size() * sizeof(Extent));
}

/// What the proof needs, judged by one rank's schedule: all schedules, and of one part at a time
/// the buffers and the messages under way (at most about as much again).
double bytes_needed(const Torus& torus, const Schedule& sample, Collective collective) {
    double blocks = 0;
    for (const Part& p : sample.parts) {
        blocks = std::max(blocks, static_cast<double>(p.vector_blocks) + p.scratch_blocks);
    }
    const double ranks = torus.ranks();
    const bool contributors = !traits_of(collective).blocks_both_ways();
    return ranks * bytes_of(sample) +
           2 * SymbolicValues::bytes(torus.ranks(), ranks * blocks, contributors);
}

void require_memory(const Torus& torus, const Schedule& sample, Collective collective) {
    const double bytes = bytes_needed(torus, sample, collective);
    if (bytes > memory_limit) {
        throw Error(Status::unsupported,
                    "proving this schedule on " + torus.name() + " needs about " +
                        std::to_string(std::llround(bytes / (1024 * 1024 * 1024))) +
                        " GiB of memory, more than the verifier's 4 GiB");
    }
}

bool in_array(Slice slice, std::size_t size) {
    return static_cast<std::uint64_t>(slice.first) + slice.count <= size;
}

/// True when every slice lies in its array, so that the accessors may be used.
bool slices_fit(const Schedule& s) {
    bool fit = true;
    for (const Part& p : s.parts) {
        fit = fit && in_array(p.steps, s.steps.size());
    }
    for (const Step& t : s.steps) {
        fit = fit && in_array(t.moves, s.moves.size()) && in_array(t.sends, s.sends.size()) &&
              in_array(t.receives, s.receives.size());
    }
    for (const Send& m : s.sends) {
        fit = fit && in_array(m.extents, s.extents.size());
    }
    for (const Receive& r : s.receives) {
        fit = fit && in_array(r.applications, s.applications.size());
    }
    for (const Application& a : s.applications) {
        fit = fit && in_array(a.extents, s.extents.size());
    }
    return fit;
}

void check_part(const Schedule& first, const Schedule& other, std::size_t part,
                Findings& findings) {
    const Part& a = first.parts[part];
    const Part& b = other.parts[part];
    if (a.vector_blocks == 0) {
        findings.add(part, 0, other.rank, "has no vector blocks");
    }
    if (b.scratch_blocks > 0 && b.scratch_like >= b.vector_blocks) {
        findings.add(part, 0, other.rank, "has scratch as large as a block that does not exist");
    }
    if (a.vector_blocks != b.vector_blocks) {
        findings.add(part, 0, other.rank, "has other numbers of blocks than rank 0");
    }
    if (a.input_apart != b.input_apart) {
        findings.add(part, 0, other.rank, "keeps its input apart other than rank 0");
    }
    if (b.steps.count != a.steps.count) {
        findings.add(part, std::min(a.steps.count, b.steps.count), other.rank,
                     "has " + std::to_string(b.steps.count) + " steps, but rank 0 has " +
                         std::to_string(a.steps.count));
    }
    if (b.steps.count != first.parts[0].steps.count) {
        findings.add(part, 0, other.rank, "has another number of steps than part 0");
    }
}

void check_form(const Torus& torus, const std::vector<Schedule>& schedules, Findings& findings) {
    if (schedules.size() != static_cast<std::size_t>(torus.ranks())) {
        findings.add("there are " + std::to_string(schedules.size()) + " schedules for " +
                     std::to_string(torus.ranks()) + " ranks");
        return;
    }
    for (Rank r = 0; r < torus.ranks() && !findings.enough(); ++r) {
        const Schedule& s = schedules[r];
        const std::string name = "rank " + std::to_string(r);
        if (s.rank != r) {
            findings.add(name + " has the schedule of rank " + std::to_string(s.rank));
        } else if (!slices_fit(s)) {
            findings.add(name + " has a slice outside its array");
        } else if (s.parts.empty() || s.parts.size() != schedules[0].parts.size()) {
            findings.add(name + " has " + std::to_string(s.parts.size()) +
                         " parts; all ranks need equally many, and at least one");
        } else {
            for (std::size_t p = 0; p < s.parts.size(); ++p) {
                check_part(schedules[0], s, p, findings);
            }
        }
    }
}

/// The root exists; a part has as many vector blocks as the collective wants, and each rank owns
/// one.
void check_goal(const Torus& torus, const Goal& goal, const Schedule& first, Findings& findings) {
    if (goal.root < 0 || goal.root >= torus.ranks()) {
        findings.add("the root is rank " + std::to_string(goal.root) + ", which does not exist");
    }
    const CollectiveTraits& row = traits_of(goal.collective);
    if (!row.has_blocks()) {
        return;
    }
    for (std::size_t p = 0; p < first.parts.size(); ++p) {
        if (first.parts[p].vector_blocks != row.vector_blocks(torus)) {
            findings.add(
                p, 0, 0,
                row.blocks_both_ways()
                    ? "does not have a block for each that it sends and for each that it receives"
                    : "does not have one vector block per rank");
        }
    }
    for (std::vector<Rank> owners : goal.owners) {
        std::sort(owners.begin(), owners.end());
        bool each_once = owners.size() == static_cast<std::size_t>(torus.ranks());
        for (std::size_t i = 0; each_once && i < owners.size(); ++i) {
            each_once = owners[i] == static_cast<Rank>(i);
        }
        if (!each_once) {
            findings.add("the owners of blocks are not each rank once");
        }
    }
}

bool all_heard(const SymbolicValues& heard) {
    bool all = true;
    for (std::size_t r = 0; r < heard.size(); ++r) {
        all = all && heard.holds_all(r);
    }
    return all;
}

void check_heard(const SymbolicValues& heard, Findings& findings) {
    for (std::size_t r = 0; r < heard.size(); ++r) {
        if (!heard.holds_all(r)) {
            findings.add("at the end rank " + std::to_string(r) + " has heard from only " +
                         std::to_string(heard.contributors(r)) + " of " +
                         std::to_string(heard.size()) + " ranks");
        }
    }
}

}  // namespace

Verification verify(const Torus& torus, const Goal& goal, const std::vector<Schedule>& schedules) {
    Verification result;
    Findings findings;
    check_form(torus, schedules, findings);
    if (findings.none()) {
        check_goal(torus, goal, schedules[0], findings);
    }
    if (!findings.none()) {
        result.errors = findings.take();
        return result;
    }
    require_memory(torus, schedules[0], goal.collective);
    SymbolicValues heard(torus.ranks(), torus.ranks());  // in all parts together
    const CollectiveTraits& row = traits_of(goal.collective);
    result.identical_results = true;
    result.order_preserving = row.reduces;
    result.synchronises = true;
    for (std::size_t p = 0; p < schedules[0].parts.size() && !findings.enough(); ++p) {
        PartProof proof(torus, goal, schedules, p, findings);
        proof.run();
        SymbolicValues heard_in_part(torus.ranks(), torus.ranks());
        proof.unite_heard(row.has_data() ? heard_in_part : heard);
        if (row.has_data()) {
            result.synchronises = result.synchronises && all_heard(heard_in_part);
            if (row.synchronises) {
                check_heard(heard_in_part, findings);
            }
        }
        proof.require_results();
        if (row.replicates_results()) {  // elsewhere each result is made once
            result.identical_results = result.identical_results && proof.identical();
        }
        result.order_preserving = result.order_preserving && proof.in_order();
    }
    if (!row.has_data()) {
        result.synchronises = all_heard(heard);
        check_heard(heard, findings);
    }
    result.synchronises = result.synchronises && findings.none();
    result.identical_results = result.identical_results && findings.none();
    result.order_preserving = result.order_preserving && findings.none();
    result.errors = findings.take();
    return result;
}

Verification verify(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    std::vector<Schedule> schedules;
    schedules.push_back(algorithm.build(torus, 0, options));
    require_memory(torus, schedules[0], algorithm.collective);
    schedules.reserve(torus.ranks());
    for (Rank r = 1; r < torus.ranks(); ++r) {
        schedules.push_back(algorithm.build(torus, r, options));
    }
    Goal goal{algorithm.collective, options.root, {}};
    if (traits_of(algorithm.collective).blocks_have_owners()) {
        for (std::size_t p = 0; p < schedules[0].parts.size(); ++p) {
            goal.owners.push_back(algorithm.block_owners(torus, options, static_cast<int>(p)));
        }
    }
    return verify(torus, goal, schedules);
}

}  // namespace trefoil
