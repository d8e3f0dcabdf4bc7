/* SPDX-License-Identifier: BSD-3-Clause */
/* Trefoil's C interface: collectives on machines wired as a torus. Valid C99 and C++. */
#ifndef TREFOIL_TREFOIL_H
#define TREFOIL_TREFOIL_H

#include <stddef.h>

/* The version of this header; trefoil_version() reports that of the library. Before 1.0 a minor
 * version may change the interface, and the name of the library (its soname) changes with it. */
#define TREFOIL_VERSION_MAJOR 0
#define TREFOIL_VERSION_MINOR 1
#define TREFOIL_VERSION_PATCH 0
/* The version of this header as one number that grows: major * 10000 + minor * 100 + patch. For
 * #if, too. */
#define TREFOIL_VERSION \
    (TREFOIL_VERSION_MAJOR * 10000 + TREFOIL_VERSION_MINOR * 100 + TREFOIL_VERSION_PATCH)

/* Marks the functions that the library exports. */
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
 * undefined. docs/troubleshooting.md has a cure for each. */
typedef enum {
    TREFOIL_SUCCESS = 0,                /* the call has done what it was asked for */
    TREFOIL_ERROR_INVALID_ARGUMENT = 1, /* an argument or a variable is wrong: the text names it */
    TREFOIL_ERROR_UNSUPPORTED = 2, /* correct, but this algorithm, shape, type or backend cannot */
    TREFOIL_ERROR_NOT_FOUND = 3,   /* no algorithm, backend, provider or NIC of that name */
    TREFOIL_ERROR_MISMATCH = 4,    /* the ranks disagree about the call or the configuration */
    TREFOIL_ERROR_TIMEOUT = 5,     /* a peer or a service did not answer in time */
    TREFOIL_ERROR_PEER_LOST = 6,   /* a peer died, left or failed: the communicator has failed */
    TREFOIL_ERROR_BUSY = 7,        /* another thread is inside this communicator */
    TREFOIL_ERROR_OUT_OF_MEMORY = 8, /* no memory, or no room in /dev/shm */
    TREFOIL_ERROR_SYSTEM = 9,        /* the operating system or a network library failed */
    TREFOIL_ERROR_INTERNAL = 10,     /* a defect of Trefoil; please report it */
    TREFOIL_ERROR_ABORTED = 11       /* a rank has ended the communicator (trefoil_comm_abort) */
} trefoil_status_t;

/* The type of a call's elements. */
typedef enum {
    TREFOIL_INT8 = 0,       /* int8_t */
    TREFOIL_INT16,          /* int16_t */
    TREFOIL_INT32,          /* int32_t */
    TREFOIL_INT64,          /* int64_t */
    TREFOIL_UINT8,          /* uint8_t */
    TREFOIL_UINT16,         /* uint16_t */
    TREFOIL_UINT32,         /* uint32_t */
    TREFOIL_UINT64,         /* uint64_t */
    TREFOIL_FLOAT16,        /* IEEE binary16; combined in float, rounded to nearest even */
    TREFOIL_BFLOAT16,       /* combined in float, rounded to nearest even */
    TREFOIL_FLOAT,          /* float */
    TREFOIL_DOUBLE,         /* double */
    TREFOIL_COMPLEX_FLOAT,  /* two floats: real, imaginary */
    TREFOIL_COMPLEX_DOUBLE, /* two doubles: real, imaginary */
    TREFOIL_FLOAT_INT,      /* a value and an index: struct { float value; int index; } */
    TREFOIL_DOUBLE_INT,     /* struct { double value; int index; } */
    TREFOIL_LONG_INT,       /* struct { long value; int index; } */
    TREFOIL_2INT,           /* struct { int value; int index; } */
    TREFOIL_SHORT_INT,      /* struct { short value; int index; } */
    TREFOIL_ELEMENT = 1000  /* what an operation of trefoil_op_create works on */
} trefoil_datatype_t;

/* How elements are combined. Bitwise operations: integers only. Min, max and logical operations:
 * not for complex types. Logical operations give 0 or 1 in the element's type. Pairs take minloc
 * and maxloc, which take nothing else: the value is that of min or max (NaN if there is one), the
 * index the lowest among the elements that have it, where -0 and +0 are equal, and so are all NaN.
 * Over more than one rank, the padding of such pairs becomes zero. The average is for all types
 * that have a sum, in allreduce, reduce and reduce_scatter only: the sum as TREFOIL_SUM makes it
 * (it wraps, or overflows, where that does), then divided once, of integers truncated towards zero.
 */
