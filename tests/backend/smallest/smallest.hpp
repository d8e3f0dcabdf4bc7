// SPDX-License-Identifier: BSD-3-Clause
// Backend "smallest": the least that a transport can be, as docs/transports.md explains it. Its
// ranks are threads of one process.
#pragma once

#include "backend/ports/transport.hpp"

namespace trefoil::smallest {

/// A row for register_transport(); a program that links registration.cpp has it registered.
Transport smallest_transport();

}  // namespace trefoil::smallest
