/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface: collectives on machines wired as a torus. Valid C99 and C++. */
#ifndef TREFOIL_TREFOIL_H
#define TREFOIL_TREFOIL_H

#include <stddef.h>

/* The version of this header; trefoil_version() tells that of the library. Before 1.0 a minor
 * version may change the interface, and the name of the library (its soname) changes with it. */
#define TREFOIL_VERSION_MAJOR 0
#define TREFOIL_VERSION_MINOR 1
#define TREFOIL_VERSION_PATCH 0
/* As one number that grows: major * 10000 + minor * 100 + patch. For #if, too. */
#define TREFOIL_VERSION \
    (TREFOIL_VERSION_MAJOR * 10000 + TREFOIL_VERSION_MINOR * 100 + TREFOIL_VERSION_PATCH)

#if defined(__GNUC__)
#define TREFOIL_API __attribute__((visibility("default")))
#else
#define TREFOIL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns one of these. Nothing was moved when an argument was wrong.
 * When a collective returns an error, nobody uses its buffers any more; what it had to write is
 * undefined. */
typedef enum {
    TREFOIL_SUCCESS = 0,
    TREFOIL_ERROR_INVALID_ARGUMENT = 1,
    TREFOIL_ERROR_UNSUPPORTED = 2, /* correct, but this algorithm, shape, type or backend cannot */
    TREFOIL_ERROR_NOT_FOUND = 3,   /* no algorithm, backend, provider or NIC of that name */
    TREFOIL_ERROR_MISMATCH = 4,    /* the ranks disagree about the call or the configuration */
    TREFOIL_ERROR_TIMEOUT = 5,     /* a peer or a service did not answer in time */
    TREFOIL_ERROR_PEER_LOST = 6,   /* a peer died, left or failed: the communicator has failed */
    TREFOIL_ERROR_BUSY = 7,        /* another thread is inside this communicator */
    TREFOIL_ERROR_OUT_OF_MEMORY = 8,
    TREFOIL_ERROR_SYSTEM = 9,    /* the operating system or a network library failed */
    TREFOIL_ERROR_INTERNAL = 10, /* a defect of Trefoil; please report it */
    TREFOIL_ERROR_ABORTED = 11   /* a rank has ended the communicator (trefoil_comm_abort) */
} trefoil_status_t;

typedef enum {
    TREFOIL_INT8 = 0,
    TREFOIL_INT16,
    TREFOIL_INT32,
    TREFOIL_INT64,
    TREFOIL_UINT8,
    TREFOIL_UINT16,
    TREFOIL_UINT32,
    TREFOIL_UINT64,
    TREFOIL_FLOAT16,  /* IEEE binary16; combined in float, rounded to nearest even */
    TREFOIL_BFLOAT16, /* combined in float, rounded to nearest even */
    TREFOIL_FLOAT,
    TREFOIL_DOUBLE,
    TREFOIL_COMPLEX_FLOAT, /* two floats: real, imaginary */
    TREFOIL_COMPLEX_DOUBLE,
    TREFOIL_FLOAT_INT,     /* a value and an index: struct { float value; int index; } */
    TREFOIL_DOUBLE_INT,    /* struct { double value; int index; } */
    TREFOIL_LONG_INT,      /* struct { long value; int index; } */
    TREFOIL_2INT,          /* struct { int value; int index; } */
    TREFOIL_SHORT_INT,     /* struct { short value; int index; } */
    TREFOIL_ELEMENT = 1000 /* what an operation of trefoil_op_create works on */
} trefoil_datatype_t;

/* Bitwise operations: integers only. Min, max and logical operations: not for complex types.
 * Logical operations give 0 or 1 in the element's type. Pairs take minloc and maxloc, which take
 * nothing else: the value is that of min or max (NaN if there is one), the index the lowest among
 * the elements that have it, where -0 and +0 are equal, and so are all NaN. Over more than one
 * rank, the padding of such pairs becomes zero. The average is for all types that have a sum, in
 * allreduce, reduce and reduce_scatter only: the sum as TREFOIL_SUM makes it (it wraps, or
 * overflows, where that does), then divided once, of integers truncated towards zero. */
