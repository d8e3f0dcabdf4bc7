// SPDX-License-Identifier: BSD-3-Clause
// Tells LeakSanitizer what is no leak of ours: provider net of libfabric never frees its copy of an
// endpoint's description, UCX leaks when a worker goes whose peer never answered, libpmix never
// frees some of what it allocates, and a child after fork() has not the thread on whose stack the
// store's server keeps its lists, nor that of a process manager of the tests. The name is the
// sanitizer's own; without it nobody calls this. Visible, because the sanitizer's library looks for
// it.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
    return "leak:libfabric.so\nleak:libucs.so\nleak:libpmix.so\n"
           "leak:trefoil::StoreServer::Implementation::run\n"
           "leak:trefoil::test::FakeProcessManager::serve";
}
