// SPDX-License-Identifier: BSD-3-Clause
// The numbers that Trefoil and the emulation take for uTofu's. Where the compiler finds <utofu.h>
// this compares them with the vendor's, else our declarations with those that were published.
#include "backend/utofu/utofu_interface.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace trefoil {
namespace {

static_assert(std::is_same_v<utofu_tni_id_t, std::uint16_t>);
static_assert(std::is_same_v<utofu_vcq_hdl_t, std::uintptr_t>);
static_assert(sizeof(utofu_vcq_id_t) == 8 && std::is_unsigned_v<utofu_vcq_id_t>);
static_assert(sizeof(utofu_stadd_t) == 8 && std::is_unsigned_v<utofu_stadd_t>);

static_assert(UTOFU_SUCCESS == 0);
static_assert(UTOFU_ERR_NOT_FOUND == -1);
static_assert(UTOFU_ERR_BUSY == -4);
static_assert(UTOFU_ERR_FULL == -6);
static_assert(UTOFU_ERR_NOT_AVAILABLE == -7);
static_assert(UTOFU_ERR_NOT_SUPPORTED == -8);
static_assert(UTOFU_ERR_TCQ_DESC == -129);
static_assert(UTOFU_ERR_TCQ_MEMORY == -130);
static_assert(UTOFU_ERR_TCQ_STADD == -131);
static_assert(UTOFU_ERR_TCQ_LENGTH == -132);
static_assert(UTOFU_ERR_MRQ_OTHER == -192);
static_assert(UTOFU_ERR_MRQ_PEER == -193);
static_assert(UTOFU_ERR_MRQ_LCL_MEMORY == -194);
static_assert(UTOFU_ERR_MRQ_RMT_MEMORY == -195);
static_assert(UTOFU_ERR_MRQ_LCL_STADD == -196);
static_assert(UTOFU_ERR_MRQ_RMT_STADD == -197);
static_assert(UTOFU_ERR_MRQ_LCL_LENGTH == -198);
static_assert(UTOFU_ERR_MRQ_RMT_LENGTH == -199);
static_assert(UTOFU_ERR_INVALID_ARG == -512);
static_assert(UTOFU_ERR_INVALID_EDATA == -529);
static_assert(UTOFU_ERR_OUT_OF_RESOURCE == -640);
static_assert(UTOFU_ERR_OUT_OF_MEMORY == -641);
static_assert(UTOFU_ERR_FATAL == -768);

static_assert(UTOFU_MRQ_TYPE_LCL_PUT == 0);
static_assert(UTOFU_MRQ_TYPE_RMT_PUT == 1);
static_assert(UTOFU_MRQ_TYPE_LCL_ARMW == 4);
static_assert(UTOFU_ARMW_OP_ADD == 2);

static_assert(UTOFU_VCQ_FLAG_THREAD_SAFE == 1UL << 0);
static_assert(UTOFU_ONESIDED_FLAG_STRONG_ORDER == 1UL << 0);
static_assert(UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE == 1UL << 2);
static_assert(UTOFU_ONESIDED_FLAG_TCQ_NOTICE == 1UL << 14);
static_assert(UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE == 1UL << 15);

static_assert(sizeof(utofu_mrq_notice) == 64);
static_assert(offsetof(utofu_mrq_notice, notice_type) == 0);
static_assert(offsetof(utofu_mrq_notice, vcq_id) == 8);
static_assert(offsetof(utofu_mrq_notice, edata) == 16);
static_assert(offsetof(utofu_mrq_notice, rmt_value) == 24);
static_assert(offsetof(utofu_mrq_notice, lcl_stadd) == 32);
static_assert(offsetof(utofu_mrq_notice, rmt_stadd) == 40);
static_assert(offsetof(utofu_onesided_caps, num_cmp_ids) == 16);
static_assert(offsetof(utofu_onesided_caps, cache_line_size) == 24);
static_assert(offsetof(utofu_onesided_caps, max_putget_size) == 48);
static_assert(offsetof(utofu_onesided_caps, max_piggyback_size) == 56);
static_assert(offsetof(utofu_onesided_caps, max_edata_size) == 64);
static_assert(offsetof(utofu_onesided_caps, max_mtu) == 72);

template <typename Function, typename... Arguments>
constexpr bool takes = std::is_invocable_r_v<int, Function, Arguments...>;
static_assert(takes<decltype(&utofu_create_vcq), utofu_tni_id_t, unsigned long, utofu_vcq_hdl_t*>);
static_assert(takes<decltype(&utofu_reg_mem), utofu_vcq_hdl_t, void*, std::size_t, unsigned long,
                    utofu_stadd_t*>);
static_assert(takes<decltype(&utofu_put), utofu_vcq_hdl_t, utofu_vcq_id_t, utofu_stadd_t,
                    utofu_stadd_t, std::size_t, std::uint64_t, unsigned long, void*>);
static_assert(takes<decltype(&utofu_put_piggyback8), utofu_vcq_hdl_t, utofu_vcq_id_t, std::uint64_t,
                    utofu_stadd_t, std::size_t, std::uint64_t, unsigned long, void*>);
static_assert(takes<decltype(&utofu_poll_tcq), utofu_vcq_hdl_t, unsigned long, void**>);
static_assert(takes<decltype(&utofu_poll_mrq), utofu_vcq_hdl_t, unsigned long, utofu_mrq_notice*>);

}  // namespace
}  // namespace trefoil
