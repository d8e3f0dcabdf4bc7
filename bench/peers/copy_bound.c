/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the bytes of a collective take in the memory of this machine when each is moved once:
   for scripts/compare.

   Usage: copy_bound COLLECTIVE RANKS COUNT ... with COUNT as in peer.h. Processes, one for each
   rank but no more than cores, share memory and do what no implementation can leave out: what the
   collective gives a rank is filled by memcpy from where it lies, or by one pass that adds up all
   ranks' contributions to it. Rooted results are shared out among all ranks, as every core can
   help. Nobody waits for anybody, so this is a bound and no implementation. Told is the time from
   the first one's start to the last one's end, per call, of stretches of some milliseconds; the
   median of the stretches; a line of JSON for each count.

   Last comes a line with how long a flag takes from the first core to the second and back, in
   nanoseconds. It tells launches apart on a virtual machine whose cores change places. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/peers/peer.h"

enum { most_ranks = 256, chunk = 2048, small = 1024, most_seconds = 120 };
static const double stretch_seconds = 4e-3;
enum { stretches = 10 };

static struct shared {
    atomic_int arrived;
    _Alignas(64) atomic_int flag;
    _Alignas(64) double start[most_ranks];
    double end[most_ranks];
} * shared;

static int ranks, workers, worker;
static float *send[most_ranks], *recv[most_ranks];

static void* map(size_t bytes) {
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("copy_bound: no memory");
        exit(3);
    }
    madvise(memory, bytes, MADV_HUGEPAGE); /* where the system allows it */
    return memory;
}

/* Between two looks at what another process does. */
static void yield_until(double end) {
    sched_yield();
    if (peer_seconds() > end) {
        fprintf(stderr, "copy_bound: a process did not come within %d s\n", most_seconds);
        exit(3);
    }
}

/* All workers meet for the `times`th time. */
static void meet(int times) {
    const double until = peer_seconds() + most_seconds;
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < times * workers) {
        yield_until(until);
    }
}

static void add(float* restrict to, const float* restrict from, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}

static void add_two(float* restrict to, const float* restrict a, const float* restrict b,
                    size_t count) {
    for (size_t i = 0; i < count; ++i) {
        to[i] = a[i] + b[i];
    }
}

/* Of what all ranks send at `first`; pieces stay in a core's own cache until they are complete. */
static void sum(int rank, float* to, size_t first, size_t count) {
    for (size_t done = 0; done < count; done += chunk) {
        const size_t now = count - done < chunk ? count - done : chunk;
        add_two(to + done, send[rank] + first + done, send[(rank + 1) % ranks] + first + done, now);
        for (int k = 2; k < ranks; ++k) {
            add(to + done, send[(rank + k) % ranks] + first + done, now);
        }
    }
}

/* This rank's part of the `all` elements of a vector that all ranks share out. */
static size_t part(int r, size_t all) {
    return all * (size_t)r / (size_t)ranks;
}

/* What a rank has to move in one call. */
static void move(int rank, enum peer_collective collective, size_t count) {
    const size_t first = part(rank, count), mine = part(rank + 1, count) - first;
    const size_t at = (size_t)rank * count, block = count * sizeof(float);
    switch (collective) {
        case peer_allreduce:
            if (count <= small) { /* halves of cache lines would go to and fro */
                sum(rank, recv[rank], 0, count);
                return;
            }
            sum(rank, recv[rank] + first, first, mine);
            break;
        case peer_reduce:
            sum(rank, recv[0] + first, first, mine);
            return;
        case peer_reduce_scatter:
            sum(rank, recv[rank], at, count);
            return;
        case peer_bcast:
            if (rank != 0) {
                memcpy(recv[rank], recv[0], block);
            }
            return;
        case peer_gather:
            memcpy(recv[0] + at, send[rank], block);
            return;
        case peer_scatter:
            memcpy(recv[rank], send[0] + at, block);
            return;
        default:
            break;
    }
    for (int k = 0; k < ranks; ++k) {
        const int other = (rank + k) % ranks;
        const size_t there = (size_t)other * count;
        if (collective == peer_allgather) {
            memcpy(recv[rank] + there, send[other], block);
        } else if (collective == peer_alltoall) {
            memcpy(recv[rank] + there, send[other] + at, block);
        } else if (k > 0) { /* allreduce: what the others have added up */
            const size_t from = part(other, count), size = part(other + 1, count) - from;
            memcpy(recv[rank] + from, recv[other] + from, size * sizeof(float));
        }
    }
}

/* Of call `number`. As the ranks of a call do, those of a worker take turns in its cache; ranks
   that cannot be shared out evenly go from worker to worker. */
static void move_ranks(int number, enum peer_collective collective, size_t count) {
    const int even = ranks - ranks % workers;
    for (int r = worker; r < even; r += workers) {
        move(r, collective, count);
    }
    for (int r = even; r < ranks; ++r) {
        if ((r + number) % workers == worker) {
            move(r, collective, count);
        }
    }
}