typedef enum {
    TREFOIL_SUM = 0,             /* a + b */
    TREFOIL_PROD,                /* a * b */
    TREFOIL_MIN,                 /* the smaller one; NaN if there is one */
    TREFOIL_MAX,                 /* the larger one; NaN if there is one */
    TREFOIL_BAND,                /* a & b */
    TREFOIL_BOR,                 /* a | b */
    TREFOIL_BXOR,                /* a ^ b */
    TREFOIL_LAND,                /* a && b */
    TREFOIL_LOR,                 /* a || b */
    TREFOIL_LXOR,                /* !a != !b */
    TREFOIL_MINLOC,              /* the smallest value and its index */
    TREFOIL_MAXLOC,              /* the largest value and its index */
    TREFOIL_AVG,                 /* the sum divided by the number of ranks */
    TREFOIL_OP_CREATED = 1024,   /* further numbers: trefoil_op_create */
    TREFOIL_OP_LAST = 0x7fffffff /* no operation: makes the type as wide as int */
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
 * from the calling thread, at least every few milliseconds. It must return soon. It may call
 * trefoil_test, and begin nonblocking calls on communicators from another trefoil_comm_create than
 * that of the waiting call, but no other function of Trefoil. An MPI library needs it, because its
 * messages may move only while somebody polls. */
typedef void (*trefoil_progress_fn)(void* context);

/* The levels of the log, beside the errors that functions return. */
typedef enum {
    TREFOIL_LOG_REPORT = 0,       /* what was asked for, such as a table of times: never left out */
    TREFOIL_LOG_ERROR = 1,        /* what ends the job, where no status can report it */
    TREFOIL_LOG_WARNING = 2,      /* it goes on, but not as it should */
    TREFOIL_LOG_INFO = 3,         /* what was set up and chosen, once */
    TREFOIL_LOG_DEBUG = 4,        /* the same, for each piece */
    TREFOIL_LOG_LAST = 0x7fffffff /* no level: makes the type as wide as int */
} trefoil_log_level_t;

/* The caller's function for the log. `topic` is "setup", "choice", "transport", "memory", "call",
 * "trace" or "mpi" (more may come). Both texts live during the call only. It may be called from any
 * thread, by several at a time, but never while a call that goes on as it should moves data. It
 * must not call Trefoil, except trefoil_log. */
typedef void (*trefoil_log_fn)(trefoil_log_level_t level, const char* topic, const char* text,
                               void* context);

/* The settings of a communicator. Zero or NULL leaves a field to the environment (TREFOIL_*;
 * `trefoil info` lists them), then to the default. Strings are copied. Always start from
 * TREFOIL_CONFIG_INITIALIZER.
 *
 * Structs with the field `size` may grow at their end in later versions. The caller sets `size` to
 * the sizeof of the struct. A program that was built with an older, shorter one goes on as before;
 * of a newer, longer one the fields that the library does not know must be zero, or it refuses
 * them, and those that it fills in become zero. */
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
    const char* log;                /* what is logged: as TREFOIL_LOG, "info", "debug,choice" */
    trefoil_log_fn log_function;    /* what gets it; NULL: TREFOIL_LOG_FILE, else stderr */
    void* log_context;              /* handed to log_function */
    const char* token;              /* the job's secret, as TREFOIL_TOKEN; for ranks that meet by
                                       TREFOIL_STORE. Alike on all ranks */
    size_t flags;                   /* TREFOIL_CONFIG_... together, or 0 */
} trefoil_config_t;

/* A flag of trefoil_config_t: buffers of calls in flight are not compared (requests.h): the caller
 * answers for them. For libraries whose users may overlap buffers, such as a call that sends the
 * buffer into which a later one receives. */
#define TREFOIL_CONFIG_ALLOW_OVERLAP ((size_t)1)

/* A flag of trefoil_config_t: the last dimension of `torus` is the host dimension (3x3x2 is 3x3x2h)
 * if it holds the ranks of each of several hosts; otherwise it is a dimension like others. Without
 * the flag a torus is what its name says. */
#define TREFOIL_CONFIG_FIND_NODE ((size_t)2)

