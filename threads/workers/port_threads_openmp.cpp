// SPDX-License-Identifier: BSD-3-Clause
// Port threads of OpenMP. The runtime is the program's: it is looked up in the process, never
// linked, so that there is one runtime and no dependency. GOMP_parallel is what compilers call for
// a parallel region; the runtimes of GCC and of LLVM both export it.
#include <dlfcn.h>

#include <algorithm>

#include "threads/workers/port_threads_implementation.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

struct Runtime {
    using Parallel = void (*)(void (*function)(void*), void* data, unsigned threads,
                              unsigned flags);
    using Number = int (*)();
    Parallel parallel;
    Number in_parallel, threads, thread;
};

template <typename Function>
Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Runtime find_runtime() {
    const Runtime runtime{
        find<Runtime::Parallel>("GOMP_parallel"), find<Runtime::Number>("omp_in_parallel"),
        find<Runtime::Number>("omp_get_num_threads"), find<Runtime::Number>("omp_get_thread_num")};
    if (runtime.parallel == nullptr || runtime.in_parallel == nullptr ||
        runtime.threads == nullptr || runtime.thread == nullptr) {
        throw Error(Status::unsupported,
                    "the ports are to be driven by OpenMP threads, but this program has no OpenMP "
                    "runtime: link it with -fopenmp, or choose TREFOIL_PORT_THREADS_BY=dedicated "
                    "or caller");
    }
    return runtime;
}

void require_serial(const Runtime& runtime) {
    if (runtime.in_parallel() != 0) {
        throw Error(
            Status::invalid_argument,
            "TREFOIL_PORT_THREADS_BY=openmp: called inside a parallel region, whose threads are "
            "not idle; call from serial code, or choose TREFOIL_PORT_THREADS_BY=dedicated or "
            "caller");
    }
}

/// Shared by the threads of one parallel region.
struct Region {
    const Runtime* runtime;
    int threads;  ///< needed; 0: only count
    void (*call)(void*, int);
    void* work;
    int granted = 0;
};

/// Every thread of a region sees the same number of threads, so all of them work or none.
void enter(void* data) {
    auto& region = *static_cast<Region*>(data);
    const int granted = region.runtime->threads();
    const int thread = region.runtime->thread();
    if (thread == 0) {
        region.granted = granted;
    }
    if (thread < region.threads && granted >= region.threads) {
        region.call(region.work, thread);
    }
}

}  // namespace

class PortThreads::OpenMpThreads final : public PortThreads::Implementation {
  public:
    explicit OpenMpThreads(int threads) : runtime_(find_runtime()), threads_(threads) {}
    int threads() const override { return threads_; }
    bool caller_works() const override { return true; }  // as the region's first thread
    void require_usable() const override { require_serial(runtime_); }
    bool run(void (*call)(void*, int), void* work) override {
        Region region{&runtime_, threads_, call, work};
        runtime_.parallel(enter, &region, static_cast<unsigned>(threads_), 0);
        return region.granted >= threads_;
    }

  private:
    Runtime runtime_;
    int threads_;
};

std::unique_ptr<PortThreads> PortThreads::openmp(int threads) {
    auto implementation = std::make_unique<OpenMpThreads>(std::max(1, threads));
    return std::unique_ptr<PortThreads>(new PortThreads(std::move(implementation)));
}

int openmp_threads(int wanted) {
    const Runtime runtime = find_runtime();
    require_serial(runtime);
    Region region{&runtime, 0, nullptr, nullptr};
    runtime.parallel(enter, &region, static_cast<unsigned>(std::max(0, wanted)), 0);
    return region.granted;
}

}  // namespace trefoil
