// SPDX-License-Identifier: BSD-3-Clause
// Data of each thread that the main one keeps while the process ends.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace trefoil {

/// A T for each thread that asks for one. A thread_local one of the main thread is destroyed before
/// objects of the program whose destructors may still make calls. This one goes with its thread,
/// but not with the process.
template <typename T>
class PerThread {
  public:
    /// Throws std::bad_alloc where the process has no key left.
    PerThread() {
        if (pthread_key_create(&key_, [](void* own) { delete static_cast<T*>(own); }) != 0) {
            throw std::bad_alloc();
        }
    }

    /// Null: this thread has not asked for its own.
    T* find() const noexcept { return static_cast<T*>(pthread_getspecific(key_)); }

    T& own() {
        if (T* const known = find()) {
            return *known;
        }
        auto made = std::make_unique<T>();
        if (pthread_setspecific(key_, made.get()) != 0) {
            throw std::bad_alloc();
        }
        return *made.release();
    }

  private:
    pthread_key_t key_{};
};

}  // namespace trefoil
