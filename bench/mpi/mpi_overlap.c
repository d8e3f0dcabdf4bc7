/* SPDX-License-Identifier: BSD-3-Clause */
/* Times MPI_Iallreduce beside a computation, and many of them in flight, the way `trefoil perf
   --overlap --in-flight` does, for scripts/compare-overlap.

   Usage: mpi_overlap CALLS WARMUP TEST_EVERY IN_FLIGHT COUNT ... Float sums, out of place; COUNT
   elements. The computation calls MPI_Test every TEST_EVERY microseconds; 0: never. All times are
   medians of the slowest rank, each until all ranks are done. Rank 0 prints a line of JSON for each
   count. It is compiled by mpicc of each library; the project's build has no part in it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { numbers = 8 << 10, samples = 201 };

static int ranks, rank, calls, warmup, in_flight;
static double test_every;
static float computed[numbers];
static long portions, between_tests;
static MPI_Request request = MPI_REQUEST_NULL;

static void portion(void) {
    for (int i = 0; i < numbers; ++i) {
        computed[i] = computed[i] * 0.999F + 0.001F;
    }
    __asm__ volatile("" : : "r"(computed) : "memory"); /* somebody looks at the numbers */
}

static void compute(int tests) {
    for (long i = 1; i <= portions; ++i) {
        portion();
        if (tests && between_tests > 0 && i % between_tests == 0) {
            int done = 0;
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }
}

static int compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Microseconds of the slowest rank, the median over the calls. */
static double slowest_median(double* seconds, int count) {
    MPI_Allreduce(MPI_IN_PLACE, seconds, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    return seconds[(count + 1) / 2 - 1] * 1e6;
}

static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int usable_cores(void) {
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

static void* allocate(size_t bytes) {
    void* memory = calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == NULL) {
        fprintf(stderr, "mpi_overlap: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

static void begin(const float* send, float* recv, int count, MPI_Request* one) {
    MPI_Iallreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, one);
}

/* As many portions as fit into a call, alike on all ranks. */
static void calibrate(const float* send, float* recv, int count) {
    double times[samples], of_call[5], one;
    for (int i = -warmup; i < 5; ++i) {
        const double start = MPI_Wtime();
        begin(send, recv, count, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i >= 0) {
            of_call[i] = MPI_Wtime() - start;
        }
    }
    for (int i = 0; i < samples; ++i) {
        const double start = MPI_Wtime();
        portion();
        times[i] = MPI_Wtime() - start;
    }
    qsort(times, samples, sizeof *times, compare);
    one = slowest_median(&times[samples / 2], 1);
    portions = (long)(slowest_median(of_call, 5) / one + 0.5);
    portions = portions < 1 ? 1 : portions;
    between_tests = test_every > 0 ? (long)(test_every / one + 0.5) : 0;
    between_tests = test_every > 0 && between_tests < 1 ? 1 : between_tests;
}

/* Sums of small numbers are exact in any order. Returns how many elements are wrong. */
static long long checked(float* send, float* recv, int count) {
    long long wrong = 0;
    for (int i = 0; i < count; ++i) {
        send[i] = (float)((i + rank) % 17);
        recv[i] = -1;
    }
    begin(send, recv, count, &request);
    compute(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) {
        float sum = 0;
        for (int r = 0; r < ranks; ++r) {
            sum += (float)((i + r) % 17);
        }
        wrong += recv[i] != sum;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return wrong;
}

static long long measure(int count) {
    const size_t bytes = (size_t)count * sizeof(float);
    float** send = allocate((size_t)in_flight * sizeof *send);
    float** recv = allocate((size_t)in_flight * sizeof *recv);
    MPI_Request* requests = allocate((size_t)in_flight * sizeof *requests);
    double* times[5];
    double used = 0, medians[5];
    long long wrong;
    for (int i = 0; i < in_flight; ++i) {
        send[i] = allocate(bytes);
        recv[i] = allocate(bytes);
    }
    for (int i = 0; i < 5; ++i) {
        times[i] = allocate((size_t)calls * sizeof(double));
    }
    calibrate(send[0], recv[0], count);
    wrong = checked(send[0], recv[0], count);
    for (int i = -warmup; i < calls; ++i) {
        double at[6], before;
        MPI_Barrier(MPI_COMM_WORLD);
        at[0] = MPI_Wtime();
        begin(send[0], recv[0], count, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        at[1] = MPI_Wtime();
        compute(0);
        MPI_Barrier(MPI_COMM_WORLD);
        at[2] = MPI_Wtime();
        before = processor_seconds();
        begin(send[0], recv[0], count, &request);
        compute(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        at[3] = MPI_Wtime();
        used += i < 0 ? 0 : processor_seconds() - before;
        for (int n = 0; n < in_flight; ++n) {
            begin(send[n], recv[n], count, &requests[n]);
        }
        MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
        at[4] = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        at[5] = MPI_Wtime();
        for (int n = 0; n < in_flight; ++n) {
            MPI_Allreduce(send[n], recv[n], count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }
        if (i >= 0) {
            times[0][i] = at[1] - at[0];
            times[1][i] = at[2] - at[1];
            times[2][i] = at[3] - at[2];
            times[3][i] = at[4] - at[3];
            times[4][i] = MPI_Wtime() - at[5];
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 5; ++i) {
        medians[i] = slowest_median(times[i], calls);
        free(times[i]);
    }
    if (rank == 0) {
        printf(
            "{\"count\": %d, \"communication_us\": %.3f, \"computation_us\": %.3f, "
            "\"together_us\": %.3f, \"processors_us\": %.3f, \"requests_us\": %.3f, "
            "\"blocking_us\": %.3f, \"wrong\": %lld}\n",
            count, medians[0], medians[1], medians[2], used * 1e6 / calls / usable_cores(),
            medians[3], medians[4], wrong);
        fflush(stdout);
    }
    for (int i = 0; i < in_flight; ++i) {
        free(send[i]);
        free(recv[i]);
    }
    free(send);
    free(recv);
    free(requests);
    return wrong;
}

int main(int arguments, char** words) {
    long long wrong = 0;
    if (arguments < 6 || atoi(words[1]) < 1 || atoi(words[4]) < 1) {
        fprintf(stderr, "usage: mpi_overlap CALLS WARMUP TEST_EVERY IN_FLIGHT COUNT ...\n");
        return 2;
    }
    calls = atoi(words[1]);
    warmup = atoi(words[2]);
    test_every = atof(words[3]);
    in_flight = atoi(words[4]);
    MPI_Init(&arguments, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 5; i < arguments; ++i) {
        wrong += measure(atoi(words[i]));
    }
    if (rank == 0) {
        printf("{\"done\": true}\n"); /* a library that hangs in MPI_Finalize may be ended now */
        fflush(stdout);
    }
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
