// Package par is the one place with goroutines: an ordered parallel map over
// an iterator. It keeps at most a few items per worker in memory.
package par

import (
	"iter"
	"sync"
)

// window is how many items per worker may be under way: enough that one slow
// item does not idle the others, few enough that memory stays small.
const window = 4

// Map yields f(x) for every x of in, in the order of in, with up to workers
// calls of f under way. With one worker nothing runs in the background, so the
// result and the order of every side effect are those of a plain loop.
//
// in is consumed by one goroutine, f is called from several. When the consumer
// stops early, no further x is taken, and Map returns after the calls under way
// have ended: no goroutine outlives the loop. A panic in f or in is passed on
// to the consumer.
func Map[T, R any](workers int, in iter.Seq[T], f func(T) R) iter.Seq[R] {
	if workers <= 1 {
		return func(yield func(R) bool) {
			for x := range in {
				if !yield(f(x)) {
					return
				}
			}
		}
	}
	return func(yield func(R) bool) { mapParallel(workers, in, f, yield) }
}

// Made is an x of a source and what f made of it.
type Made[T, R any] struct {
	From T
	Is   R
}

// With maps as Map does what a source yields until it fails; its error is passed on in its
// place, and f is not called.
func With[T, R any](workers int, in iter.Seq2[T, error], f func(T) R) iter.Seq2[Made[T, R], error] {
	type item struct {
		made Made[T, R]
		err  error
	}
	items := func(yield func(item) bool) {
		for x, err := range in {
			if !yield(item{Made[T, R]{From: x}, err}) {
				return
			}
		}
	}
	return func(yield func(Made[T, R], error) bool) {
		for i := range Map(workers, items, func(i item) item {
			if i.err == nil {
				i.made.Is = f(i.made.From)
			}
			return i
		}) {
			if !yield(i.made, i.err) {
				return
			}
		}
	}
}

// Each calls do for 0 to n-1, up to workers calls at once, and yields each number in order
// when its call has ended.
func Each(workers, n int, do func(i int)) iter.Seq[int] {
	numbers := func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
	return Map(workers, numbers, func(i int) int { do(i); return i })
}

// result is what one call of f gave: a value or a panic.
type result[R any] struct {
	value R
	panic any
}

// task is one x with the place where its result goes. The channels of tasks are
// queued in the order of in, which is what keeps the output ordered.
type task[T, R any] struct {
	x    T
	done chan result[R]
}

func mapParallel[T, R any](workers int, in iter.Seq[T], f func(T) R, yield func(R) bool) {
	var (
		tasks = make(chan task[T, R], workers*window)
		order = make(chan chan result[R], workers*window)
		stop  = make(chan struct{})
		wg    sync.WaitGroup
	)
	// A consumer that stops early, or panics, must still release everyone.
	defer wg.Wait()
	defer close(stop)

	wg.Go(func() {
		defer close(order)
		defer close(tasks)
		defer func() {
			if p := recover(); p != nil {
				done := make(chan result[R], 1)
				done <- result[R]{panic: p}
				select {
				case order <- done:
				case <-stop:
				}
			}
		}()
		for x := range in {
			t := task[T, R]{x: x, done: make(chan result[R], 1)}
			select {
			case order <- t.done:
			case <-stop:
				return
			}
			select {
			case tasks <- t:
			case <-stop:
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case t, ok := <-tasks:
					if !ok {
						return
					}
					t.done <- call(f, t.x)
				}
			}
		})
	}
	for done := range order {
		r := <-done
		if r.panic != nil {
			panic(r.panic)
		}
		if !yield(r.value) {
			return
		}
	}
}

func call[T, R any](f func(T) R, x T) (r result[R]) {
	defer func() {
		if p := recover(); p != nil {
			r.panic = p
		}
	}()
	r.value = f(x)
	return r
}
