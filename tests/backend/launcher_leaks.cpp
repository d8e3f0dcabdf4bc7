// SPDX-License-Identifier: BSD-3-Clause
// Tells LeakSanitizer what is no leak of ours: libpmix never frees some of what it allocates, and a
// child after fork() has not the thread on whose stack the store's server keeps its lists. The name
// is the sanitizer's own; without it nobody calls this. Visible, because the sanitizer looks for
// it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
    return "leak:libpmix.so\nleak:trefoil::StoreServer::Implementation::run";
}
