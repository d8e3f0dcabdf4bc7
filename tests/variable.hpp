// SPDX-License-Identifier: BSD-3-Clause
// An environment variable that is set for one scope.
#pragma once

#include <cstdlib>

namespace trefoil::test {

/// Before threads begin and after they have ended.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

}  // namespace trefoil::test
