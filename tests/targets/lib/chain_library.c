// SPDX-License-Identifier: Apache-2.0
/* One of the libraries for chain.c: NUMBER makes each slightly different. */

void chain_next(unsigned depth);

#define LINK(which, size)            \
 void chain_##which(unsigned depth); \
 void chain_##which(unsigned depth)  \
 {                                   \
  volatile char frame[size];         \
                                     \
  frame[0] = (char)depth;            \
  chain_next(depth);                 \
  frame[1] = frame[0];               \
 }

LINK(0, 32 + NUMBER % 64 * 8)
LINK(1, 40 + NUMBER % 32 * 16)
LINK(2, 136)
LINK(3, 24)
