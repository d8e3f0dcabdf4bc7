// SPDX-License-Identifier: BSD-3-Clause
// The locale of a thread.
#include "backend/system/plain_locale.hpp"

namespace trefoil {

PlainLocale::PlainLocale() noexcept {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);  // null: nothing changes
    before_ = uselocale(plain);
}

PlainLocale::~PlainLocale() {
    uselocale(before_);
}

}  // namespace trefoil
