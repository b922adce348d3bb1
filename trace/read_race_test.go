//go:build race

package trace

// raceDetector says that the race detector is built in, which takes many times
// the memory and the time.
const raceDetector = true
