// Package trace reads recorded runs of agents.
//
// What comes in are files and a table of formats: JSON Lines, JSON arrays, JSON
// documents, plain or compressed. The package itself knows no format; the table of
// those that awo reads is formats.All in trace/formats. What goes out are
// trajectories, one after the other, in the one model that everything else is
// built on: Trajectory, its Turns, Messages and Calls.
//
//	r, err := trace.Open([]string{"traces/"}, trace.Options{Formats: formats.All})
//	if err != nil { ... }
//	defer r.Close()
//	for t, err := range r.All() {
//		if problem, ok := errors.AsType[*diag.Error](err); ok {
//			... // one record could not be read; reading goes on
//		} else if err != nil {
//			... // reading has ended
//		} else {
//			... // use t
//		}
//	}
//
// # How a file is read
//
// Open lists the files, and All opens one after the other, finds out how it is
// compressed and, from its first records, which Format it is of. The Format's
// Split, or SplitRecords, finds the records, serially and without decoding
// them: a record is a slice of the block that was read. Batches of records go to
// the Format's Decode in parallel, and come back in order as fragments. A
// fragment that is a whole trajectory goes straight to the consumer; parts of
// trajectories that are spread over lines and files are collected, on disk when
// they are many, and joined by the Format's Assemble at the end. Everything that
// is numbered or counted is so by the consumer, in input order: the result does
// not depend on the number of workers.
//
// # Problems
//
// What is wrong with an input is a *diag.Error with its place, and costs the
// record or the file in which it is. The codes of reading are
//
//	file-missing         there is no such file, or no file matches the pattern
//	file-unreadable      the system refuses to open it
//	file-empty           it holds nothing
//	file-skipped         found in a folder, and of no known format (a warning)
//	file-changed         it is not the file any more that was read before
//	path-pattern         the pattern is malformed
//	not-text             the file is binary
//	not-utf8             the file is UTF-16
//	compression-unknown  it is compressed, but not with gzip or zstd, or an archive of no known format
//	compression-corrupt  it cannot be decompressed, or not to its end; or an entry of an archive
//	format-unknown       no format claims it; notes name those that are near
//	read-failed          the system fails while it is read
//	record-too-large     a record is over Options.MaxRecord
//	trajectory-divided   its parts are together over Options.MaxRecord; those of a key were read alone (a warning)
//	record-gone          a trajectory is not found again
//	stream-spent         standard input cannot be read twice, if not spooled
//	json-syntax          something stands between records that may not
//	json-truncated       the input ends between records that go on
//	json-shape           the document has no array of records where it should
//
// and each Format adds those of its records.
//
// # Memory
//
// Reading is O(1) in the length of the input: it keeps the records under way, at
// most 32 MiB or one larger record, and the budget for parts of trajectories.
// What is kept of each trajectory that is joined from parts is its key. A
// trajectory points into the block that its record was read in and keeps that in
// memory for as long as it is kept itself; what later passes need of many is in
// a Corpus, with which the Reader reads chosen ones again.
//
// The package does not judge what it reads: it knows no rules, no statistics
// and no price. It writes nothing but temporary files.
package trace
