// SPDX-License-Identifier: BSD-3-Clause
// Times and checks Gloo's collectives for scripts/compare (peer.h tells how and what it prints).
//
// Its ranks are started by `trefoil run` and meet in the folder GLOO_STORE; messages go by TCP over
// the loopback interface. What a call needs is made once for each pair of buffers, as the other
// libraries do. reduce_scatter is Gloo's own algorithm, which works in the send buffer: the vector
// is copied before the call and the block behind it, as a caller would have to.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <vector>

#include "bench/peers/peer.h"

namespace {

using Sum = void (*)(void*, const void*, const void*, size_t);

std::shared_ptr<gloo::rendezvous::Context> context;

/// What is called again and again, and the buffers for which it was made.
struct Prepared {
    float* send = nullptr;
    float* recv = nullptr;
    int count = 0;
    std::function<void()> run;
};

template <typename Options>
std::shared_ptr<Options> with_root(std::shared_ptr<Options> options) {
    options->setRoot(0);
    return options;
}

std::function<void()> allreduce(float* send, float* recv, size_t count) {
    auto options = std::make_shared<gloo::AllreduceOptions>(context);
    options->setInput(send, count);
    options->setOutput(recv, count);
    options->setReduceFunction(Sum(&gloo::sum<float>));
    return [options] { gloo::allreduce(*options); };
}

std::function<void()> reduce_scatter(const float* send, float* recv, size_t count) {
    struct State {
        std::vector<float> work;
        std::unique_ptr<gloo::ReduceScatterHalvingDoubling<float>> algorithm;
    };
    auto state = std::make_shared<State>();
    const size_t all = count * static_cast<size_t>(context->size);
    const std::vector<int> blocks(static_cast<size_t>(context->size), static_cast<int>(count));
    state->work.resize(all);
    state->algorithm = std::make_unique<gloo::ReduceScatterHalvingDoubling<float>>(
        context, std::vector<float*>{state->work.data()}, static_cast<int>(all), blocks);
    return [state, send, recv, count, all] {
        std::copy_n(send, all, state->work.data());
        state->algorithm->run();
        std::copy_n(state->work.data(), count, recv);
    };
}

std::function<void()> allgather(float* send, float* recv, size_t count) {
    auto options = std::make_shared<gloo::AllgatherOptions>(context);
    options->setInput(send, count);
    options->setOutput(recv, count * static_cast<size_t>(context->size));
    return [options] { gloo::allgather(*options); };
}

std::function<void()> broadcast(float* recv, size_t count) {
    auto options = with_root(std::make_shared<gloo::BroadcastOptions>(context));
    options->setOutput(recv, count);
    return [options] { gloo::broadcast(*options); };
}

std::function<void()> reduce(float* send, float* recv, size_t count) {
    auto options = with_root(std::make_shared<gloo::ReduceOptions>(context));
    options->setInput(send, count);
    options->setOutput(recv, count);
    options->setReduceFunction(Sum(&gloo::sum<float>));
    return [options] { gloo::reduce(*options); };
}

std::function<void()> gather(float* send, float* recv, size_t count) {
    auto options = with_root(std::make_shared<gloo::GatherOptions>(context));
    options->setInput(send, count);
    if (context->rank == 0) {
        options->setOutput(recv, count * static_cast<size_t>(context->size));
    }
    return [options] { gloo::gather(*options); };
}

std::function<void()> scatter(float* send, float* recv, size_t count) {
    auto options = with_root(std::make_shared<gloo::ScatterOptions>(context));
    if (context->rank == 0) {
        std::vector<float*> blocks;
        for (int r = 0; r < context->size; ++r) {
            blocks.push_back(send + static_cast<size_t>(r) * count);
        }
        options->setInputs(blocks, count);
    }
    options->setOutput(recv, count);
    return [options] { gloo::scatter(*options); };
}

std::function<void()> alltoall(float* send, float* recv, size_t count) {
    auto options = std::make_shared<gloo::AlltoallOptions>(context);
    options->setInput(send, count * static_cast<size_t>(context->size));
    options->setOutput(recv, count * static_cast<size_t>(context->size));
    return [options] { gloo::alltoall(*options); };
}

std::function<void()> prepare(peer_collective collective, float* send, float* recv, size_t count) {
    switch (collective) {
        case peer_allreduce:
            return allreduce(send, recv, count);
        case peer_reduce_scatter:
            return reduce_scatter(send, recv, count);
        case peer_allgather:
            return allgather(send, recv, count);
        case peer_bcast:
            return broadcast(recv, count);
        case peer_reduce:
            return reduce(send, recv, count);
        case peer_gather:
            return gather(send, recv, count);
        case peer_scatter:
            return scatter(send, recv, count);
        default:
            return alltoall(send, recv, count);
    }
}

void call(peer_collective collective, float* send, float* recv, int count) {
    static Prepared last;
    if (last.send != send || last.recv != recv || last.count != count) {
        last = {};  // before the next one is made: both would hold buffers
        last = {send, recv, count, prepare(collective, send, recv, static_cast<size_t>(count))};
    }
    last.run();
}

void barrier() {
    static gloo::BarrierOptions options(context);
    gloo::barrier(options);
}

void maximize(double* values, int count) {
    gloo::AllreduceOptions options(context);
    options.setOutput(values, static_cast<size_t>(count));
    options.setReduceFunction(Sum(&gloo::max<double>));
    gloo::allreduce(options);
}

int whole_number(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : -1;
}

int run(peer_collective collective, int arguments, char** words) {
    const char* folder = std::getenv("GLOO_STORE");
    peer me{whole_number("TREFOIL_RANK"), whole_number("TREFOIL_SIZE"), call, barrier, maximize, 0};
    if (folder == nullptr || me.ranks < 1 || me.rank < 0) {
        std::fprintf(stderr, "start it by trefoil run, with a new folder in GLOO_STORE\n");
        return 2;
    }
    std::shared_ptr<gloo::transport::Device> device =
        gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    gloo::rendezvous::FileStore store(folder);
    context = std::make_shared<gloo::rendezvous::Context>(me.rank, me.ranks);
    context->connectFullMesh(store, device);
    const int code = peer_main(&me, collective, arguments, words);
    barrier();  // whose connections end first would look like a failure to the others
    return code;
}

}  // namespace

int main(int arguments, char** words) {
    const peer_collective collective = peer_asked(arguments, words);
    if (collective == peer_collectives) {
        return 2;
    }
    try {
        const int code = run(collective, arguments, words);
        std::fflush(stdout);
        std::_Exit(code);  // static objects of Gloo would wait for threads that are gone
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gloo_perf: %s\n", error.what());
        return 3;
    }
}