/* Seconds per call of a stretch, the same on all workers. */
static double stretch(enum peer_collective collective, size_t count, int calls, int* meetings) {
    double start, end;
    meet(++*meetings);
    shared->start[worker] = peer_seconds();
    for (int i = 0; i < calls; ++i) {
        move_ranks(i, collective, count);
        atomic_signal_fence(memory_order_seq_cst); /* each call is made */
    }
    shared->end[worker] = peer_seconds();
    meet(++*meetings);
    start = shared->start[0];
    end = shared->end[0];
    for (int r = 1; r < workers; ++r) {
        start = shared->start[r] < start ? shared->start[r] : start;
        end = shared->end[r] > end ? shared->end[r] : end;
    }
    meet(++*meetings); /* before the times are written again */
    return (end - start) / calls;
}

static void measure(enum peer_collective collective, size_t count, int* meetings) {
    double seconds[stretches];
    int calls = 1;
    while (stretch(collective, count, calls, meetings) * calls < stretch_seconds / 2) {
        calls *= 2;
    }
    for (int s = 0; s < stretches; ++s) {
        seconds[s] = stretch(collective, count, calls, meetings);
    }
    if (worker == 0) {
        qsort(seconds, stretches, sizeof *seconds, peer_compare);
        printf("{\"count\": %zu, \"loop\": %.5f, \"wrong\": 0}\n", count,
               seconds[stretches / 2 - 1] * 1e6);
        fflush(stdout);
    }
}

/* Whoever waits yields now and then: a core may be another program's. */
static void await_flag(int value, double until) {
    for (int looks = 1; atomic_load_explicit(&shared->flag, memory_order_acquire) != value;
         ++looks) {
        if (looks % 1024 == 0) {
            yield_until(until);
        }
    }
}

static void stay_on_core(int number) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof all, &all);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &all) && number-- == 0) {
            CPU_SET(core, &one);
        }
    }
    sched_setaffinity(0, sizeof one, &one);
}

/* Seconds between the first two workers, there and back: the fastest stretch. */
static double round_trip(int* meetings) {
    enum { trips = 500 };
    double best = most_seconds;
    for (int s = 0, sent = 0; s < stretches; ++s) {
        meet(++*meetings);
        const double start = peer_seconds();
        for (int i = 0; i < trips && worker < 2; ++i, sent += 2) {
            if (worker == 0) {
                atomic_store_explicit(&shared->flag, sent + 1, memory_order_release);
                await_flag(sent + 2, start + most_seconds);
            } else {
                await_flag(sent + 1, start + most_seconds);
                atomic_store_explicit(&shared->flag, sent + 2, memory_order_release);
            }
        }
        const double each = (peer_seconds() - start) / trips;
        best = each < best ? each : best;
    }
    return best;
}

static int cores(void) {
    cpu_set_t set;
    const int known = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    return known > 0 ? known : 1;
}

int main(int arguments, char** words) {
    enum peer_collective collective;
    size_t most = 1, elements;
    int meetings = 0, failed = 0;
    ranks = arguments > 3 ? atoi(words[2]) : 0;
    collective =
        arguments > 3 && ranks > 1 && ranks <= most_ranks ? peer_find(words[1]) : peer_collectives;
    if (collective == peer_collectives) {
        fprintf(stderr, "usage: copy_bound COLLECTIVE RANKS COUNT ..., 2 to %d ranks\n",
                most_ranks);
        return 2;
    }
    for (int i = 3; i < arguments; ++i) {
        const size_t count = (size_t)atoi(words[i]);
        most = count > most ? count : most;
    }
    shared = map(sizeof *shared);
    elements = most * (peer_has_blocks(collective) ? (size_t)ranks : 1);
    for (int r = 0; r < ranks; ++r) { /* pages that nobody touches take no memory */
        send[r] = map(elements * sizeof(float));
        recv[r] = map(elements * sizeof(float));
    }
    workers = cores() < ranks ? cores() : ranks;
    while (worker < workers - 1 && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ++worker; /* each starts the next one */
    }
    for (int r = worker; r < ranks; r += workers) { /* pages are of the core that fills them */
        memset(send[r], 0, peer_sent(collective, r, ranks, most) * sizeof(float));
        memset(recv[r], 0, peer_received(collective, r, ranks, most) * sizeof(float));
    }
    for (int i = 3; i < arguments; ++i) {
        measure(collective, (size_t)atoi(words[i]), &meetings);
    }
    if (workers > 1) {
        stay_on_core(worker);
        const double trip = round_trip(&meetings);
        if (worker == 0) {
            printf("{\"round_trip_ns\": %.0f}\n", trip * 1e9);
        }
    }
    if (worker == 0) {
        printf("{\"done\": true}\n");
        fflush(stdout);
    }
    if (worker < workers - 1) {
        wait(&failed);
    }
    return failed != 0 ? 3 : 0;
}