/* A flag of trefoil_config_t: ranks may be late, so a call that waits for one reports that only
 * where TREFOIL_STALL_WARN is set. */
#define TREFOIL_CONFIG_EXPECT_STALLS ((size_t)4)

/* The initial value of a trefoil_config_t: only its size is set. */
#define TREFOIL_CONFIG_INITIALIZER                                                                 \
    {                                                                                              \
        sizeof(trefoil_config_t), 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0.0, NULL, 0, \
            NULL, NULL, NULL, NULL, NULL, 0                                                        \
    }

/* Makes a communicator of all ranks, each of which calls this. `config` may be NULL: everything
 * from the environment; without one, a communicator of one rank. On failure *comm is NULL and
 * trefoil_last_error(NULL) has the reason. */
TREFOIL_API trefoil_status_t trefoil_comm_create(const trefoil_config_t* config,
                                                 trefoil_comm_t* comm);

/* Frees a communicator; not collective; NULL is allowed. TREFOIL_ERROR_BUSY while a call is in
 * flight; requests that were not waited for or freed can then only be freed. Peers must not need
 * this rank any more: call trefoil_barrier before, as MPI_Finalize does. Communicators that were
 * made from it (communicators.h) stay. */
TREFOIL_API trefoil_status_t trefoil_comm_destroy(trefoil_comm_t comm);

/* This rank's number, from 0; and how many ranks there are. Thread-safe. */
TREFOIL_API trefoil_status_t trefoil_comm_rank(trefoil_comm_t comm, int* rank);
TREFOIL_API trefoil_status_t trefoil_comm_size(trefoil_comm_t comm, int* ranks);

/* The number of dimensions of the torus; and, for sizes != NULL, at most `capacity` sizes. */
TREFOIL_API trefoil_status_t trefoil_comm_torus(trefoil_comm_t comm, int* dimensions, int* sizes,
                                                int capacity);

/* How many ranks a node of the torus has. If there are more than one, the last dimension is the
 * node, whose ranks exchange data through memory; in TREFOIL_TORUS such a torus is written
 * 3x3x2h. */
TREFOIL_API trefoil_status_t trefoil_comm_ranks_per_node(trefoil_comm_t comm, int* ranks);

/* The source of the torus: "TREFOIL_TORUS", "host file ...", ... The string lives as long as the
 * communicator. */
TREFOIL_API trefoil_status_t trefoil_comm_torus_source(trefoil_comm_t comm, const char** source);

/* The coordinates of any rank, one per dimension; `capacity` is the room at `coordinates`. */
TREFOIL_API trefoil_status_t trefoil_comm_coordinates(trefoil_comm_t comm, int rank,
                                                      int* coordinates, int capacity);

/* The transport: the backend ("memory", "ofi") and its provider ("net"; "" where the backend has
 * only one, and for one rank). Either place may be NULL. The strings live as long as the
 * communicator. */
TREFOIL_API trefoil_status_t trefoil_comm_transport(trefoil_comm_t comm, const char** backend,
                                                    const char** provider);

/* The resources that this rank holds for its peers. Connections and memory are made when a call
 * first needs them, and only to the ranks that its algorithm talks to. Set `size` to
 * sizeof(trefoil_resources_t). */
typedef struct {
    size_t size;           /* sizeof(trefoil_resources_t) */
    int peers;             /* ranks that this one has connections with */
    int connections_in;    /* each has landing memory of TREFOIL_LANDING_BYTES here */
    int connections_out;   /* each ends in landing memory of a peer */
    size_t landing_bytes;  /* allocated; the system gives pages only where messages have landed */
    size_t staging_bytes;  /* buffers that outgoing messages are gathered in */
    size_t plan_bytes;     /* what is kept of earlier calls, at most TREFOIL_PLAN_BYTES */
    size_t received_bytes; /* what calls have received so far */
    size_t copied_bytes;   /* of that, copied: from landing memory, or to be gathered before it was
                              sent; without data that is reduced where it landed */
} trefoil_resources_t;
TREFOIL_API trefoil_status_t trefoil_comm_resources(trefoil_comm_t comm,
                                                    trefoil_resources_t* resources);

/* The traffic through one port since the communicator was created: port 2j travels in the positive
 * direction of dimension j, port 2j + 1 in the negative one. Ranks of one host that read each
 * other's memory use no port for it. Set `size` to sizeof(trefoil_port_t). */
