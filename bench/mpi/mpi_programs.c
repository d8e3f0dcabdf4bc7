/* SPDX-License-Identifier: BSD-3-Clause */
/* Small MPI programs of many kinds, for scripts/compare-mpi: what each takes without Trefoil, and
   with it. Knows MPI alone.

   mpi_programs --list        names, the fewest ranks, and what each does
   mpi_programs NAME [MS]     prints "NAME NUMBER", or says what was wrong; warms up for so many
                              milliseconds (400)

   The number is microseconds of a call of the slowest rank, or KiB of memory of the largest one.
   A kind is run in stretches of some milliseconds, so that those who wait for a core to begin do
   not matter; the median stretch counts. Before that it warms up. Kinds in which a program does
   something once, and those of its first calls, have one stretch and no warm-up. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mpi/files_and_memory.h"
#include "bench/mpi/messages_to_waiting.h"
#include "bench/mpi/plain_collectives.h"

enum {
    STRETCHES = 9,
    MANY = 64,
    STRETCH = 20000 /* microseconds, at least */
};

/* Milliseconds: Trefoil begins after a while, and tries calls out. */
static int warm_up_time = 400;

typedef enum { OFTEN, ONCE, THREADED } Habit;

typedef struct {
    const char* name;
    int least_ranks;
    int calls; /* of a stretch, or of a part of it */
    Habit habit;
    void (*body)(int calls);
    double (*memory)(void); /* instead of the body */
    const char* text;
} Kind;

