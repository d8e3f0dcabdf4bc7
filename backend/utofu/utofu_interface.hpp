// SPDX-License-Identifier: BSD-3-Clause
// uTofu's interface: the user's <utofu.h> where there is one, else the same facts declared anew.
// Only types and signatures are used; the functions are found at run time.
#pragma once

#if __has_include(<utofu.h>)
#include <utofu.h>
#else

#include <cstddef>
#include <cstdint>

extern "C" {

// NOLINTBEGIN(readability-identifier-naming,modernize-use-using): the vendor's names
typedef std::uint16_t utofu_tni_id_t;
typedef std::uint16_t utofu_cq_id_t;
typedef std::uint16_t utofu_cmp_id_t;
typedef std::uint8_t utofu_path_id_t;
typedef std::uintptr_t utofu_vcq_hdl_t;
typedef std::uint64_t utofu_vcq_id_t;
typedef std::uint64_t utofu_stadd_t;

enum utofu_return_code {
    UTOFU_SUCCESS = 0,
    UTOFU_ERR_NOT_FOUND = -1,
    UTOFU_ERR_NOT_COMPLETED = -2,
    UTOFU_ERR_NOT_PROCESSED = -3,
    UTOFU_ERR_BUSY = -4,
    UTOFU_ERR_USED = -5,
    UTOFU_ERR_FULL = -6,
    UTOFU_ERR_NOT_AVAILABLE = -7,
    UTOFU_ERR_NOT_SUPPORTED = -8,
    UTOFU_ERR_TCQ_OTHER = -128,
    UTOFU_ERR_TCQ_DESC = -129,
    UTOFU_ERR_TCQ_MEMORY = -130,
    UTOFU_ERR_TCQ_STADD = -131,
    UTOFU_ERR_TCQ_LENGTH = -132,
    UTOFU_ERR_MRQ_OTHER = -192,
    UTOFU_ERR_MRQ_PEER = -193,
    UTOFU_ERR_MRQ_LCL_MEMORY = -194,
    UTOFU_ERR_MRQ_RMT_MEMORY = -195,
    UTOFU_ERR_MRQ_LCL_STADD = -196,
    UTOFU_ERR_MRQ_RMT_STADD = -197,
    UTOFU_ERR_MRQ_LCL_LENGTH = -198,
    UTOFU_ERR_MRQ_RMT_LENGTH = -199,
    UTOFU_ERR_INVALID_ARG = -512,
    UTOFU_ERR_INVALID_FLAGS = -514,
    UTOFU_ERR_INVALID_TNI_ID = -517,
    UTOFU_ERR_INVALID_VCQ_HDL = -521,
    UTOFU_ERR_INVALID_VCQ_ID = -522,
    UTOFU_ERR_INVALID_STADD = -525,
    UTOFU_ERR_INVALID_SIZE = -527,
    UTOFU_ERR_INVALID_STAG = -528,
    UTOFU_ERR_INVALID_EDATA = -529,
    UTOFU_ERR_OUT_OF_RESOURCE = -640,
    UTOFU_ERR_OUT_OF_MEMORY = -641,
    UTOFU_ERR_FATAL = -768
};

enum utofu_mrq_notice_type {
    UTOFU_MRQ_TYPE_LCL_PUT = 0,
    UTOFU_MRQ_TYPE_RMT_PUT = 1,
    UTOFU_MRQ_TYPE_LCL_GET = 2,
    UTOFU_MRQ_TYPE_RMT_GET = 3,
    UTOFU_MRQ_TYPE_LCL_ARMW = 4,
    UTOFU_MRQ_TYPE_RMT_ARMW = 5
};

enum utofu_armw_op {
    UTOFU_ARMW_OP_SWAP = 1,
    UTOFU_ARMW_OP_ADD = 2,
    UTOFU_ARMW_OP_XOR = 3,
    UTOFU_ARMW_OP_AND = 4,
    UTOFU_ARMW_OP_OR = 5
};

struct utofu_onesided_caps {
    unsigned long flags;
    unsigned long armw_ops;
    unsigned int num_cmp_ids;
    unsigned int num_reserved_stags;
    std::size_t cache_line_size;
    std::size_t stag_address_alignment;
    std::size_t max_toq_desc_size;
    std::size_t max_putget_size;
    std::size_t max_piggyback_size;
    std::size_t max_edata_size;
    std::size_t max_mtu;
    std::size_t max_gap;
};

struct utofu_mrq_notice {
    std::uint8_t notice_type;
    std::uint8_t padding[7];
    std::uint64_t vcq_id;
    std::uint64_t edata;
    std::uint64_t rmt_value;
    std::uint64_t lcl_stadd;
    std::uint64_t rmt_stadd;
    std::uint64_t reserved[2];
};
static_assert(sizeof(utofu_mrq_notice) == 64);

inline constexpr unsigned long UTOFU_VCQ_FLAG_THREAD_SAFE = 1UL << 0;
inline constexpr unsigned long UTOFU_VCQ_FLAG_EXCLUSIVE = 1UL << 1;
inline constexpr unsigned long UTOFU_VCQ_FLAG_SESSION_MODE = 1UL << 2;
inline constexpr unsigned long UTOFU_REG_MEM_FLAG_READ_ONLY = 1UL << 0;
inline constexpr unsigned long UTOFU_ONESIDED_FLAG_STRONG_ORDER = 1UL << 0;
inline constexpr unsigned long UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE = 1UL << 2;
inline constexpr unsigned long UTOFU_ONESIDED_FLAG_TCQ_NOTICE = 1UL << 14;
inline constexpr unsigned long UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE = 1UL << 15;

int utofu_get_onesided_tnis(utofu_tni_id_t** tnis, std::size_t* count);
int utofu_query_onesided_caps(utofu_tni_id_t tni, struct utofu_onesided_caps** caps);
int utofu_query_my_coords(std::uint8_t coords[]);
int utofu_create_vcq(utofu_tni_id_t tni, unsigned long flags, utofu_vcq_hdl_t* vcq);
int utofu_free_vcq(utofu_vcq_hdl_t vcq);
int utofu_query_vcq_id(utofu_vcq_hdl_t vcq, utofu_vcq_id_t* id);
int utofu_set_vcq_id_path(utofu_vcq_id_t* id, std::uint8_t path_coords[]);
int utofu_reg_mem(utofu_vcq_hdl_t vcq, void* data, std::size_t bytes, unsigned long flags,
                  utofu_stadd_t* stadd);
int utofu_dereg_mem(utofu_vcq_hdl_t vcq, utofu_stadd_t stadd, unsigned long flags);
int utofu_put(utofu_vcq_hdl_t vcq, utofu_vcq_id_t peer, utofu_stadd_t local, utofu_stadd_t remote,
              std::size_t bytes, std::uint64_t edata, unsigned long flags, void* cbdata);
int utofu_put_piggyback(utofu_vcq_hdl_t vcq, utofu_vcq_id_t peer, void* data, utofu_stadd_t remote,
                        std::size_t bytes, std::uint64_t edata, unsigned long flags, void* cbdata);
int utofu_put_piggyback8(utofu_vcq_hdl_t vcq, utofu_vcq_id_t peer, std::uint64_t data,
                         utofu_stadd_t remote, std::size_t bytes, std::uint64_t edata,
                         unsigned long flags, void* cbdata);
int utofu_armw8(utofu_vcq_hdl_t vcq, utofu_vcq_id_t peer, enum utofu_armw_op operation,
                std::uint64_t value, utofu_stadd_t remote, std::uint64_t edata, unsigned long flags,
                void* cbdata);
int utofu_poll_tcq(utofu_vcq_hdl_t vcq, unsigned long flags, void** cbdata);
int utofu_poll_mrq(utofu_vcq_hdl_t vcq, unsigned long flags, struct utofu_mrq_notice* notice);
// NOLINTEND(readability-identifier-naming,modernize-use-using)

}  // extern "C"
#endif
