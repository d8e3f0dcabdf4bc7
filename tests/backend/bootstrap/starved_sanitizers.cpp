// SPDX-License-Identifier: BSD-3-Clause
// Lets sanitizers work where a test takes away descriptors or memory: what the library does then is
// checked as everything else is. Without sanitizers it changes nothing.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

/// Where memory ends, malloc returns NULL and the caller says what it lacks; by default
/// AddressSanitizer ends the process. The name is the sanitizer's own.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
    return "allocator_may_return_null=1";
}

#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
/// Before UBSan reads an object's type, it asks through a pipe whether the memory can be read, and
/// without a pipe it calls the object invalid. So pipes can be had beyond the limit.
extern "C" int pipe(int* ends) noexcept {
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    if (pipe2(ends, 0) == 0) {
        return 0;
    }
    rlimit starved{};
    if (errno != EMFILE || getrlimit(RLIMIT_NOFILE, &starved) != 0) {
        return -1;
    }
    const rlimit most{starved.rlim_max, starved.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
    const int result = pipe2(ends, 0);
    setrlimit(RLIMIT_NOFILE, &starved);
    return result;
}
#endif
#endif
