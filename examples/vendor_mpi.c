/* SPDX-License-Identifier: BSD-3-Clause */
/* How an MPI library plugs Trefoil in: its own exchange between ranks, its knowledge of where they
   sit in the torus, and its progress engine. docs/integrating.md explains it.

   To be a program, this "library" also starts its ranks: four processes of a 2x2 torus. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trefoil/trefoil.h>
#include <unistd.h>

enum { ranks = 4, board_bytes = 65536, count = 1000 };

/* ---- what the library has already ---- */

/* Its out-of-band exchange, for start-up: here a board in shared memory. */
struct board {
    pthread_barrier_t all_here;
    char blobs[ranks][board_bytes];
};

struct library {
    struct board* board;
    int rank;
    int coordinates[2];   /* from the machine's own tables */
    trefoil_comm_t world; /* its MPI_COMM_WORLD, on Trefoil's side */
    unsigned long polls;  /* of its progress engine */
};

static void progress_engine(struct library* lib) {
    ++lib->polls; /* here it would move its own messages along */
}

/* ---- the three things that Trefoil is given ---- */

/* Blobs of any size, in rounds that fit the board. Called only while something is set up. */
static int out_of_band_allgather(const void* mine, void* all, size_t bytes, void* context) {
    struct library* lib = context;
    size_t done = 0;
    while (done < bytes) {
        const size_t left = bytes - done;
        const size_t now = left < board_bytes ? left : (size_t)board_bytes;
        int r = 0;
        memcpy(lib->board->blobs[lib->rank], (const char*)mine + done, now);
        pthread_barrier_wait(&lib->board->all_here);
        for (r = 0; r < ranks; ++r) {
            memcpy((char*)all + (size_t)r * bytes + done, lib->board->blobs[r], now);
        }
        pthread_barrier_wait(&lib->board->all_here); /* before anybody writes again */
        done += now;
    }
    return 0;
}

/* A peer may need this rank's messages before it can come to the collective. */
static void progress(void* context) {
    progress_engine(context);
}

static trefoil_status_t plug_in(struct library* lib) {
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    config.rank = lib->rank;
    config.ranks = ranks;
    config.allgather = out_of_band_allgather;
    config.progress = progress;
    config.context = lib;
    config.torus = "2x2";
    config.coordinates = lib->coordinates;
    config.dimensions = 2;
    return trefoil_comm_create(&config, &lib->world);
}

/* ---- one of its collectives, and its end ---- */

static int library_allreduce_float_sum(struct library* lib, const float* send, float* recv,
                                       size_t elements) {
    const trefoil_status_t status =
        trefoil_allreduce(send, recv, elements, TREFOIL_FLOAT, TREFOIL_SUM, lib->world);
    if (status == TREFOIL_ERROR_UNSUPPORTED) {
        return -1; /* on all ranks, and nothing has moved: here its own algorithm would run */
    }
    if (status != TREFOIL_SUCCESS) { /* here its error handler would be called */
        fprintf(stderr, "rank %d: %s\n", lib->rank, trefoil_last_error(lib->world));
        return -1;
    }
    return 0;
}

static int finalize(struct library* lib) {
    if (trefoil_barrier(lib->world) != TREFOIL_SUCCESS) { /* nobody needs this rank any more */
        return EXIT_FAILURE;
    }
    return trefoil_comm_destroy(lib->world) == TREFOIL_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_rank(struct library* lib) {
    float send[count], recv[count];
    int i = 0, wrong = 0;
    if (plug_in(lib) != TREFOIL_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", lib->rank, trefoil_last_error(NULL));
        return EXIT_FAILURE;
    }
    for (i = 0; i < count; ++i) {
        send[i] = (float)(lib->rank + i);
    }
    if (library_allreduce_float_sum(lib, send, recv, count) != 0) {
        return EXIT_FAILURE;
    }
    for (i = 0; i < count; ++i) {
        wrong += recv[i] != (float)(ranks * (ranks - 1) / 2 + ranks * i);
    }
    if (lib->rank == 0) {
        printf("rank 0 of %d: %d of %d sums are wrong\n", (int)ranks, wrong, (int)count);
        fflush(stdout);
    }
    return wrong == 0 ? finalize(lib) : EXIT_FAILURE;
}

int main(void) {
    pthread_barrierattr_t shared;
    struct library lib = {0};
    int r = 0, status = 0, failed = 0;
    lib.board =
        mmap(NULL, sizeof *lib.board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lib.board == MAP_FAILED) {
        perror("mmap");
        return EXIT_FAILURE;
    }
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&lib.board->all_here, &shared, ranks);
    for (r = 0; r < ranks; ++r) {
        if (fork() == 0) { /* before Trefoil is used: a communicator does not survive a fork */
            lib.rank = r;
            lib.coordinates[0] = r / 2;
            lib.coordinates[1] = r % 2;
            exit(run_rank(&lib));
        }
    }
    while (wait(&status) > 0) {
        failed += status != 0;
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
