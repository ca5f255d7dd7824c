/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names may contain any bytes. Formats made of lines and columns cannot carry control characters,
 * so blanks replace them.
 */
#ifndef FG_BASE_PRINTABLE_H
#define FG_BASE_PRINTABLE_H

static inline char fg_printable(char c)
{
	if ((unsigned char)c < 0x20)
		return ' ';
	return c;
}

#endif
