/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

uint32_t checksum(const uint8_t *data, size_t size); /* Adler-32 */
