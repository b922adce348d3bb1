// Predict an agent's next call from a snapshot that awo has compiled. Needs
// nothing but the language: the bytes come from the caller, so it runs in Node,
// Deno and browsers.
//
//     const snapshot = new Snapshot(readFileSync("inertia.awo"))
//     snapshot.predict(["find_user"])           // the likeliest outcomes, best first
//     snapshot.fill("get_user", events)         // the arguments of a call, as far as known
//
// inertia.mjs is inertia.ts without its types. Numbers are those of the language:
// integers beyond 2^53 are not exact, and 1.0 is 1.

const MAGIC = "AWOinert", VERSION = 1, START = 0xffffffff, UNKNOWN = 0xfffffffe

/** States of a turn: add those that hold. */
export const USER = 1, FAILED = 2, PARALLEL = 4, INSIDE = 8

/** Why a file cannot be read; `code` is that of the Go reader. */
export class SnapshotError extends Error {
  code

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
  view
  bytes
  at
  fields
  size

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
  ulongs(slot) {
    const at = this.field(slot)
    if (!at) return []
    const [start, n] = this.span(at, 8), out = []
    for (let i = 0; i < n; i++) out.push(Number(this.view.getBigUint64(start + 8 * i, true)))
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

/** A compiled inertia graph. It is immutable. */
export class Snapshot {
  #sections = new Map()
  #model
  #filling

  /** Takes the bytes of a snapshot. */
  constructor(data) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
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

  /** Checks every checksum. */
  verify() {
    for (const [kind, s] of this.#sections) {
      if (crc32c(s.bytes) !== s.crc) throw corrupt(`section ${kind} contradicts its checksum`)
    }
  }

  #section(kind) {
    const s = this.#sections.get(kind)
    if (!s) throw corrupt(`section ${kind} is missing`)
    return new Table(s.bytes)
  }

  #load() {
    if (this.#model) return this.#model
    const info = this.#section(1), tools = this.#section(2), contexts = this.#section(3)
    const calls = tools.ulongs(4), first = tools.uints(9)
    const m = {
      order: info.number(0), noState: info.number(5) === 1, tools: ["", ...tools.texts(0)], symbols: new Map(),
      childFrom: contexts.uints(0), childSymbol: contexts.uints(1), cellFrom: contexts.uints(2),
      cellNext: contexts.uints(3), cellShare: contexts.doubles(4), backoff: contexts.doubles(5),
      // Several calls in one, that no trace makes: no outcomes of their own.
      meta: [...calls.keys()].filter((i) => first[i] > 0 && calls[i] === 0).map((i) => i + 1),
    }
    const n = m.backoff.length
    if (!n || calls.length !== m.tools.length - 1 || m.childFrom.length !== n + 1 || m.childSymbol.length !== n - 1 || m.cellFrom.length !== n + 1 || m.cellShare.length !== m.cellNext.length) {
      throw corrupt("the columns of the contexts differ in length")
    }
    for (let i = 1; i < m.tools.length; i++) m.symbols.set(m.tools[i], i)
    return (this.#model = m)
  }

  /** The names of the tools, in order. */
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

  /**
   * Probabilities of no call and of the tools in order, and of any other tool.
   * calls are the names of the tools called so far, the newest last.
   */
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
    const unknown = weight / (p.length + 1 - m.meta.length)
    for (let s = 0; s < p.length; s++) p[s] += unknown
    for (const s of m.meta) p[s] = 0
    return { p, unknown }
  }

  /** The n likeliest outcomes, best first. */
  predict(calls, state = 0, n = 3) {
    const { p } = this.distribution(calls, state), tools = this.#load().tools
    return [...p.keys()].sort((a, b) => p[b] - p[a] || a - b).slice(0, n).map((s) => ({ tool: tools[s], probability: p[s] }))
  }

  #loadFilling() {
    if (this.#filling) return this.#filling
    const tools = this.#section(2), rules = this.#section(5), names = ["", ...tools.texts(0)], n = names.length
    const calls = tools.ulongs(4), paramFrom = tools.uints(5), param = tools.texts(6), required = tools.uints(7), present = tools.ulongs(8)
    const ruleFrom = rules.uints(0), of = rules.texts(1), side = rules.uints(2), source = rules.uints(3), path = rules.texts(4), uses = rules.ulongs(5)
    if (
      !ranges(paramFrom, n - 1, param.length) || calls.length !== n - 1 || required.length !== param.length || present.length !== param.length ||
      !ranges(ruleFrom, n, of.length) || side.length !== of.length || source.length !== of.length || path.length !== of.length ||
      uses.length !== 6 * of.length || of.some((_, i) => side[i] < 2 && !(source[i] > 0 && source[i] < n))
    ) {
      throw corrupt("the columns of the tools or rules differ in length")
    }
    const filling = new Map()
    for (let s = 1; s < n; s++) {
      const f = { params: [], rules: [] }
      for (let j = paramFrom[s - 1]; j < paramFrom[s]; j++) {
        if (required[j] === 1 || 2 * present[j] >= calls[s - 1]) f.params.push({ name: param[j], required: required[j] === 1 })
      }
      for (let j = ruleFrom[s]; j < ruleFrom[s + 1]; j++) {
        const text = side[j] > 1, tool = text ? "" : names[source[j]]
        f.rules.push({ param: of[j], side: side[j], tool, shape: path[j], steps: text ? null : parsePath(path[j]), uses: uses.slice(6 * j, 6 * j + 6) })
      }
      filling.set(names[s], f)
    }
    return (this.#filling = filling)
  }

  /**
   * The arguments of a call of tool, as far as they follow from events: what was
   * known before the turn, oldest first. schema, the tool's input schema, refuses
   * values of other types and enumerations. The key state of adapter rules is Go's
   * alone.
   */
  fill(tool, events, schema = null) {
    const known = this.#loadFilling().get(tool), view = new View(events)
    const out = { args: {}, complete: true, repeated: false, filled: [] }
    for (const p of known ? known.params : []) {
      const best = view.best(tool, p.name, known ? known.rules.filter((r) => r.param === p.name) : [])
      if (best && fits(schema, p.name, best.value)) {
        out.filled.push(best)
        set(out.args, p.name, best.value)
      } else if (p.required) out.complete = false
    }
    out.repeated = out.complete && view.repeated(tool, out.args)
    return out
  }
}

// A member called __proto__ is one like any other.
function set(args, name, value) {
  Object.defineProperty(args, name, { value, enumerable: true, configurable: true, writable: true })
}

function ranges(from, n, size) {
  return from.length === n + 1 && from[0] === 0 && from[n] === size && from.every((x, i) => i === 0 || from[i - 1] <= x)
}

// The steps of a path, null for what this cannot read.
function parsePath(path) {
  const step = /\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]{1,9})\]|(\[\*\])|\[\?@\.([A-Za-z_][A-Za-z0-9_]*) == \?\]/y, out = []
  if (path[0] !== "$") return null
  for (step.lastIndex = 1; step.lastIndex < path.length; ) {
    const m = step.exec(path)
    if (!m) return null
    out.push({ kind: m[1] ? "member" : m[2] ? "index" : m[3] ? "each" : "name", name: m[1] ?? m[4] ?? "", index: Number(m[2] ?? 0) })
  }
  return out
}

