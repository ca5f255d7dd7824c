/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Place of `wanted` among sorted keys; `count` when it is not there. */
size_t lookup(const uint32_t *keys, size_t count, uint32_t wanted);
