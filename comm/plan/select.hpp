// SPDX-License-Identifier: BSD-3-Clause
// The choice of an algorithm: a pure function of what all ranks share.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "comm/plan/choices.hpp"
#include "comm/plan/needs.hpp"
#include "comm/setup/cost_settings.hpp"
#include "comm/setup/environment.hpp"

namespace trefoil {

/// What a choice depends on beside the call: what one run of a schedule can carry (a larger vector
/// is cut into segments), and the machine.
struct SelectionBasis {
    std::size_t segment_bytes = std::size_t{1} << 20;  ///< of the vector
    std::size_t slot_bytes = std::size_t{1} << 20;     ///< from one peer through one port
    CostModel model = default_cost_model;
};
SelectionBasis selection_basis(const Settings& settings);

/// Into how many pieces a pipelined algorithm cuts each segment of a vector of `bytes` bytes: those
/// that the model expects to be fastest. 0: it is not pipelined.
Block pieces_for(const Choice& choice, const Torus& torus, std::size_t bytes,
                 const SelectionBasis& basis = {});

/// What the model expects of a call, in seconds: the terms of CostModel, and what the choice adds.
struct Price {
    CostTerms terms;
    double further_messages = 0;  ///< beyond the first one through a port at a time
    double reductions = 0;        ///< and storing contributions of others for them
    double idle = 0;              ///< links that wait for messages which are late
    double sum() const { return terms.sum() + (further_messages + reductions + idle); }
};

/// An algorithm for one size of vector, its number of pieces included.
struct AlgorithmChoice {
    Choice choice;
    std::optional<double> seconds = {};  ///< by the model; nothing: too large to price
    Choice next = {};                    ///< the second best; no algorithm: there is none
    std::optional<double> next_seconds = {};
    /// The price of the second best is a bound from below, which was enough to rule it out; another
    /// one may be cheaper than it.
    bool next_at_least = false;
};

/// What became of an algorithm of the collective while one was chosen.
struct Considered {
    Choice choice;
    std::string excluded;             ///< why it was no candidate; empty: it was one
    std::optional<Price> price = {};  ///< of candidates that were priced
    CostSummary cost = {};            ///< that the price is of
};
/// What the model expects of a vector of `bytes` bytes whose schedule costs so much in all.
Price price_of(const Torus& torus, const Choice& choice, const CostSummary& whole,
               std::size_t bytes, const CostModel& model);
/// The same of a choice that has an algorithm, and pieces where it is pipelined.
Considered modelled(const Torus& torus, const Choice& choice, std::size_t bytes,
                    const SelectionBasis& basis = {});

/// The algorithm that the cost model expects to be fastest for a vector of `bytes` bytes, among
/// those that do what the call needs and give identical results on all ranks; if the operation
/// gives the same bits in any order, all do. Equal on all ranks. Thread-safe; the first calls for a
/// collective and a torus build schedules, of as few ranks as tell of all and of as few algorithms
/// as may be the fastest; later ones look up. Throws Error(unsupported) when there is none.
/// `considered`: takes all algorithms of the collective, all of them priced, for people.
AlgorithmChoice choose_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                 const Needs& needs = {}, const SelectionBasis& basis = {},
                                 std::vector<Considered>* considered = nullptr);

}  // namespace trefoil
