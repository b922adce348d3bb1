package trace

import "sync"

// maxLoad is how many bytes of records may be under way between the goroutine
// that finds them and the consumer: records of many megabytes would otherwise
// fill the queues of all workers.
const maxLoad = 32 << 20

// load bounds the bytes that are under way. Something is always let through if
// nothing is under way, so a large record passes, alone.
type load struct {
	mutex  sync.Mutex
	free   sync.Cond
	bytes  int
	closed bool
}

func newLoad() *load {
	l := &load{}
	l.free.L = &l.mutex
	return l
}

// acquire waits until n bytes more may be under way; false if the load was
// closed, and nothing more is wanted.
func (l *load) acquire(n int) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for !l.closed && l.bytes > 0 && l.bytes+n > maxLoad {
		l.free.Wait()
	}
	l.bytes += n
	return !l.closed
}

func (l *load) release(n int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.bytes -= n
	l.free.Broadcast()
}

// close lets everyone go who waits.
func (l *load) close() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	l.free.Broadcast()
}

// guard calls f and closes the load unless f returns true, also if f panics or
// ends the goroutine: whoever waits would wait for ever.
func (l *load) guard(f func() bool) (ok bool) {
	defer func() {
		if !ok {
			l.close()
		}
	}()
	return f()
}
