// SPDX-License-Identifier: BSD-3-Clause
// A machine with weak memory order, on which a few threads run in every order that a bound allows.
//
// An atomic object keeps all values that were stored to it. A load may give any of those that its
// thread has not seen overwritten, so stores and loads pass each other as on Arm, and more so. What
// a thread has seen, it hands on with stores that release, and takes over by loads that acquire;
// sequentially consistent accesses also see the newest one of those to the same object. A fence
// that releases does so for the stores behind it, one that acquires for the loads before it. Plain
// memory is watched for races: an access that is not ordered behind the one before. Files that are
// compiled with -fsanitize=thread report theirs by themselves (plain_accesses.cpp).
//
// Not modelled: loads that see later stores (no compiler or processor makes them of what is here);
// fences that are sequentially consistent.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trefoil::weak {

/// A place in the source, in a form in which it can be compared.
struct Site {
    const char* file;
    int line;
    std::string text() const;
    bool operator==(const Site& other) const;
};

/// An access that a run has come across: what `weakened` may say.
struct Access {
    enum class Kind : std::uint8_t { load, store, change, fence };
    Site site{};
    Kind kind = Kind::load;
    std::memory_order order = std::memory_order_relaxed;
};
std::string to_string(std::memory_order order);

/// One step weaker, each way; empty for relaxed.
std::vector<std::memory_order> weaker(const Access& access);

/// Threads of one test, made anew for each run. They share what the lambdas hold.
using Threads = std::vector<std::function<void()>>;
using Scenario = std::function<Threads()>;

struct Outcome {
    std::string failure;  ///< empty: none
    std::uint64_t runs = 0;
    bool complete = true;  ///< all orders within the bounds were seen
    std::vector<Access> accesses;
};

struct Bounds {
    int preemptions = 2;  ///< of a thread that could go on
    int stale = 2;        ///< loads of a run that do not give the newest value
    std::uint64_t runs = 200'000;
};

/// Runs the scenario in all orders, until one fails. `weakened`: that access has `order` instead of
/// its own.
Outcome explore(const Scenario& scenario, const Bounds& bounds = {},
                const Access* weakened = nullptr,
                std::memory_order order = std::memory_order_relaxed);

// What the threads call.

/// One atomic object, and what it held when the run began.
struct Object {
    const void* place;
    std::uint64_t initial;
    /// Whoever looks after the run finds the last value there; 0: nobody does.
    std::size_t bytes = 0;
};
/// Whether a thread of a run calls; else what follows must not be called, but for changes, which
/// are made in place, and for the notes.
bool running();
/// Which one, as the scenario gave them.
std::size_t this_thread();
std::uint64_t load(Object object, std::memory_order order, Site site);
void store(Object object, std::uint64_t value, std::memory_order order, Site site);
/// Gives the old value; `change` gives the new one, or false to leave the object alone.
std::uint64_t change(Object object,
                     const std::function<bool(std::uint64_t old, std::uint64_t& next)>& change,
                     std::memory_order order, std::memory_order failed, Site site);
void fence(std::memory_order order, Site site);
/// A fence in each thread: from here on all know what all have stored.
void fence_in_all_threads();
/// What a device does that a thread has just told to, by stores that are ordered by fences alone:
/// it knows what those hand on, and what it has seen itself.
constexpr std::size_t most_devices = 2;
void act_as_device(std::size_t device, const std::function<void()>& what);
/// As the kernel does: asleep while the newest value is this one, until somebody wakes.
void sleep_while(Object object, std::uint64_t value);
void wake_sleepers(Object object);
/// The object ends. Another one may take its place.
void forget(Object object);
/// Another thread of the run, which the scenario starts while it is made; the number is for join().
std::size_t start_thread(std::function<void()> body);
/// Returns when that thread has ended, with all that it has seen.
void join(std::size_t started);
/// Others may go on, if they can; costs no preemption.
void let_others_go_on();
/// Plain memory is used.
void note_read(const void* place);
void note_write(const void* place);
/// Memory is given out, or taken back: what was there before has nothing to do with what comes.
void forget_plain(const void* place, std::size_t bytes);
/// Ends the run as failed.
void require(bool condition, const char* what);

}  // namespace trefoil::weak
