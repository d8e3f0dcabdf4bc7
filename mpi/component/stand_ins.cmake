# SPDX-License-Identifier: BSD-3-Clause
# Headers that those of Open MPI include, and that not every installation has. `stand_ins` is the folder of what stands in for them.
set(stand_ins ${CMAKE_CURRENT_BINARY_DIR}/stand_ins)
file(MAKE_DIRECTORY ${stand_ins})

# stand_in(FILE TEXT): unless the file is installed.
function(stand_in file text)
  if(NOT EXISTS ${TREFOIL_OPENMPI_COMPONENTS}/${file})
    file(CONFIGURE OUTPUT ${stand_ins}/${file} CONTENT "${text}" @ONLY)
  endif()
endfunction()

# What is asked of it: a Fortran integer is a C one.
stand_in(ompi/mpi/fortran/base/fint_2_int.h "
#define OMPI_INT_2_FINT(number) (number)
#define OMPI_FINT_2_INT(number) (number)
")

# What Open MPI 5 takes POSIX threads by, of which it installs nothing. Its mutex, its condition and its key are the ones of POSIX.
stand_in(opal/mca/threads/pthreads/threads_pthreads_mutex.h "
#include <pthread.h>
#include <stdbool.h>
#include \"opal/constants.h\"
typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;
#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER PTHREAD_COND_INITIALIZER
#define opal_thread_internal_mutex_init(mutex, recursive) pthread_mutex_init(mutex, NULL)
#define opal_thread_internal_mutex_lock pthread_mutex_lock
#define opal_thread_internal_mutex_trylock pthread_mutex_trylock
#define opal_thread_internal_mutex_unlock pthread_mutex_unlock
#define opal_thread_internal_mutex_destroy pthread_mutex_destroy
#define opal_thread_internal_cond_init(condition) pthread_cond_init(condition, NULL)
#define opal_thread_internal_cond_wait pthread_cond_wait
#define opal_thread_internal_cond_signal pthread_cond_signal
#define opal_thread_internal_cond_broadcast pthread_cond_broadcast
#define opal_thread_internal_cond_destroy pthread_cond_destroy
")
stand_in(opal/mca/threads/pthreads/threads_pthreads_threads.h "
#include <sched.h>
#include \"opal/mca/threads/threads.h\"
static inline void opal_thread_yield(void) { sched_yield(); }
")
stand_in(opal/mca/threads/pthreads/threads_pthreads_tsd.h "
#include <pthread.h>
typedef pthread_key_t opal_tsd_key_t;
")
