// SPDX-License-Identifier: BSD-3-Clause
// Random MPI programs: PROGRAM FIRST COUNT [steps] [no-callbacks] [no-windows]. Each seed from
// FIRST on draws communicators, datatypes and calls, alike on all ranks. Each rank prints a digest
// of all that it has got, or one after each step, so that two runs, without Trefoil and with it,
// can be compared.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <thread>

#include "communicators.hpp"

using namespace trefoil::mpi::test;
using trefoil::mpi::is_mpich;

namespace {

int world_rank = 0, world_ranks = 0;
bool several_threads = false;
bool callbacks_call = true, has_windows = true;  ///< some of what programs may do

struct CallUnderWay {
    std::unique_ptr<CollectiveCall> call;
    MPI_Request request;
};

class Program {
  public:
    Program(std::uint64_t seed, bool tells_steps) : seed_(seed), tells_steps_(tells_steps) {}
    void run();

  private:
    std::uint64_t next() { return hash_of({seed_, ++calls_}); }
    /// One that this rank may be in, or not.
    const Communicator& some(Draw& draw) { return draw.of(communicators_); }
    void tell(const char* what) const;
    void tell_beginning(const std::string& what) const;
    /// A call that blocks; its name.
    std::string run(const Where& where, std::uint64_t step, Digest& digest);

    std::string step(Draw& draw);
    std::string one_call(Draw& draw);
    std::string again(Draw& draw);
    std::string begin_calls(Draw& draw);
    std::string persistent_calls(Draw& draw);
    std::string messages(Draw& draw);
    std::string send_to_who_waits(Draw& draw);
    std::string window(Draw& draw);
    std::string attributes(Draw& draw);
    std::string errors(Draw& draw);
    std::string threads(Draw& draw);
    void end_calls(Draw& draw);
    std::string free_one(Draw& draw);