typedef struct {
    size_t size;              /* sizeof(trefoil_port_t) */
    unsigned long long puts;  /* messages, acknowledgements among them */
    unsigned long long bytes; /* what they carried */
    const char* nic;          /* "" if the transport chose; lives as long as the communicator */
} trefoil_port_t;
TREFOIL_API trefoil_status_t trefoil_comm_port(trefoil_comm_t comm, int port, trefoil_port_t* sent);

/* Sets the algorithm of a collective. From now on `collective` ("allreduce", "reduce_scatter",
 * "allgather", "bcast", "reduce", "gather", "scatter", "alltoall", "barrier", "scan", "exscan",
 * "neighbor_allgather", "neighbor_alltoall") uses this algorithm ("auto": chosen
 * per call), and so do its variants ("allgatherv", "reduce_scatter_block", ...), which may be named
 * instead. All ranks must do the same. Modifiers follow the name: "ring:single-port",
 * "swing:block-by-block" (also permute, send, two-transmissions), "spanning-trees:pieces-8" (by
 * default as many as suit the vector). TREFOIL_ERROR_NOT_FOUND offers the nearest names;
 * TREFOIL_ERROR_UNSUPPORTED says why the torus, or alltoallv, does not suit. Either changes
 * nothing. */
TREFOIL_API trefoil_status_t trefoil_comm_set_algorithm(trefoil_comm_t comm, const char* collective,
                                                        const char* algorithm);

/* Sets a schedule for a collective. From now on `collective` runs a user schedule: `json` is what
 * `trefoil plan COLLECTIVE --algorithm NAME --torus SIZES --all-ranks --json` prints, edited or
 * made by another program (docs/schedules.md), with the schedules of all ranks. All ranks must give
 * the same text. It is verified before anything moves: TREFOIL_ERROR_INVALID_ARGUMENT says on every
 * rank what is wrong, TREFOIL_ERROR_UNSUPPORTED that it is for another torus; either changes
 * nothing. Calls with another root than the schedule's are refused. trefoil_comm_algorithm() then
 * returns its name, "schedule-" and a hash, which trefoil_comm_set_algorithm() takes later on; the
 * communicator keeps every schedule that it was given. */
TREFOIL_API trefoil_status_t trefoil_comm_set_schedule(trefoil_comm_t comm, const char* collective,
                                                       const char* json);

/* Circuits that change during a call. A user schedule may name circuits for some of its steps
 * (docs/own-schedules.md). Before such a step all ranks wait for each other, then each calls
 * `rewire` with all circuits that are needed, then all wait again: nothing is under way meanwhile.
 * The rank that controls the switches, or each of them, acts in this call. When the collective
 * returns, the torus is wired again. The ranks wait where they met when the communicator was
 * created (a caller's allgather is called for that, too), because the network may be divided.
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

/* Sets the function that makes circuits; NULL: none. All ranks do the same. TREFOIL_ERROR_BUSY
 * while calls are in flight. */
TREFOIL_API trefoil_status_t trefoil_comm_set_rewire(trefoil_comm_t comm, trefoil_rewire_fn rewire,
                                                     void* context);

/* The algorithm that a call of `count` elements (per rank, where every rank has a block) would use,
 * with its modifiers, the number of pieces among them, as trefoil_comm_set_algorithm takes it for
 * the same name; "alltoallv", whose counts do not matter, depends on the shape. The string lives as
 * long as the library. */
TREFOIL_API trefoil_status_t trefoil_comm_algorithm(trefoil_comm_t comm, const char* collective,
                                                    size_t count, trefoil_datatype_t datatype,
                                                    const char** algorithm);

/* A user-defined operation, in MPI's convention: inout[i] = in[i] op inout[i] for `count` elements
 * of `element_bytes` bytes, which do not overlap. It must be associative and must not call Trefoil.
 * It gets slices of the vectors of any length; several threads may run it at the same time.
 * Elements lie at multiples of the largest power of two, 64 at most, that divides element_bytes, if
 * those of the calls' buffers do. If it does not commute (commutes == 0), only algorithms that
 * reduce in rank order run it: ((rank 0 op rank 1) op rank 2) op ..., so that `in` has what comes
 * from lower ranks. Calls give it the datatype TREFOIL_ELEMENT. All ranks create the same
 * operations. Thread-safe. */