/* Calls that do not block. */
static void eight_iallreduces(int calls) {
    int one[8], sum[8];
    MPI_Request requests[8];
    for (int i = 0; i < calls; ++i) {
        for (int k = 0; k < 8; ++k) {
            one[k] = k;
            MPI_Iallreduce(&one[k], &sum[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        expect(sum[7] == 7 * ranks, "the last of eight iallreduces");
    }
}
static void ibarriers_of_many(int calls) {
    static MPI_Comm comms[MANY];
    MPI_Request requests[MANY];
    for (int k = 0; k < MANY && comms[k] == 0; ++k) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
    }
    for (int i = 0; i < calls; ++i) {
        for (int k = 0; k < MANY; ++k) {
            MPI_Ibarrier(comms[k], &requests[k]);
        }
        MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    }
}
static void ibcast_test(int calls) {
    MPI_Request request;
    for (int i = 0; i < calls; ++i) {
        int done = 0, value = rank == 0 ? i : -1;
        MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        while (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        expect(value == i, "an ibcast");
    }
}
/* An operation of long double is MPI's own in both cases. */
static void iallreduce_long_double(int calls) {
    long double one = 1, sum = 0;
    MPI_Request request;
    for (int i = 0; i < calls; ++i) {
        MPI_Iallreduce(&one, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rank == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        expect(sum == ranks, "an iallreduce of long double");
    }
}

/* Communicators. */
static void split_allreduce_free(int calls) {
    for (int i = 0; i < calls; ++i) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
        allreduce_on(made, 8, 1, BLOCKING);
        MPI_Comm_free(&made);
    }
}
static void split_free(int calls) {
    for (int i = 0; i < calls; ++i) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
        MPI_Comm_free(&made);
    }
}
static void dup_barrier_free(int calls) {
    for (int i = 0; i < calls; ++i) {
        MPI_Comm made;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
}
static void cart_sub_free(int calls) {
    for (int i = 0; i < calls; ++i) {
        const int period = 1, keep = 1;
        MPI_Comm cart, made;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &period, 0, &cart);
        MPI_Cart_sub(cart, &keep, &made);
        allreduce_on(made, 8, 1, BLOCKING);
        MPI_Comm_free(&made);
        MPI_Comm_free(&cart);
    }
}
static void many_alive(int calls) {
    MPI_Comm* made = malloc((size_t)calls * sizeof *made);
    for (int i = 0; i < calls; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        allreduce_on(made[i], 8, 1, BLOCKING);
    }
    for (int i = 0; i < calls; ++i) {
        MPI_Comm_free(&made[i]);
    }
    free(made);
}
static void pairs_allreduce(int calls) {
    static MPI_Comm pair;
    if (pair == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    }
    allreduce_on(pair, 8, calls, BLOCKING);
}
static void rows_and_columns(int calls) {
    static MPI_Comm row, column;
    if (row == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    }
    for (int i = 0; i < calls; ++i) {
        int value = rank;
        allreduce_on(row, 8, 1, BLOCKING);
        MPI_Bcast(&value, 1, MPI_INT, 0, column);
        expect(value == rank % 2, "a bcast of a column");
    }
}

/* Counts that change with each call, and sizes that come once. */
static int counts[256], places[256], places_in[256];
static void change_counts(int call) {
    for (int r = 0, at = 0; r < ranks; ++r) {
        counts[r] = 1 + (call * 7 + r * 3) % 61;
        places[r] = at;
        at += counts[r];
    }
}
static void allgatherv_changing(int calls) {
    static int call;
    for (int i = 0; i < calls; ++i) {
        change_counts(++call);
        out[counts[rank] - 1] = (char)(rank + 1);
        MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
        expect(in[places[ranks - 1] + counts[ranks - 1] - 1] == ranks, "an allgatherv");
    }
}
static void gatherv_changing(int calls) {
    static int call;
    for (int i = 0; i < calls; ++i) {
        change_counts(++call);
        out[counts[rank] - 1] = (char)(rank + 1);
        MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
        expect(rank != 0 || in[places[ranks - 1] + counts[ranks - 1] - 1] == ranks, "a gatherv");
    }
}
static void alltoallv_changing(int calls) {
    static int call;
    int from[256];
    for (int i = 0; i < calls; ++i) {
        change_counts(++call);
        for (int r = 0; r < ranks; ++r) {
            from[r] = counts[rank];
            places_in[r] = r * 64;
            out[places[r]] = (char)(rank + 1);
        }
        MPI_Alltoallv(out, counts, places, MPI_BYTE, in, from, places_in, MPI_BYTE, MPI_COMM_WORLD);
        expect(in[64 * (ranks - 1)] == ranks, "an alltoallv");
    }
}
static void each_size_once(int calls) {
    for (int i = 0; i < calls; ++i) {
        allreduce_on(MPI_COMM_WORLD, 8 + 4 * i, 1, BLOCKING);
    }
}
static void first_call(int calls) {
    allreduce_on(MPI_COMM_WORLD, 8, calls, BLOCKING);
}

/* Types and operations. */
static void largest_of_user(void* theirs, void* ours, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        int* const a = (int*)ours + i;
        const int b = ((int*)theirs)[i];
        *a = *a > b ? *a : b;
    }
}
static void user_operation(int calls) {
    static MPI_Op op = MPI_OP_NULL;
    int sums[256], mine[256];
    if (op == MPI_OP_NULL) {
        MPI_Op_create(largest_of_user, 1, &op);
    }
    for (int k = 0; k < 256; ++k) {
        mine[k] = rank + k;
    }
    for (int i = 0; i < calls; ++i) {
        MPI_Allreduce(mine, sums, 256, MPI_INT, op, MPI_COMM_WORLD);
        expect(sums[255] == ranks - 1 + 255, "an operation of the program");
    }
}
static void bcast_column(int calls) {
    static MPI_Datatype column = MPI_DATATYPE_NULL;
    if (column == MPI_DATATYPE_NULL) {
        MPI_Type_vector(64, 1, 64, MPI_INT, &column);
        MPI_Type_commit(&column);
    }
    for (int i = 0; i < calls; ++i) {
        ((int*)out)[63 * 64] = rank == 0 ? i : -1;
        MPI_Bcast(out, 1, column, 0, MPI_COMM_WORLD);
        expect(((int*)out)[63 * 64] == i, "a column");
    }
}

/* One-sided. */
static void window_made_and_freed(int calls) {
    for (int i = 0; i < calls; ++i) {
        MPI_Win window;
        MPI_Win_create(in, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
}
static void fence_put_fence(int calls) {
    static MPI_Win window;
    static int* base;
    if (base == NULL) {
        MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    }
    for (int i = 0; i < calls; ++i) {
        MPI_Win_fence(0, window);
        MPI_Put(&i, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        expect(base[0] == i, "a put");
    }
}
static void counter_of_waiting(int calls) {
    static MPI_Win window;
    static int* base;
    int one = 1, before = 0;
    if (base == NULL) {
        MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        memset(base, 0, 4096);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, window);
    }
    for (int i = 0; rank != 0 && i < calls; ++i) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast_8(int calls) {
    bcast(8, calls, BLOCKING);
}
static void alltoall_1k(int calls) {
    alltoall(1024, calls, BLOCKING);
}

#define COLLECTIVE(NAME, TEXT)                                                                     \
    {#NAME "-8", 2, 1000, OFTEN, NAME##_blocks_8, 0, TEXT " of 8 bytes"},                          \
        {#NAME "-1k", 2, 500, OFTEN, NAME##_blocks_1k, 0, TEXT " of 1 KiB"},                       \
        {#NAME "-64k", 2, 100, OFTEN, NAME##_blocks_64k, 0, TEXT " of 64 KiB"},                    \
        {#NAME "-1m", 2, 20, OFTEN, NAME##_blocks_1m, 0, TEXT " of 1 MiB"},                        \
        {#NAME "-16m", 2, 2, OFTEN, NAME##_blocks_16m, 0, TEXT " of 16 MiB"},                      \
        {"i" #NAME "-8",                                                                           \
         2,                                                                                        \
         1000,                                                                                     \
         OFTEN,                                                                                    \
         NAME##_goes_on_8,                                                                         \
         0,                                                                                        \
         TEXT " of 8 bytes, no blocking, then a wait"},                                            \
        {"i" #NAME "-64k", 2, 100, OFTEN, NAME##_goes_on_64k, 0, TEXT " of 64 KiB, likewise"},     \
        {"i" #NAME "-1m", 2, 20, OFTEN, NAME##_goes_on_1m, 0, TEXT " of 1 MiB, likewise"},         \
        {#NAME "-init-8", 2, 1000, OFTEN, NAME##_persists_8, 0, TEXT " of 8 bytes, persistent"},   \
        {#NAME "-init-64k", 2, 100, OFTEN, NAME##_persists_64k, 0, TEXT " of 64 KiB, persistent"}, \
    {                                                                                              \
#NAME "-init-1m", 2, 20, OFTEN, NAME##_persists_1m, 0, TEXT " of 1 MiB, persistent"        \
    }

static const Kind kinds[] = {
    COLLECTIVE(allreduce, "allreduce"),
    COLLECTIVE(bcast, "bcast"),
    COLLECTIVE(reduce, "reduce"),
    COLLECTIVE(allgather, "allgather, all blocks together"),
    COLLECTIVE(alltoall, "alltoall, all blocks of a rank together"),
    COLLECTIVE(gather, "gather, all blocks together"),
    COLLECTIVE(scatter, "scatter, all blocks together"),
    COLLECTIVE(reduce_scatter, "reduce_scatter_block, all blocks together"),
    {"barrier", 2, 1000, OFTEN, barrier, 0, "barrier"},
    {"scan-8", 2, 1000, OFTEN, scan_8, 0, "scan of 8 bytes"},
    {"eight-iallreduces", 2, 200, OFTEN, eight_iallreduces, 0,
     "eight iallreduces in flight, waitall"},
    {"ibcast-test", 2, 1000, OFTEN, ibcast_test, 0, "ibcast of 4 bytes, tests until it is done"},
    {"ibarriers-64", 2, 50, OFTEN, ibarriers_of_many, 0,
     "an ibarrier on each of 64 communicators, waitall"},
    {"iallreduce-ld", 2, 200, OFTEN, iallreduce_long_double, 0,
     "iallreduce(long double), rank 0 in a barrier"},
    {"ssend-to-waiting", 2, 2000, OFTEN, ssend_to_waiting, 0,
     "ssend of 64 bytes to a rank in a barrier"},
    {"flood-to-waiting", 2, 5, OFTEN, flood_to_waiting, 0,
     "1000 sends of 64 bytes to a rank in a barrier"},
    {"rendezvous-waiting", 2, 20, OFTEN, rendezvous_while_waiting, 0,
     "isend of 256 KiB, its sender in a barrier"},
    {"task-farm", 2, 500, OFTEN, task_farm, 0,
     "tasks given out one by one; who has none waits in a barrier"},
    {"sparse-exchange", 2, 100, OFTEN, sparse_exchange, 0, "issend, iprobe, ibarrier"},
    {"halo-norm", 2, 500, OFTEN, halo_and_norm, 0, "sendrecv of 4 KiB, allreduce of 8 bytes"},
    {"split-allreduce-free", 2, 50, OFTEN, split_allreduce_free, 0,
     "comm_split, one allreduce, comm_free"},
    {"split-free", 2, 100, OFTEN, split_free, 0, "comm_split, comm_free"},
    {"dup-barrier-free", 2, 50, OFTEN, dup_barrier_free, 0, "comm_dup, barrier, comm_free"},
    {"cart-sub-free", 2, 30, OFTEN, cart_sub_free, 0,
     "cart_create, cart_sub, one allreduce, both freed"},
    {"many-alive", 2, 200, ONCE, many_alive, 0,
     "200 communicators with a call each, then all freed"},
    {"pairs-allreduce", 4, 500, OFTEN, pairs_allreduce, 0,
     "allreduce of 8 bytes in pairs of ranks"},
    {"rows-columns", 4, 500, OFTEN, rows_and_columns, 0,
     "allreduce in rows of two, bcast in columns"},
    {"allgatherv-changing", 2, 500, OFTEN, allgatherv_changing, 0,
     "allgatherv whose counts change with each call"},
    {"gatherv-changing", 2, 500, OFTEN, gatherv_changing, 0,
     "gatherv whose counts change with each call"},
    {"alltoallv-changing", 2, 500, OFTEN, alltoallv_changing, 0,
     "alltoallv whose counts change with each call"},
    {"each-size-once", 2, 1000, ONCE, each_size_once, 0, "allreduce of 1000 sizes, each once"},
    {"first-call", 2, 1, ONCE, first_call, 0, "the first allreduce of a program"},
    {"user-operation", 2, 500, OFTEN, user_operation, 0,
     "allreduce of 1 KiB by an operation of the program"},
    {"bcast-column", 2, 500, OFTEN, bcast_column, 0, "bcast of a column of a matrix"},
    {"window-made", 2, 20, OFTEN, window_made_and_freed, 0, "win_create, two fences, win_free"},
    {"fence-put-fence", 2, 200, OFTEN, fence_put_fence, 0, "fence, put, fence"},
    {"counter-of-waiting", 2, 200, OFTEN, counter_of_waiting, 0,
     "fetch_and_op at a rank in a barrier"},
    {"fence-threaded", 2, 200, THREADED, fence_put_fence, 0,
     "fence, put, fence, where several threads may call MPI"},
    {"two-threads", 2, 200, THREADED, two_threads, 0,
     "allreduce of 4 bytes by two threads, each on its communicator"},
    {"file-opened", 2, 5, OFTEN, file_opened_and_closed, 0, "file_open, file_close"},
    {"file-written", 2, 20, OFTEN, file_written_by_all, 0,
     "write_at_all and read_at_all of 64 KiB a rank"},
    {"first-5000-allreduce", 2, 5000, ONCE, first_call, 0, "a program's first 5000 of 8 bytes"},
    {"first-5000-bcast", 2, 5000, ONCE, bcast_8, 0, "a program's first 5000 of 8 bytes"},
    {"first-5000-alltoall", 2, 5000, ONCE, alltoall_1k, 0, "a program's first 5000 of 1 KiB"},
    {"first-5000-gatherv", 2, 5000, ONCE, gatherv_changing, 0,
     "a program's first 5000, whose counts change"},
    {"memory-many", 2, 0, ONCE, 0, memory_of_many,
     "KiB of a rank with 1500 communicators, a call each"},
    {"memory-freed", 2, 0, ONCE, 0, memory_after_many, "KiB of a rank after they are freed"},
    {"memory-sizes", 2, 0, ONCE, 0, memory_of_sizes,
     "KiB of a rank after 30 communicators with 1000 sizes each"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double run(const Kind* kind, int parts) {
    const double begin = MPI_Wtime();
    for (int p = 0; p < parts; ++p) {
        kind->body(kind->calls);
    }
    return (MPI_Wtime() - begin) * 1e6 / parts;
}

/* How often a kind's calls last so many microseconds, by the slowest rank. */
static int parts_of(double one, int microseconds) {
    int parts = one > 0 && one < microseconds ? (int)(microseconds / one) + 1 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &parts, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return parts < 100000 ? parts : 100000;
}

/* The first calls are slow, so each time is guessed by the one before. Returns how often the calls
   are made in a stretch. */
static int warm_up(const Kind* kind) {
    enum { TIMES = 4 };
    double one = run(kind, 1);
    for (int i = 0; i < TIMES; ++i) {
        one = run(kind, parts_of(one, warm_up_time * 1000 / TIMES));
    }
    return parts_of(one, STRETCH);
}

/* Microseconds of a call, of the slowest rank in the median stretch; or KiB. */
static double measure(const Kind* kind) {
    double times[STRETCHES] = {0};
    int stretches = 1, parts = 1;
    if (kind->memory != NULL) {
        times[0] = kind->memory();
    } else {
        if (kind->habit != ONCE) {
            parts = warm_up(kind);
            stretches = STRETCHES;
        }
        for (int s = 0; s < stretches; ++s) {
            if (kind->habit != ONCE) {
                MPI_Barrier(MPI_COMM_WORLD);
            }
            times[s] = run(kind, parts) / kind->calls;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, times, stretches, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(times, (size_t)stretches, sizeof times[0], by_value);
    return times[stretches / 2];
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int k = 0; k < KINDS; ++k) {
            printf("%s\t%d\t%s\n", kinds[k].name, kinds[k].least_ranks, kinds[k].text);
        }
        return 0;
    }
    const Kind* kind = NULL;
    for (int k = 0; (argc == 2 || argc == 3) && k < KINDS; ++k) {
        kind = strcmp(argv[1], kinds[k].name) == 0 ? &kinds[k] : kind;
    }
    if (argc == 3) {
        warm_up_time = atoi(argv[2]);
    }
    if (kind == NULL || warm_up_time < 0 || warm_up_time > 60000) {
        fprintf(stderr, "usage: mpi_programs --list | NAME [MS], of 60000 at most\n");
        return 2;
    }
    int level = MPI_THREAD_SINGLE;
    const int wanted = kind->habit == THREADED ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (level < wanted) {
        fprintf(stderr, "%s needs MPI_THREAD_MULTIPLE\n", kind->name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (ranks < kind->least_ranks || ranks > 256) {
        fprintf(stderr, "%s takes %d to 256 ranks, not %d\n", kind->name, kind->least_ranks, ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    out = calloc(2, LARGE);
    in = calloc(2, LARGE);
    if (out == NULL || in == NULL) {
        fprintf(stderr, "no memory for %d bytes\n", 4 * LARGE);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const double number = measure(kind);
    if (persistent != MPI_REQUEST_NULL) {
        MPI_Request_free(&persistent);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !wrong) {
        printf("%s %.4f\n", kind->name, number);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return wrong;
}
