/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of trefoil.h, and TREFOIL_IN_PLACE wherever it may stand. Valid C99 and C++11. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trefoil/trefoil.h>

#include "buffers.h"
#include "communicators.h"
#include "neighbours.h"

#ifdef __cplusplus
#define AS(type, value) static_cast<type>(value)
#define NOTHING nullptr
#else
#define AS(type, value) ((type)(value))
#define NOTHING NULL
#endif

enum { most_ranks = 8, block = 2, most = most_ranks * block, root = 1 };

static trefoil_comm_t comm;
static int rank, ranks;
static int send[most], recv[most];
static size_t counts[most_ranks], displacements[most_ranks];
/* Ends the program when a call fails, or a result is wrong. */
static void check(trefoil_status_t status, const char* call) {
    if (status != TREFOIL_SUCCESS) {
        printf("rank %d: %s: %s: %s\n", rank, call, trefoil_status_string(status),
               trefoil_last_error(NOTHING));
        exit(EXIT_FAILURE);
    }
}
static void require(int condition, const char* what) {
    if (!condition) {
        printf("rank %d: wrong: %s\n", rank, what);
        exit(EXIT_FAILURE);
    }
}

/* Element i of block `to` of rank `from`. */
static int value(int from, int to, int i) {
    return 1000 * from + 10 * to + i;
}
static int sum(int to, int i) {
    return 1000 * ranks * (ranks - 1) / 2 + ranks * (10 * to + i);
}

/* A block for each rank. */
static void fill(int* buffer) {
    int r = 0, i = 0;
    for (r = 0; r < ranks; ++r) {
        for (i = 0; i < block; ++i) {
            buffer[r * block + i] = value(rank, r, i);
        }
    }
}
static void clear(void) {
    memset(recv, 0, sizeof recv);
    fill(send);
}

static void expect_sums(const int* buffer, int first, int last, const char* what) {
    int r = 0, i = 0;
    for (r = first; r < last; ++r) {
        for (i = 0; i < block; ++i) {
            require(buffer[(r - first) * block + i] == sum(r, i), what);
        }
    }
}
/* Block r of the buffer is block `to` of rank r, or, from one rank, block r of it. */
static void expect_blocks(const int* buffer, int to, const char* what) {
    int r = 0, i = 0;
    for (r = 0; r < ranks; ++r) {
        for (i = 0; i < block; ++i) {
            require(buffer[r * block + i] == value(r, to, i), what);
        }
    }
}
static void expect_block(const int* buffer, int from, int to, const char* what) {
    int i = 0;
    for (i = 0; i < block; ++i) {
        require(buffer[i] == value(from, to, i), what);
    }
}

static int alone(const void* mine, void* all, size_t bytes, void* context) {
    (void)context;
    memcpy(all, mine, bytes);
    return 0;
}
static void progress(void* context) {
    ++*AS(int*, context);
}

/* Counts the words that it gets. */
static void hear(trefoil_log_level_t level, const char* topic, const char* text, void* context) {
    require(level <= TREFOIL_LOG_DEBUG && *topic != '\0' && *text != '\0', "trefoil_log_fn");
    ++*AS(int*, context);
}

static void about_words(void) {
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    trefoil_comm_t one = NOTHING;
    int heard = 0;
    check(trefoil_log(TREFOIL_LOG_DEBUG, "call", "nobody wants this"), "trefoil_log");
    config.ranks = 1;
    config.torus = "1";
    config.log = "info,setup";
    config.log_function = hear;
    config.log_context = &heard;
    check(trefoil_comm_create(&config, &one), "trefoil_comm_create with words");
    check(trefoil_comm_destroy(one), "trefoil_comm_destroy");
    require(heard > 0, "log_function");
}

