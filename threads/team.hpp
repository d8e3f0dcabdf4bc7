// SPDX-License-Identifier: BSD-3-Clause
// The port team: the threads that own port groups. Either dedicated threads, pinned inside the
// process's own mask, or nobody: then the calling thread does the work itself.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace trefoil {

/// Runs one function on all its threads at a time and waits for them. Idle threads sleep.
class Team {
  public:
    /// `threads` = 0: run() calls work(0) on the calling thread. Otherwise that many threads are
    /// started; thread i is pinned to cores[i % cores.size()] when `cores` is not empty. Each core
    /// must be in the process's mask. The caller's own mask is never touched. Throws
    /// Error(invalid_argument) for a core outside the mask, Error(system_error) when the system
    /// refuses a thread.
    Team(int threads, const std::vector<int>& cores);
    ~Team();  ///< joins; must not be called while run() is under way
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// How many calls of `work` a run makes: max(1, threads).
    int workers() const;

    /// Calls work(i) once for each worker i, concurrently, and returns when all have returned.
    /// `work` must not throw. Does not allocate. One caller at a time.
    template <typename Work>
    void run(Work& work) {
        run_erased([](void* w, int i) { (*static_cast<Work*>(w))(i); }, &work);
    }

  private:
    void run_erased(void (*call)(void*, int), void* work);
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace trefoil
