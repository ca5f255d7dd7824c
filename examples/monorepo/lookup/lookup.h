/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Returns the index of `wanted` among sorted keys; `count` if it is missing. */
size_t lookup(const uint32_t *keys, size_t count, uint32_t wanted);