static void about_versions(void) {
    char text[32];
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    trefoil_comm_t one = NOTHING;
    snprintf(text, sizeof text, "%d.%d.%d", TREFOIL_VERSION_MAJOR, TREFOIL_VERSION_MINOR,
             TREFOIL_VERSION_PATCH);
    require(strcmp(text, trefoil_version_string()) == 0, "trefoil_version_string");
    require(trefoil_version() == TREFOIL_VERSION, "trefoil_version");
#if TREFOIL_VERSION < 100
#error "TREFOIL_VERSION is no number for the preprocessor"
#endif
    require(trefoil_datatype_size(TREFOIL_COMPLEX_DOUBLE) == 16, "trefoil_datatype_size");
    config.ranks = 1;
    config.allgather = alone;
    config.context = &config;
    config.torus = "1";
    check(trefoil_comm_create(&config, &one), "trefoil_comm_create of one rank");
    check(trefoil_comm_destroy(one), "trefoil_comm_destroy");
    config.algorithm = "no-such-algorithm";
    require(trefoil_comm_create(&config, &one) != TREFOIL_SUCCESS, "an unknown algorithm");
    require(strstr(trefoil_last_error(NOTHING), "no-such-algorithm") != NOTHING,
            "trefoil_last_error");
}

static void about_the_job(void) {
    int dimensions = 0, per_node = 0, sizes[4] = {0, 0, 0, 0}, place[4] = {-1, -1, -1, -1};
    const char *source = NOTHING, *backend = NOTHING, *provider = NOTHING, *algorithm = NOTHING;
    check(trefoil_comm_rank(comm, &rank), "trefoil_comm_rank");
    check(trefoil_comm_size(comm, &ranks), "trefoil_comm_size");
    require(ranks > root && ranks <= most_ranks, "the number of ranks");
    check(trefoil_comm_torus(comm, &dimensions, sizes, 4), "trefoil_comm_torus");
    require(dimensions == 1 && sizes[0] == ranks, "the torus");
    check(trefoil_comm_ranks_per_node(comm, &per_node), "trefoil_comm_ranks_per_node");
    require(per_node == 1, "the ranks of a node");
    check(trefoil_comm_torus_source(comm, &source), "trefoil_comm_torus_source");
    require(source[0] != '\0', "the torus's source");
    check(trefoil_comm_failure(comm, &source), "trefoil_comm_failure");
    require(source[0] == '\0', "a communicator that has not failed");
    check(trefoil_comm_coordinates(comm, rank, place, 4), "trefoil_comm_coordinates");
    require(place[0] == rank, "the coordinates");
    check(trefoil_comm_transport(comm, &backend, &provider), "trefoil_comm_transport");
    require(strcmp(backend, "memory") == 0 && provider[0] == '\0', "the transport");
    check(trefoil_comm_set_algorithm(comm, "allreduce", "ring"), "trefoil_comm_set_algorithm");
    check(trefoil_comm_algorithm(comm, "allreduce", 8, TREFOIL_INT32, &algorithm),
          "trefoil_comm_algorithm");
    require(strcmp(algorithm, "ring") == 0, "the algorithm");
    check(trefoil_comm_set_algorithm(comm, "allreduce", "auto"), "trefoil_comm_set_algorithm");
    require(trefoil_comm_set_schedule(comm, "allreduce", "{}") == TREFOIL_ERROR_INVALID_ARGUMENT,
            "a schedule that is none");
    check(trefoil_comm_set_rewire(comm, NOTHING, NOTHING), "trefoil_comm_set_rewire");
}

