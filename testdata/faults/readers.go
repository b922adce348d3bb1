package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// pythonDriver reads a snapshot with one bit flipped after the other: the reader says that
// it is damaged, or predicts what the whole one does, as where the bit was one of the
// header of gzip that means nothing.
const pythonDriver = `
import json, sys
sys.path.insert(0, sys.argv[1])
import awo_inertia as a
whole = open(sys.argv[2], "rb").read()
calls = a.Snapshot(whole).tools[-1:]
want = a.Snapshot(whole).distribution(calls, 0)
for at, bit in json.load(open(sys.argv[3])):
    damaged = bytearray(whole)
    damaged[at] ^= 1 << bit
    try:
        got = a.Snapshot(bytes(damaged)).distribution(calls, 0)
    except a.SnapshotError:
        continue
    if got != want:
        sys.exit("a snapshot with bit %d of byte %d flipped predicts otherwise" % (bit, at))
`

const nodeDriver = `
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
const [dir, file, flips] = process.argv.slice(2)
const { Snapshot, SnapshotError } = await import(pathToFileURL(dir + "/inertia.mjs"))
const whole = readFileSync(file)
const calls = new Snapshot(whole).tools.slice(-1)
const want = JSON.stringify(new Snapshot(whole).distribution(calls, 0))
for (const [at, bit] of JSON.parse(readFileSync(flips))) {
  const damaged = Buffer.from(whole)
  damaged[at] ^= 1 << bit
  let got = want
  try {
    got = JSON.stringify(new Snapshot(damaged).distribution(calls, 0))
  } catch (e) {
    if (!(e instanceof SnapshotError)) throw e
  }
  if (got !== want) throw new Error("a snapshot with bit " + bit + " of byte " + at + " flipped predicts otherwise")
}
`

// damagedElsewhere lets the readers in other languages read damaged snapshots, those
// whose language is installed.
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
	flips := make([][2]int, times)
	for i := range flips {
		flips[i] = [2]int{s.random.IntN(len(content)), s.random.IntN(8)}
	}
	list, err := json.Marshal(flips)
	if err != nil {
		return err
	}
	readers, err := filepath.Abs("predict/readers")
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
