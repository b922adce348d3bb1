package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// pythonDriver reads a snapshot with one bit flipped after the other. With the check of
// all checksums the reader says that it is damaged, and without it nothing comes of it
// but its own error or an answer.
const pythonDriver = `
import json, sys
sys.path.insert(0, sys.argv[1])
import awo_inertia as a
whole = open(sys.argv[2], "rb").read()
calls = a.Snapshot(whole).tools[-1:]
for at, bit in json.load(open(sys.argv[3])):
    damaged = bytearray(whole)
    damaged[at] ^= 1 << bit
    damaged = bytes(damaged)
    try:
        s = a.Snapshot(damaged)
        s.distribution(calls, 0)
        s.fill(calls[0] if calls else "", [{"tool": calls[0], "args": {}, "result": {}, "turn": 0}] if calls else [])
    except a.SnapshotError:
        pass
    try:
        a.Snapshot(damaged).verify()
    except a.SnapshotError:
        continue
    sys.exit("a snapshot with bit %d of byte %d flipped is taken" % (bit, at))
`

const nodeDriver = `
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
const [dir, file, flips] = process.argv.slice(2)
const { Snapshot, SnapshotError } = await import(pathToFileURL(dir + "/inertia.mjs"))
const whole = readFileSync(file)
const calls = new Snapshot(whole).tools.slice(-1)
const tried = (f) => {
  try {
    f()
  } catch (e) {
    if (!(e instanceof SnapshotError)) throw e
    return false
  }
  return true
}
for (const [at, bit] of JSON.parse(readFileSync(flips))) {
  const damaged = Buffer.from(whole)
  damaged[at] ^= 1 << bit
  tried(() => {
    const s = new Snapshot(damaged)
    s.distribution(calls, 0)
    s.fill(calls[0] ?? "", calls.map((tool) => ({ tool, args: {}, result: {}, turn: 0 })))
  })
  if (tried(() => new Snapshot(damaged).verify())) throw new Error("a snapshot with bit " + bit + " of byte " + at + " flipped is taken")
}
`

// meaning returns which bytes of a snapshot mean something: its header, its table of
// sections, and these. What stands between sections fills them up to 16 bytes, is under no
// checksum, and is not read.
func meaning(content []byte) (at []int) {
	add := func(from, to uint64) {
		for ; from < to && from < uint64(len(content)); from++ {
			at = append(at, int(from))
		}
	}
	sections := uint64(binary.LittleEndian.Uint32(content[12:]))
	add(0, 28)
	add(32, 32+24*sections)
	for i := range sections {
		entry := content[32+24*i:]
		from := binary.LittleEndian.Uint64(entry[8:])
		add(from, from+binary.LittleEndian.Uint64(entry[16:]))
	}
	return at
}

// damagedElsewhere lets the readers in other languages read damaged snapshots, those
// whose language is installed. The snapshot is small: Python sums its bytes one by one.
func (s *suite) damagedElsewhere(times int) error {
	const name = "small.awo"
	path := filepath.Join(s.folder, name)
	if _, _, err := s.made("snapshot build TRACES --sample 3 --out "+name, name); err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	meant := meaning(content)
	flips := make([][2]int, times)
	for i := range flips {
		flips[i] = [2]int{meant[s.random.IntN(len(meant))], s.random.IntN(8)}
	}
	list, err := json.Marshal(flips)
	if err != nil {
		return err
	}
	readers, err := filepath.Abs("inertia/readers")
	if err != nil {
		return err
	}
	written := map[string]string{"flips.json": string(list), "driver.py": pythonDriver, "driver.mjs": nodeDriver}
	for name, content := range written {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o666); err != nil {
			return err
		}
	}
	for _, reader := range []struct{ program, driver string }{{"python3", "driver.py"}, {"node", "driver.mjs"}} {
		program, err := exec.LookPath(reader.program)
		if err != nil {
			fmt.Printf("%s is not installed: its reader is not tried\n", reader.program)
			continue
		}
		c := exec.Command(program, filepath.Join(s.folder, reader.driver), readers, path, filepath.Join(s.folder, "flips.json"))
		c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		if _, err := c.Output(); err != nil {
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				err = fmt.Errorf("%w: %s", err, exit.Stderr)
			}
			return fmt.Errorf("%s: %w", reader.program, err)
		}
		fmt.Printf("%s read %d damaged snapshots of %d bytes\n", reader.program, times, len(content))
	}
	return nil
}
