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
    ++fake_questions;
    if (fake_end == 0 && getenv("FAKE_DEVICE_ALL") != NULL) {
        fake_begin = 1;
        fake_end = UINTPTR_MAX;
    }
    if (address < fake_begin || address >= fake_end) {
        fake_last_error = invalid_value; /* as of all memory that the runtime has not made */
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
    return fake_last_error;
}

int FAKE_CLEAR(void) {
    const int error = fake_last_error;
    fake_last_error = 0;
    return error;
}
