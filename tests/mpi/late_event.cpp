// SPDX-License-Identifier: BSD-3-Clause
// Preloaded in ranks of Open MPI 4: its progress thread is a second late with the first event of
// PMIx's component, as on a busy machine.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

namespace {

using Callback = void (*)(int, short, void*);
Callback late = nullptr;

bool is_of_pmix(Callback callback) {
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(callback), &info) != 0 && info.dli_fname != nullptr &&
           std::string_view(info.dli_fname).find("/mca_pmix_") != std::string_view::npos;
}

void call_late(int file, short what, void* argument) {
    std::fputs("an event is late\n", stderr);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    late(file, what, argument);
}

}  // namespace

// libevent's.
extern "C" [[gnu::visibility("default")]] int event_assign(void* event, void* base, int file,
                                                           short what, Callback callback,
                                                           void* argument) {
    static const auto next = reinterpret_cast<int (*)(void*, void*, int, short, Callback, void*)>(
        dlsym(RTLD_NEXT, "event_assign"));
    if (late == nullptr && is_of_pmix(callback)) {
        late = callback;
        callback = call_late;
    }
    return next(event, base, file, what, callback, argument);
}
