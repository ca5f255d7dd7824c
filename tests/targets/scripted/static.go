// SPDX-License-Identifier: Apache-2.0

package main

import "os"

var sink uint32

//go:noinline
func load(n uint32) {
	x := sink
	for i := uint32(0); i < n; i++ {
		x = x*17 + i
	}
	sink = x
}

//go:noinline
func refine(n uint32) {
	x := sink
	for i := uint32(0); i < n; i++ {
		x = x*31 + i
	}
	sink = x
}

func main() {
	for i := len(os.Args[1]); i > 0; i-- {
		load(400000)
		refine(ROUNDS)
	}
}
