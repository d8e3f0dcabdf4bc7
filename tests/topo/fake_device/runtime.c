/* SPDX-License-Identifier: BSD-3-Clause */
/* A device runtime that is none: FAKE_QUERY says "device" of the one range that a test names, or of
 * everything, if the environment has FAKE_DEVICE_ALL. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { memory_type = 2, is_managed = 8, invalid_value = 1 };

uintptr_t fake_begin = 0, fake_end = 0;
int fake_is_managed = 0;
int fake_questions = 0;
int fake_last_error = 0;

int FAKE_QUERY(void* data, int attribute, uintptr_t address);
int FAKE_PEEK(void);
int FAKE_CLEAR(void);

int FAKE_QUERY(void* data, int attribute, uintptr_t address) {
    /* Ranks that are threads ask at the same time. */
    __atomic_add_fetch(&fake_questions, 1, __ATOMIC_RELAXED);
    const int all = fake_end == 0 && getenv("FAKE_DEVICE_ALL") != NULL;
    const int is_of_device = all ? address != 0 : address >= fake_begin && address < fake_end;
    if (!is_of_device) {
        /* as of all memory that the runtime has not made */
        __atomic_store_n(&fake_last_error, invalid_value, __ATOMIC_RELAXED);
        return invalid_value;
    }
    if (attribute == memory_type) {
        *(unsigned*)data = FAKE_DEVICE;
        return 0;
    }
    if (attribute == is_managed) {
        *(unsigned*)data = (unsigned)fake_is_managed;
        return 0;
    }
    return invalid_value;
}

int FAKE_PEEK(void) {
    return __atomic_load_n(&fake_last_error, __ATOMIC_RELAXED);
}

int FAKE_CLEAR(void) {
    return __atomic_exchange_n(&fake_last_error, 0, __ATOMIC_RELAXED);
}