typedef void (*trefoil_reduce_fn)(const void* in, void* inout, size_t count, void* context);
TREFOIL_API trefoil_status_t trefoil_op_create(trefoil_reduce_fn function, void* context,
                                               size_t element_bytes, int commutes,
                                               trefoil_op_t* op);

/* On this rank alone: inout[i] = in[i] op inout[i] for `count` elements, with any operation but
 * TREFOIL_AVG; the two must not overlap. Thread-safe. */
TREFOIL_API trefoil_status_t trefoil_reduce_local(const void* in, void* inout, size_t count,
                                                  trefoil_datatype_t datatype, trefoil_op_t op);

/* Frees an operation of trefoil_op_create. TREFOIL_ERROR_BUSY while a call in flight uses it; a
 * blocking call of another thread that does is the caller's mistake. */
TREFOIL_API trefoil_status_t trefoil_op_free(trefoil_op_t op);

/* The text of a status: "success", "invalid argument", ...; never NULL. */
TREFOIL_API const char* trefoil_status_string(trefoil_status_t status);

/* The reason why `comm` has failed, if it has; otherwise, and for NULL, the reason of the last call
 * of this thread that failed; "" if none did. Valid until this thread fails or asks again. */
TREFOIL_API const char* trefoil_last_error(trefoil_comm_t comm);

/* The evidence against the culprit of an error. */
typedef enum {
    TREFOIL_EVIDENCE_NONE = 0,        /* no rank is known to be at fault */
    TREFOIL_EVIDENCE_OWN = 1,         /* the culprit found it itself: memory, files, libraries */
    TREFOIL_EVIDENCE_ENDED = 2,       /* its process has ended */
    TREFOIL_EVIDENCE_STOPPED = 3,     /* its process is stopped */
    TREFOIL_EVIDENCE_LEFT = 4,        /* it destroyed its communicator, or disconnected */
    TREFOIL_EVIDENCE_UNREACHABLE = 5, /* messages to it fail */
    TREFOIL_EVIDENCE_SILENT = 6,      /* nothing comes from it */
    TREFOIL_EVIDENCE_DISAGREES = 7,   /* it makes another call, or is configured differently */
    TREFOIL_EVIDENCE_ABORTED = 8      /* it called trefoil_comm_abort */
} trefoil_evidence_t;

/* Why a call has failed, for programs that decide by it. Ranks are those of the communicator, or of
 * the first one where a communicator was being made. */
typedef struct {
    size_t size;             /* sizeof(trefoil_cause_t) */
    double since;            /* seconds since 1970, by the finder's clock, at which it was noticed
                              * or from which nothing moved; 0: not known */
    trefoil_status_t status; /* TREFOIL_SUCCESS: nothing has failed */
    int culprit;             /* the rank at fault; -1: not known */
    trefoil_evidence_t evidence; /* against the culprit */
    int finder;                  /* the rank that noticed it; -1: this one, or not known */
    int before;   /* 1: the call failed because its communicator had failed in an earlier one */
    int reserved; /* 0 */
} trefoil_cause_t;

/* As trefoil_last_error, as fields; `before` is that of this thread's last call alone. Every rank
 * names the same culprit where reports could reach it. */
TREFOIL_API trefoil_status_t trefoil_last_cause(trefoil_comm_t comm, trefoil_cause_t* cause);

/* Writes to the log of the process (TREFOIL_LOG, TREFOIL_LOG_FILE), for libraries on top of
 * Trefoil. `topic` is one of those of trefoil_log_fn. Levels and topics that are not wanted are
 * left out. Thread-safe. */
TREFOIL_API trefoil_status_t trefoil_log(trefoil_log_level_t level, const char* topic,
                                         const char* text);

/* Element size in bytes; 0 for an unknown type. */
TREFOIL_API size_t trefoil_datatype_size(trefoil_datatype_t datatype);

/* The version of the library that is loaded: "0.1.0", and as TREFOIL_VERSION. All ranks must load
 * the same build of it; trefoil_comm_create compares, and names ranks that differ. */
TREFOIL_API const char* trefoil_version_string(void);
TREFOIL_API int trefoil_version(void);

#ifdef __cplusplus
}
#endif
#include <trefoil/collectives.h>
#include <trefoil/communicators.h>
#include <trefoil/memory.h>
#include <trefoil/requests.h>
#include <trefoil/status.h>
#endif