typedef enum {
    TREFOIL_SUM = 0,
    TREFOIL_PROD,
    TREFOIL_MIN,
    TREFOIL_MAX,
    TREFOIL_BAND,
    TREFOIL_BOR,
    TREFOIL_BXOR,
    TREFOIL_LAND,
    TREFOIL_LOR,
    TREFOIL_LXOR,
    TREFOIL_MINLOC,
    TREFOIL_MAXLOC,
    TREFOIL_AVG,               /* the sum divided by the number of ranks */
    TREFOIL_OP_CREATED = 1024, /* numbers from here on: trefoil_op_create */
    TREFOIL_OP_LAST = 0x7fffffff
} trefoil_op_t;

/* A communicator: the ranks of one job, wired as a torus. Thread rules: different communicators may
 * be used by different threads at the same time. One thread at a time makes calls on a
 * communicator; a second one gets TREFOIL_ERROR_BUSY and changes nothing; of two at one moment both
 * may get it. Any thread may test and wait for requests (requests.h). All ranks make the same
 * calls in the same order, also those of count 0; ranks whose calls differ get
 * TREFOIL_ERROR_MISMATCH as soon as one message of them meets (TREFOIL_CHECK=1 compares each call
 * before it begins). Not usable in a child after fork(). */
typedef struct trefoil_comm* trefoil_comm_t;

/* The caller's own allgather: copies `bytes` bytes from rank r's `mine` to all + r*bytes of every
 * rank, for all r; returns 0 on success. Called only inside trefoil_comm_create, from the calling
 * thread, and by calls that change circuits (trefoil_comm_set_rewire). */
typedef int (*trefoil_allgather_fn)(const void* mine, void* all, size_t bytes, void* context);

/* The caller's own communication, given a chance while a collective waits: called again and again
 * from the calling thread, at least every few milliseconds. It must return soon. Of Trefoil it may
 * call trefoil_test, and begin nonblocking calls on communicators that come from another
 * trefoil_comm_create than that of the call which waits. An MPI library needs it, because its
 * messages may move only while somebody polls. */
typedef void (*trefoil_progress_fn)(void* context);

/* What Trefoil says besides the errors that its functions return. */
typedef enum {
    TREFOIL_LOG_REPORT = 0,  /* what was asked for, such as a table of times: never left out */
    TREFOIL_LOG_ERROR = 1,   /* what ends the job, where no status can tell it */
    TREFOIL_LOG_WARNING = 2, /* it goes on, but not as it should */
    TREFOIL_LOG_INFO = 3,    /* what was set up and chosen, once */
    TREFOIL_LOG_DEBUG = 4,   /* the same, for each piece */
    TREFOIL_LOG_LAST = 0x7fffffff
} trefoil_log_level_t;

/* The caller's function for what Trefoil says. `topic` is "setup", "choice", "transport", "memory",
 * "call", "trace" or "mpi" (more may come). Both texts live during the call only. It may be called
 * from any thread, by several at a time, but never while a call that goes on as it should moves
 * data. It must not call Trefoil, but for trefoil_log. */
typedef void (*trefoil_log_fn)(trefoil_log_level_t level, const char* topic, const char* text,
                               void* context);

/* Structs with the field `size` may grow at their end in later versions. The caller sets `size` to
 * the sizeof of the struct. A program that was built with an older, shorter one goes on as before;
 * of a newer, longer one the fields that the library does not know must be zero, or it refuses
 * them, and those that it fills in become zero. */

/* Zero or NULL leaves a field to the environment (TREFOIL_*; `trefoil info` lists them), then to
 * the default. Strings are copied. Always start from TREFOIL_CONFIG_INITIALIZER. */
