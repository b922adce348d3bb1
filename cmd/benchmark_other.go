//go:build !unix

package cmd

import "time"

// resources is not known here.
func resources() (processor time.Duration, rss int64, ok bool) { return 0, 0, false }
