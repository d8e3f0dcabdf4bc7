// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 of `trefoil perf put` shows: the table and the JSON file.
#pragma once

#include <string>
#include <vector>

#include "bench/put/measure.hpp"
#include "bench/put/put.hpp"

namespace trefoil::tool {

class PutReport {
  public:
    /// Prints the head, unless `silent`: then it prints nothing and writes nothing.
    PutReport(const PutLink& link, const PutOptions& options, std::string machine, bool silent);
    /// Prints a row.
    void add(const PutFigures& figures);
    /// Prints the foot and writes the JSON file. Throws Error(system_error) when it cannot.
    void finish() const;
    std::uint64_t wrong() const { return wrong_; }

  private:
    void write_json() const;

    const PutLink& link_;
    const PutOptions& options_;
    std::string machine_;
    bool silent_;
    std::vector<PutFigures> rows_;
    std::uint64_t wrong_ = 0;
};

}  // namespace trefoil::tool