typedef struct {
    size_t size; /* sizeof(trefoil_config_t) */
    int rank;    /* with `allgather`: this rank ... */
    int ranks;   /* ... and how many there are; 0: take both from the environment */
    trefoil_allgather_fn allgather; /* NULL: rendezvous by environment (TREFOIL_STORE) */
    void* context;                  /* handed to allgather and progress */
    const char* torus;              /* "3x3": sizes whose product is `ranks`; "2d": balanced */
    const char* backend;            /* "memory", "ofi" or "ucx" */
    const char* provider;           /* ofi: "net", "tcp;ofi_rxm", "shm", ... */
    const char* algorithm;          /* as TREFOIL_ALGORITHM: "auto", a name, or rules */
    const char* nics;               /* as TREFOIL_NICS: "eth0", "mlx5_*", "+0=eth1,-0=eth2" */
    int port_threads;               /* -1: calling thread only; n > 0: that many; 0: automatic */
    double timeout_seconds;         /* how long a call waits for a peer; 0: default */
    const int* coordinates;         /* this rank's place in the torus, from 0; NULL: row-major, or
                                       as a host file (TREFOIL_HOSTFILE) says. All ranks or none.
                                       Without `torus`, sizes are the largest coordinates + 1 */
    int dimensions;                 /* how many coordinates */
    trefoil_progress_fn progress;   /* called while a call waits; NULL: nothing is */
    const char* log;                /* what is said: as TREFOIL_LOG, "info", "debug,choice" */
    trefoil_log_fn log_function;    /* what gets it; NULL: TREFOIL_LOG_FILE, else stderr */
    void* log_context;              /* handed to log_function */
    const char* token;              /* the job's secret, as TREFOIL_TOKEN; for ranks that meet by
                                       TREFOIL_STORE. Alike on all ranks */
    size_t flags;                   /* TREFOIL_CONFIG_... together, or 0 */
} trefoil_config_t;

/* Buffers of calls in flight are not compared (requests.h): the caller answers for them. */
#define TREFOIL_CONFIG_ALLOW_OVERLAP ((size_t)1)

/* The last dimension of `torus` is the host dimension (3x3x2 is 3x3x2h) where it is the ranks of
 * each of several hosts. Without the flag a torus is what its name says. */
#define TREFOIL_CONFIG_FIND_NODE ((size_t)2)

/* Ranks may be late: who waits for one says so only where TREFOIL_STALL_WARN is set. */
#define TREFOIL_CONFIG_EXPECT_STALLS ((size_t)4)

/* A macro, because C has no other constant initialiser. */
#define TREFOIL_CONFIG_INITIALIZER                                                                 \
    {                                                                                              \
        sizeof(trefoil_config_t), 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0.0, NULL, 0, \
            NULL, NULL, NULL, NULL, NULL, 0                                                        \
    }

/* Collective over all ranks. `config` may be NULL: everything from the environment; without one, a
 * communicator of one rank. On failure *comm is NULL and trefoil_last_error(NULL) tells why. */
TREFOIL_API trefoil_status_t trefoil_comm_create(const trefoil_config_t* config,
                                                 trefoil_comm_t* comm);

/* Frees everything; not collective; NULL is allowed. TREFOIL_ERROR_BUSY while a call is in flight;
 * requests that were not waited for or freed can then only be freed. Peers must not need this rank
 * any more: call trefoil_barrier before, as MPI_Finalize does. Communicators that were made from it
 * (communicators.h) stay. */
TREFOIL_API trefoil_status_t trefoil_comm_destroy(trefoil_comm_t comm);

TREFOIL_API trefoil_status_t trefoil_comm_rank(trefoil_comm_t comm, int* rank);
TREFOIL_API trefoil_status_t trefoil_comm_size(trefoil_comm_t comm, int* ranks);

/* The number of dimensions; and, for sizes != NULL, at most `capacity` sizes. */
TREFOIL_API trefoil_status_t trefoil_comm_torus(trefoil_comm_t comm, int* dimensions, int* sizes,
                                                int capacity);

/* How many ranks a node of the torus has. More than one: the last dimension is those of a node,
 * which exchange data through memory, and its ports are no links; in TREFOIL_TORUS such a torus is
 * written 3x3x2h. */
TREFOIL_API trefoil_status_t trefoil_comm_ranks_per_node(trefoil_comm_t comm, int* ranks);

/* Who has decided on the torus: "TREFOIL_TORUS", "host file ...", ... The string lives as long as
 * the communicator. */
TREFOIL_API trefoil_status_t trefoil_comm_torus_source(trefoil_comm_t comm, const char** source);

/* The coordinates of any rank, one per dimension; `capacity` is the room at `coordinates`. */
TREFOIL_API trefoil_status_t trefoil_comm_coordinates(trefoil_comm_t comm, int rank,
                                                      int* coordinates, int capacity);

/* What carries the data: the backend ("memory", "ofi") and its provider ("net"; "" where the
 * backend has only one, and for one rank). Either place may be NULL. The strings live as long as
 * the communicator. */
TREFOIL_API trefoil_status_t trefoil_comm_transport(trefoil_comm_t comm, const char** backend,
                                                    const char** provider);

