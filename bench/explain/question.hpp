// SPDX-License-Identifier: BSD-3-Clause
// A call that may be made, the job that would make it, and where that job's model comes from.
#pragma once

#include <string>
#include <vector>

#include "comm/plan/request.hpp"
#include "comm/plan/single_copy.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil::tool {

/// As it stands on the command line.
struct ExplainOptions {
    Rank per_node = 0;
    std::string collective, size, torus, type = "float", operation = "sum", backend;
    double ranks_per_core = 1;
    Rank root = 0, ranks_per_node = 0;
    bool json = false, map = false;
    std::string sizes, plot;
};

/// A number that the model goes by.
struct ModelNumber {
    std::string name;  ///< as in TREFOIL_MODEL
    double value = 0;
    std::string unit, of, from;  ///< "us", "a step", "TREFOIL_MODEL"
};

/// What a job would know that makes such calls.
struct ExplainedJob {
    TorusMap map;
    Settings settings;  ///< with the job's model
    PeerAccess access;  ///< to vectors where copies from there are fast
    std::vector<ModelNumber> model;
    double ranks_per_core = 1;
};
/// From the environment and the options. Throws Error for what makes no sense.
ExplainedJob explained_job(const ExplainOptions& options, const std::string& torus);

/// A call whose whole vector has `bytes` bytes, rounded up to equal blocks of whole elements.
/// Throws Error for what no call can be.
Request explained_request(const ExplainOptions& options, const Torus& torus, std::size_t bytes);

}  // namespace trefoil::tool
