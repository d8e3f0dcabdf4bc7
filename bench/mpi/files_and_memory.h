/* SPDX-License-Identifier: BSD-3-Clause */
/* Of mpi_programs.c: files, several threads, and what communicators take of memory. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/mpi/plain_collectives.h"

static void name_file(char name[64]) {
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, 64, "mpi_programs.%d", id);
}
static void file_opened_and_closed(int calls) {
    static char name[64];
    if (name[0] == '\0') {
        name_file(name);
    }
    for (int i = 0; i < calls; ++i) {
        MPI_File file;
        const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
        expect(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS,
               "a file opened");
        MPI_File_close(&file);
    }
}
static void file_written_by_all(int calls) {
    enum { BYTES = 65536 };
    char name[64];
    name_file(name);
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    out[BYTES - 1] = (char)(rank + 1);
    for (int i = 0; i < calls; ++i) {
        MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, out, BYTES, MPI_BYTE,
                              MPI_STATUS_IGNORE);
        MPI_File_read_at_all(file, (MPI_Offset)rank * BYTES, in, BYTES, MPI_BYTE,
                             MPI_STATUS_IGNORE);
        expect(in[BYTES - 1] == rank + 1, "what was read from a file");
    }
    MPI_File_close(&file);
}

/* Two threads, each with a communicator of its own. */
typedef struct {
    MPI_Comm comm;
    int calls;
} Side;
static void* sums_of_thread(void* of) {
    const Side* const side = of;
    for (int i = 0; i < side->calls; ++i) {
        int sum = -1;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, side->comm);
        expect(sum == sum_of_ranks(), "a sum of one of two threads");
    }
    return NULL;
}
static void two_threads(int calls) {
    static Side sides[2];
    for (int k = 0; k < 2; ++k) {
        if (sides[k].calls == 0) {
            MPI_Comm_dup(MPI_COMM_WORLD, &sides[k].comm);
        }
        sides[k].calls = calls;
    }
    pthread_t other;
    expect(pthread_create(&other, NULL, sums_of_thread, &sides[1]) == 0, "a thread");
    sums_of_thread(&sides[0]);
    pthread_join(other, NULL);
}

/* KiB of memory that are this process' alone, or of pages that it shares. */
static double resident(void) {
    long pages = 0, all = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2) {
        expect(0, "/proc/self/statm");
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}
enum { COMMUNICATORS = 1500 };
static void make_many(MPI_Comm* made) {
    for (int i = 0; i < COMMUNICATORS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        allreduce_on(made[i], 8, 1, BLOCKING);
    }
}
static double memory_of_many(void) {
    static MPI_Comm made[COMMUNICATORS];
    make_many(made);
    return resident();
}
static double memory_after_many(void) {
    static MPI_Comm made[COMMUNICATORS];
    make_many(made);
    for (int i = 0; i < COMMUNICATORS; ++i) {
        MPI_Comm_free(&made[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return resident();
}
/* After 30 communicators with 1000 sizes each. */
static double memory_of_sizes(void) {
    for (int k = 0; k < 30; ++k) {
        MPI_Comm made;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        for (int i = 0; i < 1000; ++i) {
            allreduce_on(made, 8 + 64 * i, 1, BLOCKING);
        }
        MPI_Comm_free(&made);
    }
    return resident();
}