/* What this rank holds for its peers. Connections and memory are made when a call first needs them,
 * and only to the ranks that its algorithm talks to. Set `size` to sizeof(trefoil_resources_t). */
typedef struct {
    size_t size;
    int peers;            /* ranks that this one has connections with */
    int connections_in;   /* each has landing memory of TREFOIL_LANDING_BYTES here */
    int connections_out;  /* each ends in landing memory of a peer */
    size_t landing_bytes; /* allocated; the system gives pages only where messages have landed */
    size_t staging_bytes; /* buffers that outgoing messages are gathered in */
    size_t plan_bytes;    /* what is kept of earlier calls, at most TREFOIL_PLAN_BYTES */
    /* What calls have received so far, and how much of that was copied: from landing memory, or to
     * be gathered before it was sent. What is reduced where it has landed is not. */
    size_t received_bytes;
    size_t copied_bytes;
} trefoil_resources_t;
TREFOIL_API trefoil_status_t trefoil_comm_resources(trefoil_comm_t comm,
                                                    trefoil_resources_t* resources);

/* What calls have sent through one port since the communicator was created: port 2j travels in the
 * positive direction of dimension j, port 2j + 1 in the negative one. What ranks of one host read
 * from each other's memory goes through no port. Set `size` to sizeof(trefoil_port_t). */
typedef struct {
    size_t size;
    unsigned long long puts;  /* messages, acknowledgements among them */
    unsigned long long bytes; /* what they carried */
    const char* nic;          /* "" if the transport chose; lives as long as the communicator */
} trefoil_port_t;
TREFOIL_API trefoil_status_t trefoil_comm_port(trefoil_comm_t comm, int port, trefoil_port_t* sent);

/* From now on `collective` ("allreduce", "reduce_scatter", "allgather", "bcast", "reduce",
 * "gather", "scatter", "alltoall", "barrier", "scan", "exscan",
 * "neighbor_allgather", "neighbor_alltoall") uses this algorithm ("auto": chosen
 * per call), and so do its variants ("allgatherv", "reduce_scatter_block", ...), which may be named
 * instead. All ranks must do the same. Modifiers follow the name: "ring:single-port",
 * "swing:block-by-block" (also permute, send, two-transmissions), "spanning-trees:pieces-8" (by
 * default as many as suit the vector). TREFOIL_ERROR_NOT_FOUND offers the nearest names;
 * TREFOIL_ERROR_UNSUPPORTED says why the torus, or alltoallv, does not suit. Either changes
 * nothing. */
TREFOIL_API trefoil_status_t trefoil_comm_set_algorithm(trefoil_comm_t comm, const char* collective,
                                                        const char* algorithm);

/* From now on `collective` runs a schedule of the user's: `json` is what `trefoil plan COLLECTIVE
 * --algorithm NAME --torus SIZES --all-ranks --json` prints, edited or made by another program
 * (docs/schedules.md), with the schedules of all ranks. All ranks must give the same text. It is
 * proved before anything moves: TREFOIL_ERROR_INVALID_ARGUMENT says on every rank what is wrong,
 * TREFOIL_ERROR_UNSUPPORTED that it is for another torus; either changes nothing. Calls with
 * another root than the schedule's are refused. trefoil_comm_algorithm() then tells its name,
 * "schedule-" and a hash, which trefoil_comm_set_algorithm() takes later on; the communicator keeps
 * every schedule that it was given. */
TREFOIL_API trefoil_status_t trefoil_comm_set_schedule(trefoil_comm_t comm, const char* collective,
                                                       const char* json);

/* Circuits that change during a call. A schedule of the user's may name circuits for some of its
 * steps (docs/own-schedules.md). Before such a step all ranks wait for each other, then each calls
 * `rewire` with all circuits that are to stand, then all wait again: nothing is under way
 * meanwhile. Who controls the switches does so in his call, on one rank or on each. When the
 * collective returns, the torus stands again. The ranks wait where they met when the communicator
 * was created (a caller's allgather is called for that, too), as no way of the network may be left.
 * Anything but 0 ends the call on all ranks: TREFOIL_ERROR_SYSTEM names the rank, and the
 * communicator has failed. A call whose schedule names circuits is refused on all ranks
 * (TREFOIL_ERROR_UNSUPPORTED) where a rank has no such function or calls in flight, if it does not
 * block, and on a communicator of other ranks than all. */
