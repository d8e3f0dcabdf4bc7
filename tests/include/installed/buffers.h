/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of every_function.c that allocates and registers memory. Valid C99 and C++11. */
#ifndef TREFOIL_INSTALLED_BUFFERS_H
#define TREFOIL_INSTALLED_BUFFERS_H

#include <stdio.h>
#include <stdlib.h>
#include <trefoil/trefoil.h>

static inline void memory_for_buffers(trefoil_comm_t comm, int rank) {
    static char own[100];
    void* memory = own;
    if (trefoil_alloc(comm, sizeof own, &memory) != TREFOIL_SUCCESS || memory == own ||
        trefoil_free(comm, memory) != TREFOIL_SUCCESS ||
        trefoil_register(comm, own, sizeof own) != TREFOIL_SUCCESS ||
        trefoil_deregister(comm, own) != TREFOIL_SUCCESS) {
        printf("rank %d: wrong: memory for buffers\n", rank);
        exit(EXIT_FAILURE);
    }
}

#endif