    std::uint64_t seed_, calls_ = 0;
    bool tells_steps_;
    int step_ = 0;
    Digest digest_;
    OwnOperations own_;
    std::vector<Communicator> communicators_;
    std::vector<CallUnderWay> under_way_;
};

void Program::tell(const char* what) const {
    std::printf("seed %llu rank %d %s %d: %016llx\n", static_cast<unsigned long long>(seed_),
                world_rank, what, step_, static_cast<unsigned long long>(digest_.value()));
    std::fflush(stdout);
}

void Program::tell_beginning(const std::string& what) const {
    if (tells_steps_) {
        std::printf("seed %llu rank %d begins %d: %s\n", static_cast<unsigned long long>(seed_),
                    world_rank, step_, what.c_str());
        std::fflush(stdout);
    }
}

std::string Program::run(const Where& where, std::uint64_t step, Digest& digest) {
    CollectiveCall call(where, own_, step, Way::blocking);
    std::string name = call.name();
    tell_beginning(name);
    call.begin(digest, nullptr);
    call.look(digest);
    return name;
}

std::string Program::one_call(Draw& draw) {
    const Communicator& on = some(draw);
    const std::uint64_t step = next();
    if (!on.is_here()) {
        return "call";
    }
    return run(on.where, step, digest_);
}

/// The same call, as loops make it.
std::string Program::again(Draw& draw) {
    const Communicator& on = some(draw);
    const int times = draw.between(5, 40);
    const std::uint64_t step = next();
    for (int i = 0; on.is_here() && i < times; ++i) {
        run(on.where, step, digest_);
    }
    return "again";
}

/// Some, which may go on while later steps run.
std::string Program::begin_calls(Draw& draw) {
    std::string names = "begin";
    const int count = draw.between(1, 5);
    for (int i = 0; i < count; ++i) {
        const Communicator& on = some(draw);
        const std::uint64_t step = next();
        if (on.is_here()) {
            under_way_.push_back(
                {std::make_unique<CollectiveCall>(on.where, own_, step, Way::nonblocking),
                 MPI_REQUEST_NULL});
            CallUnderWay& last = under_way_.back();
            tell_beginning(last.call->name());
            last.call->begin(digest_, &last.request);
            names += ", " + last.call->name();
        }
    }
    if (draw.chance(60)) {
        end_calls(draw);
    }
    return names;
}

void Program::end_calls(Draw& draw) {
    std::vector<MPI_Request> requests;
    for (const CallUnderWay& each : under_way_) {
        requests.push_back(each.request);
    }
    const int count = static_cast<int>(requests.size());
    switch (draw.below(4)) {
        case 0:
            MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
            break;
        case 1:
            for (int done = 0; done == 0;) {
                MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
            }
            break;
        case 2:
            for (int i = 0; i < count; ++i) {
                int which = 0;
                MPI_Waitany(count, requests.data(), &which, MPI_STATUS_IGNORE);
            }
            break;
        default:  // last to first
            for (int i = count; i-- > 0;) {
                MPI_Wait(&requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE);
            }
    }
    for (const CallUnderWay& each : under_way_) {
        each.call->look(digest_);
    }
    under_way_.clear();
}

/// Started in an order that is this rank's own.
std::string Program::persistent_calls(Draw& draw) {
    std::vector<CallUnderWay> calls;
    const int count = draw.between(1, 3), times = draw.between(1, 3);
    for (int i = 0; i < count; ++i) {
        const Communicator& on = some(draw);
        const std::uint64_t step = next();
        if (on.is_here() && !on.where.is_inter) {
            calls.push_back(
                {std::make_unique<CollectiveCall>(on.where, own_, step, Way::persistent),
                 MPI_REQUEST_NULL});
            calls.back().call->begin(digest_, &calls.back().request);
        }
    }
    std::vector<std::size_t> order(calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int i = 0; i < times; ++i) {
        Draw own(hash_of({seed_, calls_, static_cast<std::uint64_t>(world_rank)}));
        own.shuffle(order);
        for (const std::size_t each : order) {
            MPI_Start(&calls[each].request);
        }
        for (CallUnderWay& each : calls) {
            MPI_Wait(&each.request, MPI_STATUS_IGNORE);
            each.call->look(digest_);
        }
    }
    for (CallUnderWay& each : calls) {
        MPI_Request_free(&each.request);
    }
    return "persistent";
}

/// Each rank sends some others something, of any kind.
std::string Program::messages(Draw& draw) {
    const Communicator& on = some(draw);
    const std::uint64_t step = next();
    const int length = draw.chance(80) ? draw.between(1, 200) : draw.between(1, 60000);
    const int distance = draw.below(on.where.ranks);
    const bool synchronous = draw.chance(30);
    if (!on.is_here() || on.where.is_inter) {
        return "messages";
    }
    const int ranks = on.where.ranks, rank = on.where.rank;
    Draw own(hash_of({step, static_cast<std::uint64_t>(rank)}));
    const int tag = 100 + step_;  // a rank may be a step ahead
    const MPI_Datatype type = draw_layout(own, MPI_INT, length, is_mpich());
    Buffer send, recv;
    send.make(MPI_INT, {{0, length}}, own.bits());
    recv.make(type, {{0, 1}}, own.bits());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Irecv(recv.base, 1, type, MPI_ANY_SOURCE, tag, on.where.comm, &request);
    const int to = (rank + distance) % ranks;
    synchronous ? MPI_Ssend(send.base, length, MPI_INT, to, tag, on.where.comm)
                : MPI_Send(send.base, length, MPI_INT, to, tag, on.where.comm);
    MPI_Wait(&request, &status);
    digest_.add(static_cast<std::uint64_t>(status.MPI_SOURCE));
    digest_.add_bytes(recv.memory.data(), recv.memory.size());
    MPI_Datatype made = type;
    MPI_Type_free(&made);
    return "messages";
}

/// The one that receives is in a collective already, which the others reach later.
std::string Program::send_to_who_waits(Draw& draw) {
    const Communicator& on = some(draw);
    const std::uint64_t step = next();
    const int length = draw.chance(70) ? 1 : draw.between(1, 100000);
    if (!on.is_here() || on.where.is_inter) {
        return "to who waits";
    }
    const auto ints = static_cast<std::size_t>(length);
    const int ranks = on.where.ranks;
    std::vector<int> mine(ints, on.where.rank), all(ints * static_cast<std::size_t>(ranks), -1);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(ranks), MPI_REQUEST_NULL);
    for (int r = 1; on.where.rank == 0 && r < ranks; ++r) {
        MPI_Irecv(&all[ints * static_cast<std::size_t>(r)], length, MPI_INT, r, 12, on.where.comm,
                  &requests[static_cast<std::size_t>(r)]);
    }
    if (on.where.rank != 0) {
        MPI_Ssend(mine.data(), length, MPI_INT, 0, 12, on.where.comm);
    }
    const std::string name = run(on.where, step, digest_);
    MPI_Waitall(ranks, requests.data(), MPI_STATUSES_IGNORE);
    digest_.add_bytes(all.data(), all.size() * sizeof(int));
    return "to who waits: " + name;
}