typedef struct {
    int from; /* port `port` of this rank ... */
    int port; /* 2 * dimension: the direction of larger coordinates */
    int to;   /* ... is joined to the opposite port of this one, both ways */
} trefoil_circuit_t;

/* Makes these circuits and no others; returns 0 when that is done. It must not call Trefoil. */
typedef int (*trefoil_rewire_fn)(const trefoil_circuit_t* circuits, int count, void* context);

/* From now on `rewire` makes circuits; NULL: nobody does. All ranks do the same.
 * TREFOIL_ERROR_BUSY while calls are in flight. */
TREFOIL_API trefoil_status_t trefoil_comm_set_rewire(trefoil_comm_t comm, trefoil_rewire_fn rewire,
                                                     void* context);

/* The algorithm that a call of `count` elements (per rank, where every rank has a block) would use,
 * with its modifiers, the number of pieces among them, as trefoil_comm_set_algorithm takes it for
 * the same name; "alltoallv", whose counts do not matter, goes by the shape. The string lives as
 * long as the library. */
TREFOIL_API trefoil_status_t trefoil_comm_algorithm(trefoil_comm_t comm, const char* collective,
                                                    size_t count, trefoil_datatype_t datatype,
                                                    const char** algorithm);

/* The collectives. All block until this rank's part is complete: what it receives is there, and
 * what it sends may be reused. All ranks give the same counts, datatype, op and root. Buffers must
 * not overlap unless TREFOIL_IN_PLACE says so; NULL is allowed where nothing is read or written.
 * Counts are elements. Reductions give bitwise identical results wherever the result is on several
 * ranks (unless an algorithm without that trait was asked for by name). */
#ifdef __cplusplus
#define TREFOIL_IN_PLACE (reinterpret_cast<void*>(~static_cast<size_t>(0)))
#else
#define TREFOIL_IN_PLACE ((void*)-1)
#endif

/* recv[i] = op over all ranks of send[i], for `count` elements, on every rank.
 * In place: send is TREFOIL_IN_PLACE, or equal to recv; the input is in recv, and the result
 * replaces it. */
TREFOIL_API trefoil_status_t trefoil_allreduce(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_op_t op,
                                               trefoil_comm_t comm);

/* As allreduce, but only the root receives; recv is ignored elsewhere. In place at the root. */
TREFOIL_API trefoil_status_t trefoil_reduce(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, trefoil_op_t op, int root,
                                            trefoil_comm_t comm);

/* Rank r receives the reduction of what ranks 0 ... r send, in their order. In place as allreduce.
 * TREFOIL_ERROR_UNSUPPORTED where the torus has its ranks in another order than row by row. */
TREFOIL_API trefoil_status_t trefoil_scan(const void* send, void* recv, size_t count,
                                          trefoil_datatype_t datatype, trefoil_op_t op,
                                          trefoil_comm_t comm);

/* The same without the own contribution: rank r > 0 receives that of ranks 0 ... r-1; recv of rank
 * 0 is left as it is, and in place (send == TREFOIL_IN_PLACE) read. */
TREFOIL_API trefoil_status_t trefoil_exscan(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, trefoil_op_t op,
                                            trefoil_comm_t comm);

/* send holds one block of `count` elements per rank; rank r receives block r of the reduction. In
 * place: the input is in recv, and the result at its beginning. */
TREFOIL_API trefoil_status_t trefoil_reduce_scatter_block(const void* send, void* recv,
                                                          size_t count, trefoil_datatype_t datatype,
                                                          trefoil_op_t op, trefoil_comm_t comm);

/* The same with a block of counts[r] elements for rank r, side by side. */
TREFOIL_API trefoil_status_t trefoil_reduce_scatter(const void* send, void* recv,
                                                    const size_t* counts,
                                                    trefoil_datatype_t datatype, trefoil_op_t op,
                                                    trefoil_comm_t comm);

/* Every rank receives all ranks' blocks of `count` elements in rank order. In place (send ==
 * TREFOIL_IN_PLACE): the own block is in recv already. */
TREFOIL_API trefoil_status_t trefoil_allgather(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_comm_t comm);

/* The same with blocks of counts[r] elements at displacements[r] elements from recv (NULL: side by
 * side); blocks must not overlap. send_count is counts[own rank], and ignored in place. */
