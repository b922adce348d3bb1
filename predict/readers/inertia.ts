// Predict an agent's next call from a snapshot that awo has compiled. Runs where the
// modules of Node for zlib and crypto are: in Node, Deno and Bun.
//
//     const snapshot = new Snapshot(readFileSync("inertia.awo"))
//     snapshot.predict(["find_user"])           // the likeliest outcomes, best first
//     gate(history)                             // may the next call do without the model?
//
// A file that is damaged, cut off or something else throws a SnapshotError. Arguments of
// calls are filled in by awo itself (awo predict, awo serve). inertia.mjs is inertia.ts
// without its types.

import { createHash } from "node:crypto"
import { gunzipSync } from "node:zlib"

const SCHEMA = "awo.snapshot-data/v1", START = 0xffffffff, UNKNOWN = 0xfffffffe

/** States of a turn: add those that hold. */
export const USER = 1, FAILED = 2, PARALLEL = 4, INSIDE = 8

export interface Outcome {
  /** "" makes no call. */
  tool: string
  probability: number
}

interface Model {
  order: number
  child_from: number[]
  child_symbol: number[]
  cell_from: number[]
  next: number[]
  share: number[]
  backoff: number[]
}

interface Tool {
  name: string
  calls: number
}

/** Why a file cannot be read; `code` is that of awo. */
export class SnapshotError extends Error {
  code: string

  constructor(code: string, message: string) {
    super(`${code}: ${message}`)
    this.code = code
  }
}

function decompressed(data: Uint8Array) {
  if (data[0] !== 0x1f || data[1] !== 0x8b) throw new SnapshotError("snapshot-foreign", "this is no snapshot of awo")
  try {
    return gunzipSync(data).toString("utf8")
  } catch (e) {
    const cut = e.code === "Z_BUF_ERROR"
    throw new SnapshotError(cut ? "snapshot-truncated" : "snapshot-corrupt", cut ? "the file ends before its end" : "the file cannot be decompressed")
  }
}

const HEAD = /^\{"schema":"(awo\.snapshot-data\/[^"]*)","sha256":"([0-9a-f]{64})","content":/

/** The content of a file, whose checksum is right. */
function contentOf(data: Uint8Array) {
  const text = decompressed(data)
  const head = HEAD.exec(text)
  if (!head) throw new SnapshotError("snapshot-foreign", "this is no snapshot of awo")
  if (head[1] !== SCHEMA) throw new SnapshotError("snapshot-version", `the snapshot is of version ${head[1]}, and this reads ${SCHEMA}`)
  const content = text.slice(head[0].length, text.lastIndexOf("}"))
  if (createHash("sha256").update(content).digest("hex") !== head[2]) throw new SnapshotError("snapshot-corrupt", "the checksum differs")
  return JSON.parse(content)
}

/** A compiled snapshot: tools, and what is likely to follow which calls. */
export class Snapshot {
  names: string[]
  symbols: Map<string, number>
  model: Model

  constructor(data: Uint8Array) {
    const content = contentOf(data)
    const tools: Tool[] = content.tools ?? []
    this.model = content.model
    this.names = ["", ...tools.map((t) => t.name)]
    this.symbols = new Map<string, number>(tools.map((t, i) => [t.name, i + 1]))
  }

  /** The names of the tools, in order. */
  get tools() {
    return this.names.slice(1)
  }

  /** The context that is older by a symbol, 0 if it was never seen. */
  child(node: number, symbol: number) {
    const { child_from, child_symbol } = this.model
    const end = child_from[node + 1]
    let lo = child_from[node], hi = end
    while (lo < hi) {
      const middle = (lo + hi) >>> 1
      if (child_symbol[middle - 1] < symbol) lo = middle + 1
      else hi = middle
    }
    return lo < end && child_symbol[lo - 1] === symbol ? lo : 0
  }

  /**
   * Probabilities of no call and of the tools in order, and of any other tool. calls are
   * the names of the tools called so far, the newest last.
   */
  distribution(calls: string[], state = 0) {
    const { order, cell_from, next, share, backoff } = this.model
    const path = [0]
    let node = this.child(0, state)
    for (let i = 0; node !== 0; i++) {
      path.push(node)
      if (i === order || i > calls.length) break
      node = this.child(node, i === calls.length ? START : (this.symbols.get(calls[calls.length - 1 - i]) ?? UNKNOWN))
    }
    const p: number[] = new Array(this.names.length).fill(0)
    let weight = 1
    for (const at of path.reverse()) {
      for (let i = cell_from[at]; i < cell_from[at + 1]; i++) p[next[i]] += weight * share[i]
      weight *= backoff[at]
    }
    const unknown = weight / (p.length + 1)
    for (let i = 0; i < p.length; i++) p[i] += unknown
    return { p, unknown }
  }

  /** The n likeliest outcomes. */
  predict(calls: string[], state = 0, n = 3) {
    const { p } = this.distribution(calls, state)
    const order = [...p.keys()].sort((a, b) => p[b] - p[a] || a - b).slice(0, n)
    return order.map((s) => ({ tool: this.names[s], probability: p[s] }))
  }
}

/** Whether the next call may be made without the model; history has the calls so far. */
export function gate(history: { inertial: boolean; failed: boolean }[], share = 0.3) {
  const inertial = history.filter((c) => c.inertial).length
  if (inertial + 1 > share * (history.length + 1)) return false
  const last = history[history.length - 1]
  return !last || !(last.inertial || last.failed)
}
