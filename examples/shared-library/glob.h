/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GLOB_H
#define GLOB_H

/* Does the whole text fit the pattern? '*' is any text, '?' any one character. */
int glob_match(const char *pattern, const char *text);

#endif