static void reductions(void) {
    const size_t all = AS(size_t, ranks) * block;
    clear();
    check(trefoil_allreduce(send, recv, all, TREFOIL_INT32, TREFOIL_SUM, comm), "allreduce");
    expect_sums(recv, 0, ranks, "allreduce");
    check(trefoil_allreduce(TREFOIL_IN_PLACE, send, all, TREFOIL_INT32, TREFOIL_SUM, comm),
          "allreduce in place");
    expect_sums(send, 0, ranks, "allreduce in place");

    clear();
    check(trefoil_reduce(send, recv, all, TREFOIL_INT32, TREFOIL_SUM, root, comm), "reduce");
    if (rank == root) {
        expect_sums(recv, 0, ranks, "reduce");
        check(trefoil_reduce(TREFOIL_IN_PLACE, send, all, TREFOIL_INT32, TREFOIL_SUM, root, comm),
              "reduce in place");
        expect_sums(send, 0, ranks, "reduce in place");
    } else {
        check(trefoil_reduce(send, NOTHING, all, TREFOIL_INT32, TREFOIL_SUM, root, comm), "reduce");
    }

    clear();
    check(trefoil_scan(send, recv, all, TREFOIL_INT32, TREFOIL_MAX, comm), "scan");
    require(memcmp(recv, send, all * sizeof recv[0]) == 0, "the own one is the largest so far");
    check(trefoil_exscan(TREFOIL_IN_PLACE, recv, all, TREFOIL_INT32, TREFOIL_MIN, comm), "exscan");
    require(rank > 0 || memcmp(recv, send, all * sizeof recv[0]) == 0, "exscan on rank 0");

    clear();
    check(trefoil_reduce_scatter_block(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm),
          "reduce_scatter_block");
    expect_sums(recv, rank, rank + 1, "reduce_scatter_block");
    check(trefoil_reduce_scatter_block(TREFOIL_IN_PLACE, send, block, TREFOIL_INT32, TREFOIL_SUM,
                                       comm),
          "reduce_scatter_block in place");
    expect_sums(send, rank, rank + 1, "reduce_scatter_block in place");

    clear();
    check(trefoil_reduce_scatter(send, recv, counts, TREFOIL_INT32, TREFOIL_SUM, comm),
          "reduce_scatter");
    expect_sums(recv, rank, rank + 1, "reduce_scatter");
    check(trefoil_reduce_scatter(TREFOIL_IN_PLACE, send, counts, TREFOIL_INT32, TREFOIL_SUM, comm),
          "reduce_scatter in place");
    expect_sums(send, rank, rank + 1, "reduce_scatter in place");
}

/* The later one wins: does not commute. */
static void second(const void* in, void* inout, size_t count, void* context) {
    const int* earlier = AS(const int*, in);
    int* later = AS(int*, inout);
    size_t i = 0;
    (void)context;
    for (i = 0; i < count; ++i) {
        later[i] = later[i] == 0 ? earlier[i] : later[i];
    }
}

static void own_operation(void) {
    trefoil_op_t op = TREFOIL_SUM;
    int mine = rank == ranks - 1 ? 0 : rank + 1, last = 0;
    check(trefoil_op_create(second, NOTHING, sizeof mine, 0, &op), "trefoil_op_create");
    check(trefoil_allreduce(&mine, &last, 1, TREFOIL_ELEMENT, op, comm), "allreduce by its own op");
    require(last == ranks - 1, "the last rank but one is the last with a number");
    mine = 5;
    last = 0;
    check(trefoil_reduce_local(&mine, &last, 1, TREFOIL_ELEMENT, op), "trefoil_reduce_local");
    require(last == 5, "reduce_local by its own op");
    check(trefoil_allreduce(&mine, &last, 1, TREFOIL_INT32, TREFOIL_AVG, comm), "an average");
    require(last == 5, "the average of equal numbers");
    check(trefoil_op_free(op), "trefoil_op_free");
}