std::string Program::window(Draw& draw) {
    const Communicator& on = some(draw);
    const int length = draw.between(1, 300), rounds = draw.between(1, 3);
    // What MPICH 4.0.2 reads from such windows is not always right by itself.
    if (!on.is_here() || on.where.is_inter || is_mpich() || !has_windows) {
        return "window";
    }
    const auto bytes = static_cast<MPI_Aint>(sizeof(int)) * length;
    std::vector<int> got(static_cast<std::size_t>(length), on.where.rank);
    int* shown = nullptr;
    MPI_Win made = MPI_WIN_NULL;
    MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, on.where.comm, &shown, &made);
    std::copy(got.begin(), got.end(), shown);
    for (int round = 0; round < rounds; ++round) {
        const int peer = (on.where.rank + 1 + round) % on.where.ranks;
        MPI_Win_fence(0, made);
        MPI_Accumulate(got.data(), length, MPI_INT, peer, 0, length, MPI_INT, MPI_SUM, made);
        MPI_Win_fence(0, made);
        MPI_Get(got.data(), length, MPI_INT, peer, 0, length, MPI_INT, made);
        MPI_Win_fence(0, made);
        digest_.add_bytes(got.data(), got.size() * sizeof(int));
    }
    MPI_Win_free(&made);
    return "window";
}

/// What callbacks have seen; they may make a collective, too.
struct Seen {
    Digest digest;
    bool calls = false;
};

int copied(MPI_Comm, int, void* extra, void* value, void* copy, int* flag) {
    static_cast<Seen*>(extra)->digest.add(1);
    *static_cast<void**>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int deleted(MPI_Comm comm, int, void*, void* extra) {
    auto* const seen = static_cast<Seen*>(extra);
    seen->digest.add(2);
    if (seen->calls) {
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        seen->digest.add(static_cast<std::uint64_t>(sum));
    }
    return MPI_SUCCESS;
}

std::string Program::attributes(Draw& draw) {
    const Communicator& on = some(draw);
    const int how = draw.below(3);
    Seen seen;
    seen.calls = draw.chance(50) && callbacks_call;
    const std::uint64_t step = next();
    if (!on.is_here()) {
        return "attributes";
    }
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copied, deleted, &keyval, &seen);
    MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
    MPI_Comm_dup(on.where.comm, &first);
    MPI_Comm_set_attr(first, keyval, &step_);
    if (how != 0) {
        Where where = on.where;
        where.comm = first;
        run(where, step, digest_);
    }
    if (how == 2) {
        MPI_Comm_dup(first, &second);
        MPI_Comm_free(&second);
    }
    MPI_Comm_free(&first);
    // Its handle may come back.
    MPI_Comm_dup(on.where.comm, &first);
    Where where = on.where;
    where.comm = first;
    run(where, hash_of({step}), digest_);
    MPI_Comm_free(&first);
    MPI_Comm_free_keyval(&keyval);
    digest_.add(seen.digest.value());
    return "attributes";
}

int handled = 0;
void handle(MPI_Comm*, int*, ...) {
    ++handled;
}

