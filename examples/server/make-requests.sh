#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-requests.sh COUNT: prints the same requests each time; of every four requests, one writes and one counts keys.
awk -v count="$1" 'BEGIN {
	for (i = 0; i < count; i++) {
		key = (i * 7919) % 1500
		if (i % 4 == 3)
			printf "COUNT key%d\n", key % 100
		else if (i % 4 == 0)
			printf "SET key%d value%d\n", key, i
		else
			printf "GET key%d\n", key
	}
}'
