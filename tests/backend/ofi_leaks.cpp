// SPDX-License-Identifier: BSD-3-Clause
// Tells LeakSanitizer that libfabric leaks by itself: provider net never frees its copy of an
// endpoint's description. The name is the sanitizer's own; without it nobody calls this.
// Visible, because the sanitizer's library looks for it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
    return "leak:libfabric.so";
}
