/* SPDX-License-Identifier: MIT
 *
 * What the stand-in and its test agree on: the blobs that it writes, and what makes it fail. Ours; no driver reads it.
 */
#ifndef ROCDXG_STAND_IN_FORMAT_H
#define ROCDXG_STAND_IN_FORMAT_H

#include <stdint.h>

#define STAND_IN_DRIVER 0x56524457u
#define STAND_IN_PART 0x54524150u

/* Blob of a whole allocation. */
struct stand_in_driver {
    uint32_t magic;
    uint32_t parts;
    uint32_t device_id;
    uint32_t domain;
    uint64_t size;
};

/* Blob of a part. The padding is not written. */
struct stand_in_part {
    uint32_t magic;
    uint32_t device_id;
    uint32_t domain;
    uint32_t mem_flags;
    uint32_t engine_flags;
    uint32_t swizzle_known;
    uint64_t size;
    uint64_t gpu_va;
    uint32_t swizzle_mode;
    uint32_t tile_swizzle;
    uint32_t padding[3];
    uint32_t sum; /* Of all words before the padding. */
};

/* Device ids: these answer, and so does every one that the stand-in supports. */
#define STAND_IN_DEVICE 0x744cu
#define STAND_IN_SUPPORTED_FROM 0x7400u
#define STAND_IN_SUPPORTED_TO 0x75ffu
/* And these do not. */
#define STAND_IN_PARSE_BAD_ALLOC 0xe001u /* std::bad_alloc */
#define STAND_IN_PARSE_NUMBER 0xe002u    /* throws an int, after it has malloc'd the answer */
#define STAND_IN_PARSE_REVISION 0xe003u  /* STATUS_REVISION_MISMATCH, after it has malloc'd the answer */
#define STAND_IN_SUPPORTED_THROWS 0xe004u

/* Numbers of parts and addresses that make the allocation calls fail. */
#define STAND_IN_SIZE_THROWS 0xbadu
#define STAND_IN_DRIVER_THROWS UINT64_C(0xbad0001000)
#define STAND_IN_DRIVER_REFUSED UINT64_C(0xbad0002000) /* STATUS_GRAPHICS_NO_VIDEO_MEMORY */
#define STAND_IN_PART_THROWS UINT64_C(0xbad0003000)
#define STAND_IN_PART_REFUSED UINT64_C(0xbad0004000) /* STATUS_GRAPHICS_NO_VIDEO_MEMORY */
/* Sizes in the blob of a part that make reading it throw. */
#define STAND_IN_READ_THROWS UINT64_C(0xbad0005000)
#define STAND_IN_SWIZZLE_THROWS UINT64_C(0xbad0006000)

#endif