TREFOIL_API trefoil_status_t trefoil_allgatherv(const void* send, size_t send_count, void* recv,
                                                const size_t* counts, const size_t* displacements,
                                                trefoil_datatype_t datatype, trefoil_comm_t comm);

/* The root's buffer is copied to all. */
TREFOIL_API trefoil_status_t trefoil_bcast(void* buffer, size_t count, trefoil_datatype_t datatype,
                                           int root, trefoil_comm_t comm);

/* The root receives all ranks' blocks of `count` elements in rank order; recv is ignored elsewhere.
 * In place at the root: its own block is in recv already. */
TREFOIL_API trefoil_status_t trefoil_gather(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, int root,
                                            trefoil_comm_t comm);

/* The same with blocks of counts[r] elements at displacements[r] (NULL: side by side); recv, counts
 * and displacements matter at the root only. Tells all ranks the counts first, or that the root's
 * arguments are wrong, which all ranks then report. */
TREFOIL_API trefoil_status_t trefoil_gatherv(const void* send, size_t send_count, void* recv,
                                             const size_t* counts, const size_t* displacements,
                                             trefoil_datatype_t datatype, int root,
                                             trefoil_comm_t comm);

/* The root's send buffer holds a block of `count` elements per rank; rank r receives block r. send
 * is ignored elsewhere. In place at the root: recv == TREFOIL_IN_PLACE leaves its block there. */
TREFOIL_API trefoil_status_t trefoil_scatter(const void* send, void* recv, size_t count,
                                             trefoil_datatype_t datatype, int root,
                                             trefoil_comm_t comm);

/* The same with blocks of counts[r] elements at displacements[r] (NULL: side by side); send, counts
 * and displacements matter at the root only. Tells all ranks the counts first, or that the root's
 * arguments are wrong, which all ranks then report. */
TREFOIL_API trefoil_status_t trefoil_scatterv(const void* send, const size_t* counts,
                                              const size_t* displacements, void* recv,
                                              size_t recv_count, trefoil_datatype_t datatype,
                                              int root, trefoil_comm_t comm);

/* send holds a block of `count` elements for each rank, in rank order; block s of recv comes from
 * rank s, which is this rank's block of its send. In place (send == TREFOIL_IN_PLACE): the blocks
 * are in recv, and are replaced. */
TREFOIL_API trefoil_status_t trefoil_alltoall(const void* send, void* recv, size_t count,
                                              trefoil_datatype_t datatype, trefoil_comm_t comm);

/* The same with send_counts[r] elements for rank r at send_displacements[r] elements from send, and
 * recv_counts[s] elements from rank s at recv_displacements[s] from recv (NULL: side by side);
 * blocks received must not overlap. What a rank sends another must be as much as that one receives
 * from it; as nobody knows all counts, a difference is found, as a rule, when the message arrives
 * (TREFOIL_ERROR_MISMATCH) or fails to (TREFOIL_ERROR_TIMEOUT). In place, the lists of what is
 * received tell what is sent, too, and send's are ignored. Elements of several types in one call:
 * all counts and displacements in bytes, of TREFOIL_UINT8; what is not contiguous must be packed
 * first. */
TREFOIL_API trefoil_status_t trefoil_alltoallv(const void* send, const size_t* send_counts,
                                               const size_t* send_displacements, void* recv,
                                               const size_t* recv_counts,
                                               const size_t* recv_displacements,
                                               trefoil_datatype_t datatype, trefoil_comm_t comm);

/* Exchanges with the neighbours in the torus, of which there are two per dimension: first the one
 * in the negative direction of dimension 0, then the one in the positive direction, and so on, as
 * in MPI's Cartesian topologies. The blocks of a call are in that order. Dimensions wrap round: in
 * one of size 2 both neighbours are the same rank, in one of size 1 the rank itself, and the blocks
 * are two all the same. What a rank sends in the positive direction is what its positive neighbour
 * receives from its negative one. There is no in place. A call takes one step. */

/* send holds `count` elements that all neighbours receive; recv a block from each of them. */
TREFOIL_API trefoil_status_t trefoil_neighbor_allgather(const void* send, void* recv, size_t count,
                                                        trefoil_datatype_t datatype,
                                                        trefoil_comm_t comm);

/* The same with send_count elements, and counts[i] elements from neighbour i at displacements[i]
 * elements from recv (NULL: side by side); blocks must not overlap. Two neighbours must agree on a
 * count, as in trefoil_alltoallv. */
