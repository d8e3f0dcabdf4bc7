// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: the clock of the wall differs by OTHER_CLOCK seconds, as on a host without time
// service.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

time_t difference() {
    const char* const text = getenv("OTHER_CLOCK");
    return text != nullptr ? std::atol(text) : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, struct timespec* now) noexcept {
    const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += difference();
    }
    return result;
}

int gettimeofday(struct timeval* __restrict now, void* __restrict /*zone*/) noexcept {
    timespec exact{};
    clock_gettime(CLOCK_REALTIME, &exact);
    *now = {exact.tv_sec, exact.tv_nsec / 1000};
    return 0;
}

time_t time(time_t* place) noexcept {
    timespec exact{};
    clock_gettime(CLOCK_REALTIME, &exact);
    if (place != nullptr) {
        *place = exact.tv_sec;
    }
    return exact.tv_sec;
}

}  // extern "C"