static void gathers(void) {
    const size_t own = AS(size_t, rank) * block;
    clear();
    check(trefoil_allgather(send, recv, block, TREFOIL_INT32, comm), "allgather");
    expect_blocks(recv, 0, "allgather");
    memset(recv, 0, sizeof recv);
    memcpy(recv + own, send, block * sizeof recv[0]);
    check(trefoil_allgather(TREFOIL_IN_PLACE, recv, block, TREFOIL_INT32, comm),
          "allgather in place");
    expect_blocks(recv, 0, "allgather in place");

    clear();
    check(trefoil_allgatherv(send, block, recv, counts, NOTHING, TREFOIL_INT32, comm),
          "allgatherv");
    expect_blocks(recv, 0, "allgatherv");
    memset(recv, 0, sizeof recv);
    memcpy(recv + own, send, block * sizeof recv[0]);
    check(trefoil_allgatherv(TREFOIL_IN_PLACE, 0, recv, counts, displacements, TREFOIL_INT32, comm),
          "allgatherv in place");
    expect_blocks(recv, 0, "allgatherv in place");

    clear();
    check(trefoil_gather(send, recv, block, TREFOIL_INT32, root, comm), "gather");
    if (rank == root) {
        expect_blocks(recv, 0, "gather");
        memset(recv, 0, sizeof recv);
        memcpy(recv + own, send, block * sizeof recv[0]);
        check(trefoil_gather(TREFOIL_IN_PLACE, recv, block, TREFOIL_INT32, root, comm),
              "gather in place");
        expect_blocks(recv, 0, "gather in place");
    } else {
        check(trefoil_gather(send, NOTHING, block, TREFOIL_INT32, root, comm), "gather");
    }

    clear();
    check(trefoil_gatherv(send, block, recv, counts, NOTHING, TREFOIL_INT32, root, comm),
          "gatherv");
    if (rank == root) {
        expect_blocks(recv, 0, "gatherv");
        memset(recv, 0, sizeof recv);
        memcpy(recv + own, send, block * sizeof recv[0]);
        check(trefoil_gatherv(TREFOIL_IN_PLACE, 0, recv, counts, displacements, TREFOIL_INT32, root,
                              comm),
              "gatherv in place");
        expect_blocks(recv, 0, "gatherv in place");
    } else {
        check(trefoil_gatherv(send, block, NOTHING, NOTHING, NOTHING, TREFOIL_INT32, root, comm),
              "gatherv");
    }
}

static void scatters(void) {
    clear();
    check(trefoil_bcast(send, block, TREFOIL_INT32, root, comm), "bcast");
    expect_block(send, root, 0, "bcast");

    clear();
    check(trefoil_scatter(send, recv, block, TREFOIL_INT32, root, comm), "scatter");
    expect_block(recv, root, rank, "scatter");
    memset(recv, 0, sizeof recv);
    if (rank == root) {
        check(trefoil_scatter(send, TREFOIL_IN_PLACE, block, TREFOIL_INT32, root, comm),
              "scatter in place");
        expect_block(send + root * block, root, root, "scatter in place");
    } else {
        check(trefoil_scatter(NOTHING, recv, block, TREFOIL_INT32, root, comm), "scatter");
        expect_block(recv, root, rank, "scatter");
    }

    memset(recv, 0, sizeof recv);
    check(trefoil_scatterv(send, counts, displacements, recv, block, TREFOIL_INT32, root, comm),
          "scatterv");
    expect_block(recv, root, rank, "scatterv");
    memset(recv, 0, sizeof recv);
    if (rank == root) {
        check(
            trefoil_scatterv(send, counts, NOTHING, TREFOIL_IN_PLACE, 0, TREFOIL_INT32, root, comm),
            "scatterv in place");
        expect_block(send + root * block, root, root, "scatterv in place");
    } else {
        check(trefoil_scatterv(NOTHING, NOTHING, NOTHING, recv, block, TREFOIL_INT32, root, comm),
              "scatterv");
        expect_block(recv, root, rank, "scatterv");
    }
}

static void exchanges(void) {
    clear();
    check(trefoil_alltoall(send, recv, block, TREFOIL_INT32, comm), "alltoall");
    expect_blocks(recv, rank, "alltoall");
    check(trefoil_alltoall(TREFOIL_IN_PLACE, send, block, TREFOIL_INT32, comm),
          "alltoall in place");
    expect_blocks(send, rank, "alltoall in place");

    clear();
    check(
        trefoil_alltoallv(send, counts, displacements, recv, counts, NOTHING, TREFOIL_INT32, comm),
        "alltoallv");
    expect_blocks(recv, rank, "alltoallv");
    check(trefoil_alltoallv(TREFOIL_IN_PLACE, NOTHING, NOTHING, send, counts, displacements,
                            TREFOIL_INT32, comm),
          "alltoallv in place");
    expect_blocks(send, rank, "alltoallv in place");
}

