// SPDX-License-Identifier: BSD-3-Clause
// Port threads: they own the port groups. Dedicated threads, pinned inside the process's own mask;
// or the threads of the program's OpenMP runtime; or none: then the calling thread does the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trefoil {

/// Runs one function on all its threads at a time and waits for them. Idle threads sleep (those of
/// an OpenMP runtime as OMP_WAIT_POLICY says).
class PortThreads {
  public:
    /// `threads` = 0: run() calls work(0) on the calling thread. Otherwise that many threads are
    /// started; thread i is pinned to cores[i % cores.size()] when `cores` is not empty. Each core
    /// must be in the process's mask. The caller's own mask is never touched. Throws
    /// Error(invalid_argument) for a core outside the mask, Error(system_error) when the system
    /// refuses a thread.
    PortThreads(int threads, const std::vector<int>& cores);
    /// Their run() is a parallel region of `threads` threads (1 or more) of the program's
    /// OpenMP runtime: no thread is started here. See openmp_threads() for what it throws.
    static std::unique_ptr<PortThreads> openmp(int threads);
    ~PortThreads();  ///< joins its own threads; must not be called while run() is under way
    PortThreads(const PortThreads&) = delete;
    PortThreads& operator=(const PortThreads&) = delete;

    /// How many calls of `work` a run makes, 1 or more.
    int workers() const;
    /// Worker 0 is the thread that calls run(), not one that it waits for.
    bool caller_works() const;

    /// Threads of their own, which go on while the caller does something else: see start().
    bool serves() const;
    /// There is a core for each of them beside the caller's.
    bool spins() const;

    /// Throws Error(invalid_argument) where run() must not be called: those of OpenMP inside a
    /// parallel region, whose threads are not idle.
    void require_usable() const;

    /// Calls work(i) once for each worker i, concurrently, and returns true when all have returned.
    /// False: an OpenMP runtime grants fewer threads than when this was made; nothing was called.
    /// `work` must not throw. Does not allocate by itself. One caller at a time.
    template <typename Work>
    [[nodiscard]] bool run(Work& work) {
        return run_erased([](void* w, int i) { (*static_cast<Work*>(w))(i); }, &work);
    }

    /// Where serves(): begins a run and returns; finish() waits for its end. No other run
    /// meanwhile.
    void start(void (*call)(void*, int), void* work);
    void finish();

  private:
    class Implementation;
    class DedicatedThreads;
    class OpenMpThreads;

    explicit PortThreads(std::unique_ptr<Implementation> implementation);
    bool run_erased(void (*call)(void*, int), void* work);
    std::unique_ptr<Implementation> implementation_;  ///< null: the calling thread
};

/// Of a thread with a core of its own: some 20 us, since the next call often follows at once.
inline constexpr int spins_before_sleep = 1000;

/// Spins, then sleeps until `value` is no longer `old`; whoever changes it notifies. Pairs with
/// that one's release.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, int spins);

/// How many threads the program's OpenMP runtime grants to a parallel region that asks for `wanted`
/// (0: for what it uses by default), found by running an empty one. Throws Error(unsupported) when
/// the process has no OpenMP runtime, Error(invalid_argument) inside a parallel region.
int openmp_threads(int wanted);

}  // namespace trefoil
