// Predict an agent's next call from a snapshot that awo has compiled. Needs
// nothing but the language: the bytes come from the caller, so it runs in Node,
// Deno and browsers. inertia.d.ts has its types for TypeScript.
//
//     const snapshot = new Snapshot(readFileSync("inertia.awo"))
//     snapshot.predict(["find_user"])

const MAGIC = "AWOinert", VERSION = 1, START = 0xffffffff, UNKNOWN = 0xfffffffe

export const USER = 1, FAILED = 2, PARALLEL = 4, INSIDE = 8

export class SnapshotError extends Error {
  constructor(code, message) {
    super(`${code}: ${message}`)
    this.code = code
  }
}

const corrupt = (message) => new SnapshotError("snapshot-corrupt", message)

const TABLE = new Uint32Array(256).map((_, n) => {
  for (let i = 0; i < 8; i++) n = (n >>> 1) ^ (n & 1 ? 0x82f63b78 : 0)
  return n
})

function crc32c(bytes, crc = 0) {
  crc = ~crc
  for (const b of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ b) & 0xff]
  return ~crc >>> 0
}

// A FlatBuffer of one table, as snapshot.fbs has them.
class Table {
  constructor(bytes) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.bytes = bytes
    this.at = this.u32(0)
    this.fields = this.at - this.within(this.at, 4).getInt32(this.at, true)
    this.size = this.within(this.fields, 2).getUint16(this.fields, true)
  }
  within(at, size) {
    if (!(at >= 0 && at + size <= this.view.byteLength)) throw corrupt("a table points out of its section")
    return this.view
  }
  u32(at) {
    return this.within(at, 4).getUint32(at, true)
  }
  field(slot) {
    const entry = 4 + 2 * slot
    if (entry + 2 > this.size) return 0
    const offset = this.within(this.fields + entry, 2).getUint16(this.fields + entry, true)
    return offset ? this.at + offset : 0
  }
  number(slot) {
    const at = this.field(slot)
    return at ? Number(this.within(at, 8).getBigUint64(at, true)) : 0
  }
  span(at, size) {
    const start = at + this.u32(at), n = this.u32(start)
    this.within(start + 4, n * size)
    return [start + 4, n]
  }
  uints(slot) {
    const at = this.field(slot)
    if (!at) return new Uint32Array(0)
    const [start, n] = this.span(at, 4), out = new Uint32Array(n)
    for (let i = 0; i < n; i++) out[i] = this.view.getUint32(start + 4 * i, true)
    return out
  }
  doubles(slot) {
    const at = this.field(slot)
    if (!at) return new Float64Array(0)
    const [start, n] = this.span(at, 8), out = new Float64Array(n)
    for (let i = 0; i < n; i++) out[i] = this.view.getFloat64(start + 8 * i, true)
    return out
  }
  texts(slot) {
    const at = this.field(slot)
    if (!at) return []
    const [start, n] = this.span(at, 4), out = [], decoder = new TextDecoder()
    for (let i = 0; i < n; i++) {
      const [first, size] = this.span(start + 4 * i, 1)
      out.push(decoder.decode(this.bytes.subarray(first, first + size)))
    }
    return out
  }
}

export class Snapshot {
  #sections = new Map()
  #bytes
  #model