/// All ranks make the same wrong calls, and right ones between.
std::string Program::errors(Draw& draw) {
    const Communicator& on = some(draw);
    const bool returns = draw.chance(50);
    const int wrong = draw.below(4);
    const std::uint64_t step = next();
    if (!on.is_here() || on.where.is_inter) {
        return "errors";
    }
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(on.where.comm, &comm);
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    if (!returns) {
        MPI_Comm_create_errhandler(handle, &handler);
    }
    MPI_Comm_set_errhandler(comm, handler);
    Where where = on.where;
    where.comm = comm;
    for (std::uint64_t i = 0; i < 3; ++i) {
        int number = 3;
        switch (wrong) {
            case 0:
                digest_.add_code(MPI_Bcast(&number, 1, MPI_INT, where.ranks, comm));
                break;
            case 1:
                digest_.add_code(MPI_Bcast(&number, -1, MPI_INT, 0, comm));
                break;
            case 2:
                digest_.add_code(MPI_Bcast(&number, 1, MPI_DATATYPE_NULL, 0, comm));
                break;
            default:
                digest_.add_code(
                    MPI_Reduce(&step_, &number, 1, MPI_INT, MPI_SUM, where.ranks, comm));
        }
        run(where, hash_of({step, i}), digest_);
    }
    digest_.add(static_cast<std::uint64_t>(handled));
    if (!returns) {
        MPI_Errhandler_free(&handler);
    }
    MPI_Comm_free(&comm);
    return "errors";
}

std::string Program::threads(Draw& draw) {
    const Communicator& on = some(draw);
    const std::uint64_t step = next();
    if (!several_threads || !on.is_here()) {
        return "threads";
    }
    Where each[2] = {on.where, on.where};
    Digest digests[2];
    for (Where& where : each) {
        MPI_Comm_dup(on.where.comm, &where.comm);
    }
    const auto work = [&](std::uint64_t thread) {
        for (std::uint64_t i = 0; i < 6; ++i) {
            run(each[thread], hash_of({step, thread, i}), digests[thread]);
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    for (int i = 0; i < 2; ++i) {
        digest_.add(digests[i].value());
        MPI_Comm_free(&each[i].comm);
    }
    return "threads";
}

std::string Program::free_one(Draw& draw) {
    if (communicators_.size() < 2) {
        return "free";
    }
    const int which = draw.between(1, static_cast<int>(communicators_.size()) - 1);
    Communicator& one = communicators_[static_cast<std::size_t>(which)];
    if (one.is_here()) {
        MPI_Comm_free(&one.where.comm);
    }
    communicators_.erase(communicators_.begin() + which);
    return "free";
}

std::string Program::step(Draw& draw) {
    const int what = draw.below(100);
    return what < 34   ? one_call(draw)
           : what < 50 ? begin_calls(draw)
           // MPICH 4.0.2's own persistent collectives give wrong results.
           : what < 56 ? (is_mpich() ? one_call(draw) : persistent_calls(draw))
           : what < 68 ? make_communicators(draw, communicators_, world_rank)
           : what < 74 ? free_one(draw)
           : what < 79 ? messages(draw)
           : what < 84 ? send_to_who_waits(draw)
           : what < 88 ? window(draw)
           : what < 92 ? attributes(draw)
           : what < 95 ? errors(draw)
           : what < 98 ? threads(draw)
                       : again(draw);
}

void Program::run() {
    own_.make();
    std::vector<int> members(static_cast<std::size_t>(world_ranks));
    std::iota(members.begin(), members.end(), 0);
    communicators_.push_back(described(MPI_COMM_WORLD, members));
    handled = 0;
    for (step_ = 0; step_ < 25; ++step_) {
        Draw draw(hash_of({seed_, static_cast<std::uint64_t>(step_), 1000}));
        tell_beginning("step");
        const std::string what = step(draw);
        if (tells_steps_) {
            tell(what.c_str());
        }
    }
    Draw draw(hash_of({seed_, 2000}));
    end_calls(draw);
    const bool frees = draw.chance(70);
    while (frees && communicators_.size() > 1) {
        free_one(draw);
    }
    own_.free();
    tell("end");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s FIRST COUNT [steps] [no-callbacks] [no-windows]\n",
                     argv[0]);
        return 2;
    }
    const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
    const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
    bool tells_steps = false;
    for (int i = 3; i < argc; ++i) {
        tells_steps = tells_steps || std::strcmp(argv[i], "steps") == 0;
        callbacks_call = callbacks_call && std::strcmp(argv[i], "no-callbacks") != 0;
        has_windows = has_windows && std::strcmp(argv[i], "no-windows") != 0;
    }
    Draw draw(hash_of({first, 3000}));
    const int asked = draw.below(4);  // MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, asked == 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                    &provided);
    several_threads = asked == 3 && provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        Program(seed, tells_steps).run();
    }
    MPI_Finalize();
    return 0;
}