TREFOIL_API trefoil_status_t trefoil_neighbor_allgatherv(const void* send, size_t send_count,
                                                         void* recv, const size_t* counts,
                                                         const size_t* displacements,
                                                         trefoil_datatype_t datatype,
                                                         trefoil_comm_t comm);

/* send holds a block of `count` elements for each neighbour, recv one from each of them. */
TREFOIL_API trefoil_status_t trefoil_neighbor_alltoall(const void* send, void* recv, size_t count,
                                                       trefoil_datatype_t datatype,
                                                       trefoil_comm_t comm);

/* The same with send_counts[i] elements for neighbour i at send_displacements[i] elements from send
 * and recv_counts[i] elements from it at recv_displacements[i] from recv (NULL: side by side);
 * blocks received must not overlap. Two neighbours must agree on a count, as in trefoil_alltoallv.
 */
TREFOIL_API trefoil_status_t trefoil_neighbor_alltoallv(const void* send, const size_t* send_counts,
                                                        const size_t* send_displacements,
                                                        void* recv, const size_t* recv_counts,
                                                        const size_t* recv_displacements,
                                                        trefoil_datatype_t datatype,
                                                        trefoil_comm_t comm);

/* Returns when all ranks have entered. */
TREFOIL_API trefoil_status_t trefoil_barrier(trefoil_comm_t comm);

/* An operation of the caller's, in MPI's convention: inout[i] = in[i] op inout[i] for `count`
 * elements of `element_bytes` bytes, which do not overlap. It must be associative and must not call
 * Trefoil. It gets pieces of the vectors of any length; several of Trefoil's threads may run it at
 * the same time. Elements lie at multiples of the largest power of two, 64 at most, that divides
 * element_bytes, if those of the calls' buffers do. If it does not commute (commutes == 0), only
 * algorithms that reduce in rank order run it: ((rank 0 op rank 1) op rank 2) op ..., so that `in`
 * has what comes from lower ranks.
 * Calls give it the datatype TREFOIL_ELEMENT. All ranks create the same operations. Thread-safe. */
typedef void (*trefoil_reduce_fn)(const void* in, void* inout, size_t count, void* context);
TREFOIL_API trefoil_status_t trefoil_op_create(trefoil_reduce_fn function, void* context,
                                               size_t element_bytes, int commutes,
                                               trefoil_op_t* op);
/* On this rank alone: inout[i] = in[i] op inout[i] for `count` elements, with any operation but
 * TREFOIL_AVG; the two must not overlap. Thread-safe. */
TREFOIL_API trefoil_status_t trefoil_reduce_local(const void* in, void* inout, size_t count,
                                                  trefoil_datatype_t datatype, trefoil_op_t op);
/* TREFOIL_ERROR_BUSY while a call in flight uses it; a blocking call of another thread that does is
 * the caller's mistake. */
TREFOIL_API trefoil_status_t trefoil_op_free(trefoil_op_t op);

/* "success", "invalid argument", ...; never NULL. */
TREFOIL_API const char* trefoil_status_string(trefoil_status_t status);

/* What happened: why `comm` has failed, if it has; else, and for NULL, the reason of the last call
 * of this thread that failed; "" if none did. Valid until this thread fails or asks again. */
TREFOIL_API const char* trefoil_last_error(trefoil_comm_t comm);

/* Says something where Trefoil speaks when it is not about one communicator (TREFOIL_LOG,
 * TREFOIL_LOG_FILE), for libraries on top of Trefoil. `topic` is one of those above. What is not
 * wanted is left out. Thread-safe. */
TREFOIL_API trefoil_status_t trefoil_log(trefoil_log_level_t level, const char* topic,
                                         const char* text);

/* Element size in bytes; 0 for an unknown type. */
TREFOIL_API size_t trefoil_datatype_size(trefoil_datatype_t datatype);

/* The version of the library that is loaded: "0.1.0", and as TREFOIL_VERSION. All ranks must load
 * the same build of it; trefoil_comm_create compares, and tells who differs. */
TREFOIL_API const char* trefoil_version_string(void);
TREFOIL_API int trefoil_version(void);

#ifdef __cplusplus
}
#endif
#include <trefoil/communicators.h>
#include <trefoil/memory.h>
#include <trefoil/requests.h>
#include <trefoil/status.h>
#endif
