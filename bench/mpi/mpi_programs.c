/* SPDX-License-Identifier: BSD-3-Clause */
/* Small MPI programs of many kinds, for scripts/compare-mpi: what each takes without Trefoil, and
   with it. Knows MPI alone.

   mpi_programs --list        names, the fewest ranks, and what each does
   mpi_programs NAME          prints "NAME MICROSECONDS" of the slowest rank, or says what was wrong

   A kind is run in stretches; the median stretch counts. The first stretch of most kinds warms up;
   kinds in which a program does something once (first ...) have one stretch. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mpi/messages_to_waiting.h"
#include "bench/mpi/plain_collectives.h"

enum { STRETCHES = 9, MANY = 64 };

typedef struct {
    const char* name;
    int least_ranks;
    int calls; /* of a stretch */
    int once;  /* no warm-up, one stretch */
    void (*body)(int calls);
    const char* text;
} Kind;

/* Calls that do not block, and calls that persist. */
static void iallreduce_8(int calls) {
    int one[2] = {1, rank}, sum[2];
    MPI_Request request;
    for (int i = 0; i < calls; ++i) {
        MPI_Iallreduce(one, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(sum[0] == ranks && sum[1] == sum_of_ranks(), "an iallreduce");
    }
}
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
        allreduce_on(made, 8, 1);
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
        allreduce_on(made, 8, 1);
        MPI_Comm_free(&made);
        MPI_Comm_free(&cart);
    }
}
static void many_alive(int calls) {
    MPI_Comm* made = malloc((size_t)calls * sizeof *made);
    for (int i = 0; i < calls; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        allreduce_on(made[i], 8, 1);
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
    allreduce_on(pair, 8, calls);
}
static void rows_and_columns(int calls) {
    static MPI_Comm row, column;
    if (row == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    }
    for (int i = 0; i < calls; ++i) {
        int value = rank;
        allreduce_on(row, 8, 1);
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
        allreduce_on(MPI_COMM_WORLD, 8 + 4 * i, 1);
    }
}
static void first_call(int calls) {
    allreduce_on(MPI_COMM_WORLD, 8, calls);
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

#define COLLECTIVE(NAME, TEXT)                                      \
    {#NAME "-8", 2, 1000, 0, NAME##_8, TEXT " of 8 bytes"},         \
        {#NAME "-1k", 2, 500, 0, NAME##_1k, TEXT " of 1 KiB"},      \
        {#NAME "-64k", 2, 100, 0, NAME##_64k, TEXT " of 64 KiB"}, { \
#NAME "-1m", 2, 20, 0, NAME##_1m, TEXT " of 1 MiB"          \
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
    {"barrier", 2, 1000, 0, barrier, "barrier"},
    {"scan-8", 2, 1000, 0, scan_8, "scan of 8 bytes"},
    {"iallreduce-8", 2, 1000, 0, iallreduce_8, "iallreduce of 8 bytes, wait"},
    {"eight-iallreduces", 2, 200, 0, eight_iallreduces, "eight iallreduces in flight, waitall"},
    {"ibcast-test", 2, 1000, 0, ibcast_test, "ibcast of 4 bytes, tests until it is done"},
    {"ibarriers-64", 2, 50, 0, ibarriers_of_many,
     "an ibarrier on each of 64 communicators, waitall"},
    {"iallreduce-ld", 2, 200, 0, iallreduce_long_double,
     "iallreduce(long double), rank 0 in a barrier"},
    {"ssend-to-waiting", 2, 2000, 0, ssend_to_waiting, "ssend of 64 bytes to a rank in a barrier"},
    {"flood-to-waiting", 2, 5, 0, flood_to_waiting,
     "1000 sends of 64 bytes to a rank in a barrier"},
    {"rendezvous-waiting", 2, 20, 0, rendezvous_while_waiting,
     "isend of 256 KiB, its sender in a barrier"},
    {"task-farm", 2, 500, 0, task_farm,
     "tasks given out one by one; who has none waits in a barrier"},
    {"sparse-exchange", 2, 100, 0, sparse_exchange, "issend, iprobe, ibarrier"},
    {"halo-norm", 2, 500, 0, halo_and_norm, "sendrecv of 4 KiB, allreduce of 8 bytes"},
    {"split-allreduce-free", 2, 50, 0, split_allreduce_free,
     "comm_split, one allreduce, comm_free"},
    {"split-free", 2, 100, 0, split_free, "comm_split, comm_free"},
    {"dup-barrier-free", 2, 50, 0, dup_barrier_free, "comm_dup, barrier, comm_free"},
    {"cart-sub-free", 2, 30, 0, cart_sub_free, "cart_create, cart_sub, one allreduce, both freed"},
    {"many-alive", 2, 200, 1, many_alive, "200 communicators with a call each, then all freed"},
    {"pairs-allreduce", 4, 500, 0, pairs_allreduce, "allreduce of 8 bytes in pairs of ranks"},
    {"rows-columns", 4, 500, 0, rows_and_columns, "allreduce in rows of two, bcast in columns"},
    {"allgatherv-changing", 2, 500, 0, allgatherv_changing,
     "allgatherv whose counts change with each call"},
    {"gatherv-changing", 2, 500, 0, gatherv_changing, "gatherv whose counts change with each call"},
    {"alltoallv-changing", 2, 500, 0, alltoallv_changing,
     "alltoallv whose counts change with each call"},
    {"each-size-once", 2, 1000, 1, each_size_once, "allreduce of 1000 sizes, each once"},
    {"first-call", 2, 1, 1, first_call, "the first allreduce of a program"},
    {"user-operation", 2, 500, 0, user_operation,
     "allreduce of 1 KiB by an operation of the program"},
    {"bcast-column", 2, 500, 0, bcast_column, "bcast of a column of a matrix"},
    {"window-made", 2, 20, 0, window_made_and_freed, "win_create, two fences, win_free"},
    {"fence-put-fence", 2, 200, 0, fence_put_fence, "fence, put, fence"},
    {"counter-of-waiting", 2, 200, 0, counter_of_waiting, "fetch_and_op at a rank in a barrier"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Microseconds of a call, of the slowest rank in the median stretch. */
static double measure(const Kind* kind) {
    double times[STRETCHES] = {0};
    const int stretches = kind->once ? 1 : STRETCHES;
    if (!kind->once) {
        kind->body(kind->calls);
    }
    for (int s = 0; s < stretches; ++s) {
        if (!kind->once) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        const double begin = MPI_Wtime();
        kind->body(kind->calls);
        times[s] = (MPI_Wtime() - begin) / kind->calls * 1e6;
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
    for (int k = 0; argc == 2 && k < KINDS; ++k) {
        kind = strcmp(argv[1], kinds[k].name) == 0 ? &kinds[k] : kind;
    }
    if (kind == NULL) {
        fprintf(stderr, "usage: mpi_programs --list | NAME\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
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
    const double microseconds = measure(kind);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !wrong) {
        printf("%s %.4f\n", kind->name, microseconds);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return wrong;
}
