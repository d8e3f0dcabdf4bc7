// SPDX-License-Identifier: BSD-3-Clause
// Text for machines, whatever locale the program has for people.
#pragma once

#include <locale.h>

namespace trefoil {

/// The calling thread has the locale "C" until the end of the scope; other threads keep theirs.
/// For libraries that compare names, or read numbers, by the program's locale: in Turkish UCX does
/// not know its own settings.
class PlainLocale {
  public:
    PlainLocale() noexcept;
    ~PlainLocale();
    PlainLocale(const PlainLocale&) = delete;
    PlainLocale& operator=(const PlainLocale&) = delete;

  private:
    locale_t before_;
};

}  // namespace trefoil
