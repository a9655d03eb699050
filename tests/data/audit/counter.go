// A program whose atomics Go's own compiler made: each tests a flag of the runtime's and goes one way or
// the other.
package main

import "sync/atomic"

var number int64

func main() {
	println(atomic.AddInt64(&number, 2))
}
