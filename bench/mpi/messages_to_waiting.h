/* SPDX-License-Identifier: BSD-3-Clause */
/* Of mpi_programs.c: messages among ranks of which some wait in a collective. */
#pragma once

#include <mpi.h>

#include "bench/mpi/plain_collectives.h"

static void ssend_to_waiting(int calls) {
    static MPI_Request requests[2048];
    char word[64] = {5};
    for (int i = 0; rank == 0 && i < calls; ++i) {
        MPI_Irecv(in + i * 64, 64, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; rank == 1 && i < calls; ++i) {
        MPI_Ssend(word, 64, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
        expect(in[64 * calls - 64] == 5, "a message");
    }
}
static void flood_to_waiting(int calls) {
    enum { MESSAGES = 1000 };
    for (int i = 0; i < calls; ++i) {
        if (rank == 0) {
            static MPI_Request requests[MESSAGES];
            static char words[MESSAGES][64];
            for (int m = 0; m < MESSAGES; ++m) {
                MPI_Irecv(words[m], 64, MPI_BYTE, 1 + m % (ranks - 1), m, MPI_COMM_WORLD,
                          &requests[m]);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
        } else {
            char word[64] = {1};
            for (int m = rank - 1; m < MESSAGES; m += ranks - 1) {
                MPI_Send(word, 64, MPI_BYTE, 0, m, MPI_COMM_WORLD);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}
static void rendezvous_while_waiting(int calls) {
    enum { BYTES = 256 * 1024 };
    for (int i = 0; i < calls; ++i) {
        MPI_Request request;
        if (rank == 0) {
            out[BYTES - 1] = 9;
            MPI_Isend(out, BYTES, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            if (rank == 1) {
                MPI_Recv(in, BYTES, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                expect(in[BYTES - 1] == 9, "a long message");
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}
static void task_farm(int calls) {
    int task = 0;
    if (rank == 0) {
        int busy = ranks - 1, next = 0;
        while (busy > 0) {
            MPI_Status status;
            MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
            task = next < calls ? next++ : -1;
            busy -= task < 0;
            MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 5, MPI_COMM_WORLD);
        }
    } else {
        while (task >= 0) {
            MPI_Send(&task, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
/* A sparse exchange whose receivers do not know their senders (Hoefler, Siebert, Lumsdaine 2010).
 */
static void sparse_exchange(int calls) {
    for (int i = 0; i < calls; ++i) {
        int mine = rank, got = 0, all_sent = 0, arrived = 0;
        MPI_Request sending, barrier_request = MPI_REQUEST_NULL;
        MPI_Issend(&mine, 1, MPI_INT, (rank + 1) % ranks, 100 + i % 2, MPI_COMM_WORLD, &sending);
        for (int done = 0; !done;) {
            int there = 0, sent = 0;
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, 100 + i % 2, MPI_COMM_WORLD, &there, &status);
            if (there) {
                MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 100 + i % 2, MPI_COMM_WORLD, &status);
                ++arrived;
            }
            if (all_sent) {
                MPI_Test(&barrier_request, &done, MPI_STATUS_IGNORE);
            } else {
                MPI_Test(&sending, &sent, MPI_STATUS_IGNORE);
                if (sent) {
                    MPI_Ibarrier(MPI_COMM_WORLD, &barrier_request);
                    all_sent = 1;
                }
            }
        }
        expect(arrived == 1 && got == (rank + ranks - 1) % ranks, "a sparse exchange");
    }
}
static void halo_and_norm(int calls) {
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    double norm = 1, sum = 0;
    for (int i = 0; i < calls; ++i) {
        MPI_Sendrecv(out, 4096, MPI_BYTE, next, 6, in, 4096, MPI_BYTE, before, 6, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == ranks, "a norm");
    }
}
