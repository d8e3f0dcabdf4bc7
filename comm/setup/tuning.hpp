// SPDX-License-Identifier: BSD-3-Clause
// The tuning file: what was measured on machines, and what `auto` takes there. JSON;
// tuning.schema.json says the same in the words of JSON Schema, docs/choice.md for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "comm/setup/cost_settings.hpp"
#include "topo/sizes.hpp"

namespace trefoil {

/// Which jobs an entry is for.
struct TuningKey {
    std::string torus;  ///< Torus::name()
    Rank ranks_per_node = 0;
    int ports = 0;  ///< of a rank
    std::string backend;
    std::string text() const;
    friend bool operator==(const TuningKey&, const TuningKey&) = default;
};

/// A crossover: what is taken for these sizes.
struct TuningRule {
    enum class Types : std::uint8_t { all, any_order, fixed_order };
    Collective collective = Collective::allreduce;
    Types types = Types::all;  ///< by whether a reduction gives the same bits in any order
    SizeRange bytes = {};      ///< of the whole vector
    const Algorithm* algorithm = nullptr;
    BuildOptions options = {};  ///< that its modifiers ask for
    bool learned = false;       ///< by TREFOIL_LEARN, in a program's own calls
    bool is_for(Collective of, bool same_in_any_order, std::size_t size) const {
        return collective == of && bytes.contains(size) &&
               (types == Types::all || (types == Types::any_order) == same_in_any_order);
    }
};

struct TuningEntry {
    TuningKey key;
    std::optional<CostModel> model;    ///< nothing: none of its numbers was measured
    std::vector<std::string> numbers;  ///< names of those that were
    std::vector<TuningRule> rules;     ///< no two of them are for the same call
};

struct TuningFile {
    std::string path;            ///< for messages
    std::uint64_t checksum = 0;  ///< of the text, to compare the files of two ranks
    std::vector<TuningEntry> entries;
    /// Null: there is none for such jobs.
    const TuningEntry* find(const TuningKey& key) const;
    /// "3x3 with 9 ranks a node, ...; ...": what there is.
    std::string keys_text() const;
};

/// `fresh` in the place of what `old` says of the same calls; no two of `fresh` are for the same
/// call.
std::vector<TuningRule> with_rules(const std::vector<TuningRule>& old,
                                   const std::vector<TuningRule>& fresh);

/// Throws Error(invalid_argument) that names file, place and mend.
TuningFile parse_tuning_file(std::string_view text, const std::string& path);
/// Reads the file at `path`; throws Error(not_found) when that is not possible.
TuningFile read_tuning_file(const std::string& path);

}  // namespace trefoil
