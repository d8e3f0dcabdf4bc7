// SPDX-License-Identifier: BSD-3-Clause
// The product's files that the executor is built on, over checking atomics. They are compiled once,
// for all scenarios.
#include "tests/weak_order/checked_atomics.hpp"
// The product's files, over them.
#include "threads/connections/cards.cpp"
#include "threads/connections/landing_arena.cpp"
#include "threads/connections/links.cpp"
#include "threads/connections/post_arrivals.cpp"
#include "threads/connections/post_office.cpp"
#include "threads/connections/record.cpp"
#include "threads/connections/wiring.cpp"
#include "threads/connections/wiring_arrivals.cpp"
#include "threads/timeline/trace.cpp"
