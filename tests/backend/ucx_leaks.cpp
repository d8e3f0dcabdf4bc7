// SPDX-License-Identifier: BSD-3-Clause
// Tells LeakSanitizer that UCX leaks by itself when a worker goes whose peer never answered. Only
// the test of such ends needs it. The name is the sanitizer's own; without it nobody calls this.
// Visible, because the sanitizer's library looks for it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
    return "leak:libucs.so";
}
