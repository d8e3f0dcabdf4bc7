// SPDX-License-Identifier: BSD-3-Clause
// A new list of the environment's variables, beside the old one.
#include "backend/system/environment_entry.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>

namespace trefoil {

void add_to_environment(const std::string& name, const std::string& value) {
    struct Addition {
        std::string entry;
        std::unique_ptr<char*[]> list;
    };
    static std::mutex mutex;
    static auto& kept = *new std::deque<Addition>;  // others may read them until the process ends
    const std::lock_guard lock(mutex);
    if (std::getenv(name.c_str()) != nullptr) {
        return;
    }
    std::size_t count = 0;
    while (environ != nullptr && environ[count] != nullptr) {
        ++count;
    }
    Addition& added = kept.emplace_back();
    added.entry = name + "=" + value;
    added.list = std::make_unique<char*[]>(count + 2);
    std::copy_n(environ, count, added.list.get());
    added.list[count] = added.entry.data();
    std::atomic_ref(environ).store(added.list.get(), std::memory_order_release);
}

}  // namespace trefoil
