// SPDX-License-Identifier: BSD-3-Clause
// What a rank has seen, line by line in a file of its own: scripts/compare-builds reads it.
//
// Fields are separated by tabs:
//   loaded PATH              the library that this process runs
//   call N TEXT              begins
//   ended N STATUS HASH TEXT all bytes of its result; "right", "-" (not checked here), or what is
//                            wrong
//   sent N NAME ...          after call N, when none is in flight: what each port of communicator
//                            NAME has sent since the last such line, as PUTS/BYTES
//   end N                    the last line of a rank that has made all calls
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/reliability/calls/own_call.hpp"

namespace trefoil::calls {

class Record {
  public:
    /// False: the file cannot be made.
    bool open(const std::string& path);
    ~Record();
    Record() = default;
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    void loaded(const char* path) { write("loaded\t" + std::string(path)); }
    /// Is in the file before the call begins: it may hang, or crash.
    void call(std::size_t number, const std::string& text);
    void ended(std::size_t number, trefoil_status_t status, const OwnCall::Outcome& outcome);
    void sent(std::size_t number, const Group& group);
    void end(std::size_t number) { write("end\t" + std::to_string(number)); }

  private:
    void write(const std::string& line);

    using Sent = std::vector<std::pair<unsigned long long, unsigned long long>>;
    std::FILE* file_ = nullptr;
    std::map<std::string, Sent> before_;  ///< by communicator
};

}  // namespace trefoil::calls
