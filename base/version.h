/* SPDX-License-Identifier: Apache-2.0 */
/* The version of fastgate. */
#ifndef FG_BASE_VERSION_H
#define FG_BASE_VERSION_H

const char *fg_version(void); /* "1.0.0" */

#endif