const NEAR = 0, WALK = 1, FAR = 2

function shareOf(rule, near) {
  const u = rule.uses, tried = u[0] + u[2] + u[4], right = u[1] + u[3] + u[5], mean = (right + 0.5) / (tried + 1.5)
  return (u[2 * near + 1] + 2 * mean) / (u[2 * near] + 2)
}

function isObject(v) {
  return typeof v === "object" && v !== null && !Array.isArray(v)
}

// By code points, as awo sorts names: UTF-16 has others.
function byCodePoint(a, b) {
  const x = [...a], y = [...b]
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] !== y[i]) return Number(x[i].codePointAt(0)) - Number(y[i].codePointAt(0))
  }
  return x.length - y.length
}

// What values are compared by.
function canonical(v) {
  if (Array.isArray(v)) return `[${v.map(canonical).join(",")}]`
  if (isObject(v)) return `{${Object.keys(v).sort(byCodePoint).map((k) => `${JSON.stringify(k)}:${canonical(v[k])}`).join(",")}}`
  return JSON.stringify(v)
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const OUTER = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g

// The object or array that a text is the JSON of.
function through(text) {
  const trimmed = text.replace(OUTER, "")
  return trimmed[0] === "{" || trimmed[0] === "[" ? parse(trimmed) : undefined
}

// What stands between word boundaries of a name: of mail_login mail, mail_login and
// login.
function nameParts(name) {
  const words = [...name.matchAll(/[0-9A-Za-z]+/g)].slice(0, 12), out = new Set()
  words.forEach((a, i) => {
    for (const b of words.slice(i)) out.add(name.slice(a.index ?? 0, (b.index ?? 0) + b[0].length))
  })
  return out
}

// What a path selects; a step "name" those records whose member is a part of the
// name of the tool.
function walk(steps, value, tool) {
  let nodes = [value]
  for (const s of steps) {
    const found = []
    for (const node of nodes) {
      const v = typeof node === "string" ? through(node) : node
      if (s.kind === "member") {
        if (isObject(v) && Object.hasOwn(v, s.name)) found.push(v[s.name])
      } else if (s.kind === "index") {
        if (Array.isArray(v) && s.index < v.length) found.push(v[s.index])
      } else {
        const each = Array.isArray(v) ? v : isObject(v) ? Object.keys(v).sort(byCodePoint).map((k) => v[k]) : []
        const parts = nameParts(s.kind === "name" ? tool : "")
        for (const e of each) if (s.kind === "each" || (isObject(e) && Object.hasOwn(e, s.name) && parts.has(String(e[s.name])) && typeof e[s.name] === "string")) found.push(e)
      }
    }
    nodes = found
  }
  return nodes
}

// The form of an identifier without its content, null for plain words.
function shapeOf(text) {
  let out = "", telling = false
  if (/[^\x00-\x7f]/.test(text)) return null
  for (const m of text.matchAll(/[0-9A-Za-z]+|[^]/g)) {
    const run = m[0], at = m.index ?? 0
    if (!/[0-9A-Za-z]/.test(run)) {
      telling ||= at > 0 && at < text.length - 1
      out += run
      continue
    }
    const upper = /[A-Z]/.test(run), lower = /[a-z]/.test(run), digit = /[0-9]/.test(run)
    const capitals = upper && !lower && run.length > 1
    if (digit) out += (upper || lower ? "X" : "9") + run.length
    else out += capitals ? "A" + run.length : "a"
    telling ||= digit || capitals
  }
  return telling ? out : null
}

// The identifiers of a message, with their shapes.
function wordsOf(message) {
  const out = []
  for (const [field] of message.matchAll(/[^\x00-\x20,;!?"'()[\]{}<>*`]+/g)) {
    const text = field.replace(/^[.:\-_]+|[.:\-_]+$/g, "")
    if (text.length < 3 || text.length > 64 || out.length === 400) continue
    const shape = shapeOf(text)
    if (shape !== null) out.push({ text, shape })
  }
  return out
}

// What is known before a turn.
class View {
  calls = []
  args = []
  words = []
  named = new Set()
  results = new Map()

  constructor(events) {
    for (const e of events) {
      if ("tool" in e) {
        this.calls.push(e)
        this.args.push(textsOf(e.args ?? {}))
      } else this.words.push(wordsOf(e.user))
    }
    for (const words of this.words) for (const w of words) this.named.add(w.text)
  }

  newest(tool) {
    let i = this.calls.length - 1
    while (i >= 0 && this.calls[i].tool !== tool) i--
    return i
  }

  near(tool, source) {
    const last = this.calls.at(-1)
    if (!last) return FAR
    if (last.tool === tool) return WALK
    const together = source >= 0 && last.turn !== undefined && this.calls[source].turn === last.turn
    return source >= 0 && (source === this.calls.length - 1 || together) ? NEAR : FAR
  }

  had(tool, param, text) {
    return this.calls.some((c, i) => c.tool === tool && this.args[i].get(param) === text)
  }

  repeated(tool, args) {
    const wanted = textsOf(args)
    return this.calls.some((c, i) => c.tool === tool && this.args[i].size === wanted.size && [...wanted].every(([k, v]) => this.args[i].get(k) === v))
  }

  result(call) {
    const done = this.results.get(call)
    if (done !== undefined) return done
    const given = this.calls[call].result ?? null
    let value = given
    for (let level = 0; level < 2; level++) {
      // JSON text, perhaps quoted once more
      const inner = typeof value === "string" && /^[\t\n\r ]*[{["]/.test(value) ? parse(value) : undefined
      if (inner === undefined) break
      value = inner
    }
    if (typeof value !== "object") value = given
    this.results.set(call, value)
    return value
  }

  // Of the rules that give a value the one that is most often right, of equal ones
  // that with the newest source.
  best(tool, param, rules) {
    let best, newest = -1
    for (const rule of rules) {
      const text = rule.side > 1, source = text ? -1 : this.newest(rule.tool)
      if (!text && source < 0) continue
      const share = shareOf(rule, this.near(tool, source))
      if (best && (share < best.share || (share === best.share && source <= newest))) continue
      const value = text ? this.text(rule.shape, tool, param) : this.read(rule, source, tool, param)
      if (value === undefined) continue
      best = { param, value, source: text ? "text" : "dependency", share }
      newest = source
    }
    return best
  }

  // What a path selects: of several values the first that the parameter has not
  // had, before it such a one that the user has named.
  read(rule, source, tool, param) {
    const call = this.calls[source]
    if (!rule.steps || (rule.side === 0 && call.result === undefined)) return undefined
    const nodes = walk(rule.steps, rule.side === 0 ? this.result(source) : call.args ?? {}, tool)
    if (rule.steps.every((s) => s.kind !== "each")) return nodes.length === 1 && nodes[0] !== null ? nodes[0] : undefined
    let first
    for (const value of nodes) {
      if (this.had(tool, param, canonical(value))) continue
      if (typeof value === "string" && this.named.has(value)) return value
      if (first === undefined) first = value
    }
    return first
  }

  text(shape, tool, param) {
    for (const words of [...this.words].reverse()) {
      for (const w of words) if (w.shape === shape && !this.had(tool, param, canonical(w.text))) return w.text
    }
    return undefined
  }
}

function textsOf(args) {
  const out = new Map()
  for (const k of Object.keys(args)) out.set(k, canonical(args[k]))
  return out
}

function fits(schema, param, value) {
  const properties = isObject(schema) ? schema["properties"] : null
  const allowed = isObject(properties) && Object.hasOwn(properties, param) ? properties[param] : null
  if (!isObject(allowed)) return true
  const choices = allowed["enum"], kinds = allowed["type"]
  if (choices !== undefined && !(Array.isArray(choices) && choices.map(canonical).includes(canonical(value)))) return false
  const list = typeof kinds === "string" ? [kinds] : Array.isArray(kinds) ? kinds : []
  return list.length === 0 || list.some((kind) => is(kind, value))
}

function is(kind, value) {
  switch (kind) {
    case "string":
    case "number":
    case "boolean":
      return typeof value === kind
    case "integer":
      return Number.isInteger(value)
    case "array":
      return Array.isArray(value)
    case "object":
      return isObject(value)
    case "null":
      return value === null
  }
  return true
}

/** Whether the next call may be made without the model. */
export function gate(history, share = 0.3) {
  if (history.filter((e) => e.inertial).length + 1 > share * (history.length + 1)) return false
  const last = history.at(-1)
  return !last || !(last.inertial || last.failed)
}