/* Ends a call that has begun, and a prepared one that is made twice. */
static void end(trefoil_status_t status, trefoil_request_t* request, const char* call) {
    check(status, call);
    check(trefoil_wait(request), call);
    require(*request == TREFOIL_REQUEST_NULL, call);
}
static void twice(trefoil_status_t status, trefoil_request_t* request, const char* call) {
    int i = 0, done = 0;
    check(status, call);
    for (i = 0; i < 2; ++i) {
        check(trefoil_start(request), call);
        for (done = 0; done == 0;) {
            check(trefoil_test(request, &done), call);
        }
    }
    check(trefoil_request_free(request), call);
}

static void requests_that_reduce(void) {
    trefoil_request_t q = TREFOIL_REQUEST_NULL;
    clear();
    end(trefoil_iallreduce(send, recv, most / 4, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
        "iallreduce");
    twice(trefoil_allreduce_init(send, recv, most / 4, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
          "allreduce_init");
    end(trefoil_ireduce(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, root, comm, &q), &q,
        "ireduce");
    twice(trefoil_reduce_init(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, root, comm, &q), &q,
          "reduce_init");
    end(trefoil_iscan(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q, "iscan");
    twice(trefoil_scan_init(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
          "scan_init");
    end(trefoil_iexscan(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q, "iexscan");
    twice(trefoil_exscan_init(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
          "exscan_init");
    end(trefoil_ireduce_scatter_block(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
        "ireduce_scatter_block");
    twice(
        trefoil_reduce_scatter_block_init(send, recv, block, TREFOIL_INT32, TREFOIL_SUM, comm, &q),
        &q, "reduce_scatter_block_init");
    expect_sums(recv, rank, rank + 1, "reduce_scatter_block_init");
    end(trefoil_ireduce_scatter(send, recv, counts, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
        "ireduce_scatter");
    twice(trefoil_reduce_scatter_init(send, recv, counts, TREFOIL_INT32, TREFOIL_SUM, comm, &q), &q,
          "reduce_scatter_init");
    expect_sums(recv, rank, rank + 1, "reduce_scatter_init");
    end(trefoil_ibarrier(comm, &q), &q, "ibarrier");
    twice(trefoil_barrier_init(comm, &q), &q, "barrier_init");
}

static void requests_that_move(void) {
    const size_t own = block;
    trefoil_request_t q = TREFOIL_REQUEST_NULL;
    clear();
    end(trefoil_iallgather(send, recv, block, TREFOIL_INT32, comm, &q), &q, "iallgather");
    twice(trefoil_allgather_init(send, recv, block, TREFOIL_INT32, comm, &q), &q, "allgather_init");
    expect_blocks(recv, 0, "allgather_init");
    end(trefoil_iallgatherv(send, own, recv, counts, displacements, TREFOIL_INT32, comm, &q), &q,
        "iallgatherv");
    twice(trefoil_allgatherv_init(send, own, recv, counts, NOTHING, TREFOIL_INT32, comm, &q), &q,
          "allgatherv_init");
    end(trefoil_ibcast(recv, block, TREFOIL_INT32, root, comm, &q), &q, "ibcast");
    twice(trefoil_bcast_init(recv, block, TREFOIL_INT32, root, comm, &q), &q, "bcast_init");
    end(trefoil_igather(send, recv, block, TREFOIL_INT32, root, comm, &q), &q, "igather");
    twice(trefoil_gather_init(send, recv, block, TREFOIL_INT32, root, comm, &q), &q, "gather_init");
    end(trefoil_igatherv(send, own, recv, counts, displacements, TREFOIL_INT32, root, comm, &q), &q,
        "igatherv");
    twice(trefoil_gatherv_init(send, own, recv, counts, NOTHING, TREFOIL_INT32, root, comm, &q), &q,
          "gatherv_init");
    if (rank == root) {
        expect_blocks(recv, 0, "gatherv_init");
    }
    end(trefoil_iscatter(send, recv, block, TREFOIL_INT32, root, comm, &q), &q, "iscatter");
    twice(trefoil_scatter_init(send, recv, block, TREFOIL_INT32, root, comm, &q), &q,
          "scatter_init");
    end(trefoil_iscatterv(send, counts, displacements, recv, own, TREFOIL_INT32, root, comm, &q),
        &q, "iscatterv");
    twice(trefoil_scatterv_init(send, counts, NOTHING, recv, own, TREFOIL_INT32, root, comm, &q),
          &q, "scatterv_init");
    expect_block(recv, root, rank, "scatterv_init");
    end(trefoil_ialltoall(send, recv, block, TREFOIL_INT32, comm, &q), &q, "ialltoall");
    twice(trefoil_alltoall_init(send, recv, block, TREFOIL_INT32, comm, &q), &q, "alltoall_init");
    end(trefoil_ialltoallv(send, counts, displacements, recv, counts, NOTHING, TREFOIL_INT32, comm,
                           &q),
        &q, "ialltoallv");
    twice(trefoil_alltoallv_init(send, counts, NOTHING, recv, counts, displacements, TREFOIL_INT32,
                                 comm, &q),
          &q, "alltoallv_init");
    expect_blocks(recv, rank, "alltoallv_init");
}

static void several_requests(void) {
    trefoil_request_t q[2] = {TREFOIL_REQUEST_NULL, TREFOIL_REQUEST_NULL};
    int done = 0, index = -1, calls = -1;
    check(trefoil_barrier_init(comm, &q[0]), "barrier_init");
    check(trefoil_barrier_init(comm, &q[1]), "barrier_init");
    check(trefoil_startall(2, q), "startall");
    check(trefoil_progress(comm), "progress");
    check(trefoil_waitany(2, q, &index), "waitany");
    require(index == 0 || index == 1, "waitany");
    check(trefoil_waitall(2, q), "waitall");
    check(trefoil_testall(2, q, &done), "testall");
    require(done == 1, "testall");
    check(trefoil_comm_in_flight(comm, &calls), "comm_in_flight");
    require(calls == 0, "comm_in_flight");
    check(trefoil_request_free(&q[0]), "request_free");
    check(trefoil_request_free(&q[1]), "request_free");
}

static void about_what_was_used(void) {
    trefoil_resources_t held;
    trefoil_port_t sent;
    memset(&held, 0, sizeof held);
    memset(&sent, 0, sizeof sent);
    held.size = sizeof held;
    sent.size = sizeof sent;
    check(trefoil_comm_resources(comm, &held), "trefoil_comm_resources");
    check(trefoil_comm_port(comm, 0, &sent), "trefoil_comm_port");
    require(held.peers > 0 && sent.puts > 0 && sent.nic != NOTHING, "what was used");
}

int main(void) {
    static int polls;
    const char* text = "";
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    int r = 0;
    about_versions();
    about_words();
    config.backend = "memory";
    config.progress = progress;
    config.context = &polls;
    config.port_threads = -1;
    config.timeout_seconds = 30;
    check(trefoil_comm_create(&config, &comm), "trefoil_comm_create");
    about_the_job();
    for (r = 0; r < ranks; ++r) {
        counts[r] = block;
        displacements[r] = AS(size_t, r) * block;
    }
    reductions();
    own_operation();
    gathers();
    scatters();
    exchanges();
    requests_that_reduce();
    requests_that_move();
    several_requests();
    memory_for_buffers(comm, rank);
    exchanges_with_neighbours(comm, rank, ranks);
    communicators_from_others(comm, rank, ranks);
    about_what_was_used();
    check(trefoil_barrier(comm), "trefoil_barrier");
    require(trefoil_comm_failure(comm, &text) == TREFOIL_SUCCESS && text[0] == '\0', "no failure");
    check(trefoil_comm_destroy(comm), "trefoil_comm_destroy");
    printf("rank %d of %d is right\n", rank, ranks);
    return EXIT_SUCCESS;
}