  constructor(data) {
    const bytes = (this.#bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    if (bytes.length < 8 || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) {
      throw new SnapshotError("snapshot-foreign", "this is no snapshot of awo")
    }
    if (bytes.length < 32) throw new SnapshotError("snapshot-truncated", "the file ends inside its header")
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const version = view.getUint32(8, true), n = view.getUint32(12, true), size = Number(view.getBigUint64(16, true))
    if (version !== VERSION) {
      throw new SnapshotError("snapshot-newer", `the snapshot is of version ${version}, and this reads version ${VERSION}`)
    }
    if (size !== bytes.length) {
      throw new SnapshotError("snapshot-truncated", `the file has ${bytes.length} bytes and says that it has ${size}`)
    }
    const end = 32 + 24 * n
    if (n > 64 || end > bytes.length || crc32c(bytes.subarray(32, end), crc32c(bytes.subarray(0, 24))) !== view.getUint32(24, true)) {
      throw corrupt("the header contradicts its checksum")
    }
    for (let e = 32; e < end; e += 24) {
      const at = Number(view.getBigUint64(e + 8, true)), length = Number(view.getBigUint64(e + 16, true))
      if (at % 16 || at > bytes.length || length > bytes.length - at) throw corrupt("a section lies outside of the file")
      const kind = view.getUint32(e, true)
      if (!this.#sections.has(kind)) this.#sections.set(kind, { crc: view.getUint32(e + 4, true), bytes: bytes.subarray(at, at + length) })
    }
  }

  verify() {
    for (const [kind, s] of this.#sections) {
      if (crc32c(s.bytes) !== s.crc) throw corrupt(`section ${kind} contradicts its checksum`)
    }
  }

  #section(kind) {
    if (!this.#sections.has(kind)) throw corrupt(`section ${kind} is missing`)
    return new Table(this.#sections.get(kind).bytes)
  }

  #load() {
    if (this.#model) return this.#model
    const info = this.#section(1), contexts = this.#section(3)
    const m = {
      order: info.number(0), noState: info.number(5) === 1, tools: ["", ...this.#section(2).texts(0)],
      childFrom: contexts.uints(0), childSymbol: contexts.uints(1), cellFrom: contexts.uints(2),
      cellNext: contexts.uints(3), cellShare: contexts.doubles(4), backoff: contexts.doubles(5),
    }
    const n = m.backoff.length
    if (!n || m.childFrom.length !== n + 1 || m.childSymbol.length !== n - 1 || m.cellFrom.length !== n + 1 || m.cellShare.length !== m.cellNext.length) {
      throw corrupt("the columns of the contexts differ in length")
    }
    m.symbols = new Map(m.tools.map((name, i) => [name, i]).slice(1))
    return (this.#model = m)
  }

  get tools() {
    return this.#load().tools.slice(1)
  }

  #child(m, node, symbol) {
    const first = m.childFrom[node], end = m.childFrom[node + 1]
    let lo = first, hi = end
    if (first === 0 || end < first || end - 1 > m.childSymbol.length) return -1
    while (lo < hi) {
      const middle = (lo + hi) >>> 1
      if (m.childSymbol[middle - 1] < symbol) lo = middle + 1
      else hi = middle
    }
    return lo < end && m.childSymbol[lo - 1] === symbol ? lo : -1
  }

  distribution(calls, state = 0) {
    const m = this.#load(), path = [0]
    if (m.noState && state < INSIDE) state = 0
    let node = this.#child(m, 0, state)
    for (let i = 0; node >= 0; i++) {
      path.push(node)
      if (i === m.order || i > calls.length) break
      const symbol = i === calls.length ? START : m.symbols.get(calls[calls.length - 1 - i]) ?? UNKNOWN
      node = this.#child(m, node, symbol)
    }
    const p = new Float64Array(m.tools.length)
    let weight = 1
    for (const at of path.reverse()) {
      const first = m.cellFrom[at], end = m.cellFrom[at + 1]
      if (first <= end && end <= m.cellNext.length) {
        for (let i = first; i < end; i++) if (m.cellNext[i] < p.length) p[m.cellNext[i]] += weight * m.cellShare[i]
      }
      weight *= m.backoff[at]
    }
    const unknown = weight / (p.length + 1)
    for (let s = 0; s < p.length; s++) p[s] += unknown
    return { p, unknown }
  }

  predict(calls, state = 0, n = 3) {
    const { p } = this.distribution(calls, state), tools = this.#load().tools
    return [...p.keys()].sort((a, b) => p[b] - p[a] || a - b).slice(0, n).map((s) => ({ tool: tools[s], probability: p[s] }))
  }
}

export function gate(history, share = 0.3) {
  if (history.filter((e) => e.inertial).length + 1 > share * (history.length + 1)) return false
  const last = history.at(-1)
  return !last || !(last.inertial || last.failed)
}
