// SPDX-License-Identifier: BSD-3-Clause
// Backend "ofi": ports as libfabric endpoints, whose puts are remote writes that carry completion
// data.
//
// What it needs of a provider (backend/ofi/discovery.cpp asks for it and says what one lacks):
//
//  - reliable datagram endpoints (FI_EP_RDM) with FI_RMA;
//  - at least 4 bytes of completion data with a remote write (cq_data_size), reported at the target
//    when the bytes are there, without a receive to be posted for it (no FI_RX_CQ_DATA);
//  - no more than FI_THREAD_DOMAIN and FI_PROGRESS_MANUAL: one thread at a time uses a domain, and
//    drives it.
//
// What a provider may ask for and gets: FI_CONTEXT and FI_CONTEXT2, registered sources
// (FI_MR_LOCAL), keys of its own (FI_MR_PROV_KEY), addresses instead of offsets (FI_MR_VIRT_ADDR),
// pages that are there (FI_MR_ALLOCATED), and registration per endpoint (FI_MR_ENDPOINT), which
// takes one port per thread.
//
// What it does not need: order of writes or of completions, FI_DELIVERY_COMPLETE, FI_FENCE,
// atomics, tagged messages, remote reads. A completion queue that can be waited for with a file is
// used where there is one.
#pragma once

#include "backend/ports/transport.hpp"

namespace trefoil {

/// A group is a domain and a completion queue, with an endpoint per port.
Transport ofi_transport();

}  // namespace trefoil
