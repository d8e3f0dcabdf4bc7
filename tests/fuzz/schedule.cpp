// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes schedules as JSON: read, and proved where they can be read.
#include <string>

#include "algorithms/json/read.hpp"
#include "algorithms/json/user_schedule.hpp"
#include "tests/fuzz/target.hpp"

FUZZ_TARGET(schedule) {
    using namespace trefoil;
    const std::string_view text = fuzz::text_of(data, size);
    fuzz::refuses([&] {
        const ScheduleSet set = read_schedules(text);
        fuzz::require(static_cast<Rank>(set.schedules.size()) == set.torus.ranks(),
                      "a rank without a schedule");
        const UserSchedule proved(set.collective, text);
        fuzz::require(proved.algorithm().collective == set.collective, "another collective");
    });
    return 0;
}
