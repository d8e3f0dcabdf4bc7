/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was built when the structs of trefoil.h were shorter; it has its own copy of them.
 */
#include <stddef.h>
#include <stdio.h>

typedef struct trefoil_comm* trefoil_comm_t;

typedef struct {
    size_t size;
    int rank;
    int ranks;
    int (*allgather)(const void* mine, void* all, size_t bytes, void* context);
    void* context;
    const char* torus;
    const char* backend;
} trefoil_config_t; /* no provider and what follows */

typedef struct {
    size_t size;
    int peers;
    int connections_in;
    int connections_out;
    size_t landing_bytes;
} trefoil_resources_t; /* no staging_bytes */

typedef struct {
    size_t size;
    unsigned long long puts;
    unsigned long long bytes;
} trefoil_port_t; /* no nic */

int trefoil_comm_create(const trefoil_config_t* config, trefoil_comm_t* comm);
int trefoil_comm_destroy(trefoil_comm_t comm);
int trefoil_comm_rank(trefoil_comm_t comm, int* rank);
int trefoil_comm_size(trefoil_comm_t comm, int* ranks);
int trefoil_comm_resources(trefoil_comm_t comm, trefoil_resources_t* resources);
int trefoil_comm_port(trefoil_comm_t comm, int port, trefoil_port_t* sent);
int trefoil_allreduce(const void* send, void* recv, size_t count, int datatype, int op,
                      trefoil_comm_t comm);
int trefoil_barrier(trefoil_comm_t comm);
const char* trefoil_last_error(trefoil_comm_t comm);

enum { INT32 = 2, SUM = 0 };

/* What follows the structs in memory must be neither read nor written. */
static struct {
    trefoil_config_t config;
    const char* beyond[32];
} asked;
static struct {
    trefoil_resources_t resources;
    size_t beyond;
} held;
static struct {
    trefoil_port_t port;
    size_t beyond;
} sent;

static int failed(const char* what) {
    printf("%s failed: %s\n", what, trefoil_last_error(NULL));
    return 1;
}

int main(void) {
    trefoil_comm_t comm = NULL;
    int rank = 0, ranks = 0, sum = 0, i = 0;
    unsigned long long puts_of_both = 0;
    asked.config.size = sizeof asked.config;
    asked.config.backend = "memory";
    for (i = 0; i < 32; ++i) {
        asked.beyond[i] = "nothing that any field may be";
    }
    held.resources.size = sizeof held.resources;
    sent.port.size = sizeof sent.port;
    held.beyond = sent.beyond = 77;
    if (trefoil_comm_create(&asked.config, &comm) != 0) {
        return failed("trefoil_comm_create");
    }
    if (trefoil_comm_rank(comm, &rank) != 0 || trefoil_comm_size(comm, &ranks) != 0) {
        return failed("trefoil_comm_size");
    }
    rank += 1;
    if (trefoil_allreduce(&rank, &sum, 1, INT32, SUM, comm) != 0) {
        return failed("trefoil_allreduce");
    }
    if (trefoil_comm_resources(comm, &held.resources) != 0) {
        return failed("trefoil_comm_resources");
    }
    for (i = 0; i < 2; ++i) { /* a ring has two ports */
        if (trefoil_comm_port(comm, i, &sent.port) != 0) {
            return failed("trefoil_comm_port");
        }
        puts_of_both += sent.port.puts;
    }
    if (sum != ranks * (ranks + 1) / 2 || held.resources.peers == 0 || puts_of_both == 0 ||
        held.resources.landing_bytes == 0 || held.beyond != 77 || sent.beyond != 77) {
        printf("wrong: sum %d, %d peers, %llu puts\n", sum, held.resources.peers, puts_of_both);
        return 1;
    }
    if (trefoil_barrier(comm) != 0 || trefoil_comm_destroy(comm) != 0) {
        return failed("the end");
    }
    printf("rank %d of %d is right\n", rank - 1, ranks);
    return 0;
}
