/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

void sort(uint32_t *values, size_t count); /* ascending, in place */
