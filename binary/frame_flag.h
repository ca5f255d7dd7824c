/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of a frame. */
#ifndef FG_BINARY_FRAME_FLAG_H
#define FG_BINARY_FRAME_FLAG_H

enum fg_frame_flag {
	FG_FRAME_INLINED = 1 << 0,  /* inlined into its parent frame */
	FG_FRAME_NAMELESS = 1 << 1, /* no symbol: the name is module+0xoffset */
	FG_FRAME_KERNEL = 1 << 2,
	FG_FRAME_JIT = 1 << 3,  /* named by a JIT map */
	FG_FRAME_MARK = 1 << 4, /* not code: "[truncated]", "[254 frames left out]" */
	FG_FRAME_PLT = 1 << 5,
};

#endif
