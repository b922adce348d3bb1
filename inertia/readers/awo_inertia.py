"""Predict an agent's next call from a snapshot that awo has compiled.

Needs nothing but the standard library (Python 3.8 or later):

    snapshot = Snapshot.open("inertia.awo")
    snapshot.predict(["find_user"])        # the likeliest outcomes, best first
    snapshot.fill("get_user", events)      # the arguments of a call, as far as known
    gate(history)                          # may the next call do without the model?

A snapshot is mapped into memory; opening reads its header and table of sections,
and a section is read when it is first needed. Broken files raise SnapshotError,
whose `code` is that of the Go reader. Objects are immutable and safe to share
between threads; to turn to another snapshot, open it and replace the reference.
"""

import json
import mmap
import re
import struct

MAGIC = b"AWOinert"
VERSION = 1
START = 0xFFFFFFFF
UNKNOWN = 0xFFFFFFFE

# States of a turn: add those that hold.
USER, FAILED, PARALLEL, INSIDE = 1, 2, 4, 8

NONE = ""  # the outcome of a turn that makes no call


class SnapshotError(Exception):
    """A file that is no snapshot, is broken, or of a newer version."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


def _castagnoli():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_TABLE = _castagnoli()


def _crc(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class _Table:
    """A FlatBuffer of one table, as snapshot.fbs has them."""

    def __init__(self, data):
        self.data = data
        self.at = self._u32(0)
        self.view = self.at - self._unpack("<i", self.at)
        self.size = self._unpack("<H", self.view)

    def _unpack(self, form, at):
        if at < 0 or at + struct.calcsize(form) > len(self.data):
            raise SnapshotError("snapshot-corrupt", "a table points out of its section")
        return struct.unpack_from(form, self.data, at)[0]

    def _u32(self, at):
        return self._unpack("<I", at)

    def _field(self, slot):
        entry = 4 + 2 * slot
        offset = self._unpack("<H", self.view + entry) if entry + 2 <= self.size else 0
        return self.at + offset if offset else 0

    def number(self, slot, form="<Q"):
        at = self._field(slot)
        return self._unpack(form, at) if at else 0

    def _span(self, at, size):
        start = at + self._u32(at)
        n = self._u32(start)
        if start + 4 + n * size > len(self.data):
            raise SnapshotError("snapshot-corrupt", "a table points out of its section")
        return start + 4, n

    def vector(self, slot, form):
        """The elements of a vector; form is I, Q or d."""
        at = self._field(slot)
        if not at:
            return ()
        size = struct.calcsize("<" + form)
        start, n = self._span(at, size)
        if struct.pack("=H", 1) == b"\1\0":
            return self.data[start : start + n * size].cast(form)
        return struct.unpack_from(f"<{n}{form}", self.data, start)

    def texts(self, slot):
        at = self._field(slot)
        if not at:
            return []
        start, n = self._span(at, 4)
        out = []
        for i in range(n):
            first, size = self._span(start + 4 * i, 1)
            out.append(str(self.data[first : first + size], "utf-8", "replace"))
        return out


class Snapshot:
    """A compiled inertia graph."""

    def __init__(self, data):
        """Take the bytes of a snapshot."""
        self._data = data = memoryview(data)
        if bytes(data[:8]) != MAGIC:
            raise SnapshotError("snapshot-foreign", "this is no snapshot of awo")
        if len(data) < 32:
            raise SnapshotError("snapshot-truncated", "the file ends inside its header")
        version, n, size, checksum = struct.unpack_from("<IIQI", data, 8)
        if version != VERSION:
            raise SnapshotError("snapshot-newer", f"the snapshot is of version {version}, and this reads version {VERSION}")
        if size != len(data):
            raise SnapshotError("snapshot-truncated", f"the file has {len(data)} bytes and says that it has {size}")
        if n > 64 or 32 + 24 * n > len(data) or _crc(data[32 : 32 + 24 * n], _crc(data[:24])) != checksum:
            raise SnapshotError("snapshot-corrupt", "the header contradicts its checksum")
        self._sections = {}
        for i in range(n):
            kind, crc, at, length = struct.unpack_from("<IIQQ", data, 32 + 24 * i)
            if at % 16 or at > len(data) or length > len(data) - at:
                raise SnapshotError("snapshot-corrupt", "a section lies outside of the file")
            self._sections.setdefault(kind, (crc, at, length))
        self._model = None
        self._filling = None

    @classmethod
    def open(cls, path):
        """Map a file."""
        with open(path, "rb") as f:
            f.seek(0, 2)
            if f.tell() < 32:
                f.seek(0)
                return cls(f.read())
            return cls(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))

    def verify(self):
        """Check every checksum. This reads the whole file, byte by byte."""
        for kind, (crc, at, length) in self._sections.items():
            if _crc(self._data[at : at + length]) != crc:
                raise SnapshotError("snapshot-corrupt", f"section {kind} contradicts its checksum")

    def _section(self, kind):
        if kind not in self._sections:
            raise SnapshotError("snapshot-corrupt", f"section {kind} is missing")
        _, at, length = self._sections[kind]
        return _Table(self._data[at : at + length])

    def _load(self):
        if self._model is None:
            info, tools, contexts = self._section(1), self._section(2), self._section(3)
            calls, first = tools.vector(4, "Q"), tools.vector(9, "I")
            model = {
                "order": info.number(0),
                "no_state": info.number(5) == 1,
                "tools": [NONE] + tools.texts(0),
                # Several calls in one, that no trace makes: no outcomes of their own.
                "meta": [i + 1 for i in range(min(len(first), len(calls))) if first[i] and not calls[i]],
                "child_from": contexts.vector(0, "I"),
                "child_symbol": contexts.vector(1, "I"),
                "cell_from": contexts.vector(2, "I"),
                "cell_next": contexts.vector(3, "I"),
                "cell_share": contexts.vector(4, "d"),
                "backoff": contexts.vector(5, "d"),
            }
            n = len(model["backoff"])
            if (
                n == 0
                or len(calls) != len(model["tools"]) - 1
                or len(model["child_from"]) != n + 1
                or len(model["child_symbol"]) != n - 1
                or len(model["cell_from"]) != n + 1
                or len(model["cell_share"]) != len(model["cell_next"])
            ):
                raise SnapshotError("snapshot-corrupt", "the columns of the contexts differ in length")
            model["symbols"] = {name: i for i, name in enumerate(model["tools"]) if i}
            self._model = model
        return self._model

    @property
    def tools(self):
        """The names of the tools, in order."""
        return self._load()["tools"][1:]

    def _child(self, model, node, symbol):
        symbols = model["child_symbol"]
        first, end = model["child_from"][node], model["child_from"][node + 1]
        lo, hi = first, end
        if first == 0 or end < first or end - 1 > len(symbols):
            return None
        while lo < hi:
            middle = (lo + hi) // 2
            if symbols[middle - 1] < symbol:
                lo = middle + 1
            else:
                hi = middle
        return lo if lo < end and symbols[lo - 1] == symbol else None

    def distribution(self, calls, state=0):
        """Probabilities of no call and of the tools in order, and of any other tool.

        calls are the names of the tools called so far, the newest last.
        """
        model = self._load()
        if model["no_state"] and state < INSIDE:
            state = 0
        path, node = [0], self._child(model, 0, state)
        for i in range(model["order"] + 1):
            if node is None:
                break
            path.append(node)
            if i == model["order"] or i > len(calls):
                break
            symbol = START if i == len(calls) else model["symbols"].get(calls[-1 - i], UNKNOWN)
            node = self._child(model, node, symbol)
        p = [0.0] * len(model["tools"])
        weight = 1.0
        for node in reversed(path):
            first, end = model["cell_from"][node], model["cell_from"][node + 1]
            if first <= end <= len(model["cell_next"]):
                for i in range(first, end):
                    if model["cell_next"][i] < len(p):
                        p[model["cell_next"][i]] += weight * model["cell_share"][i]
            weight *= model["backoff"][node]
        rest = weight / (len(p) + 1 - len(model["meta"]))
        p = [x + rest for x in p]
        for symbol in model["meta"]:
            p[symbol] = 0.0
        return p, rest

    def _load_filling(self):
        if self._filling is None:
            tools, rules = self._section(2), self._section(5)
            names = [NONE] + tools.texts(0)
            calls, param_from, param = tools.vector(4, "Q"), tools.vector(5, "I"), tools.texts(6)
            required, present = tools.vector(7, "I"), tools.vector(8, "Q")
            rule_from, of, side, source = rules.vector(0, "I"), rules.texts(1), rules.vector(2, "I"), rules.vector(3, "I")
            path, uses = rules.texts(4), rules.vector(5, "Q")
            if not (
                _ranges(param_from, len(names) - 1, len(param))
                and len(calls) == len(names) - 1
                and len(required) == len(present) == len(param)
                and _ranges(rule_from, len(names), len(of))
                and len(side) == len(source) == len(path) == len(of)
                and len(uses) == 6 * len(of)
                and all(side[i] > 1 or 0 < source[i] < len(names) for i in range(len(of)))
            ):
                raise SnapshotError("snapshot-corrupt", "the columns of the tools or rules differ in length")
            filling = {}
            for i, name in enumerate(names[1:]):
                params = [
                    (param[j], required[j] == 1)
                    for j in range(param_from[i], param_from[i + 1])
                    if required[j] == 1 or 2 * present[j] >= calls[i]
                ]
                mine = range(rule_from[i + 1], rule_from[i + 2])
                filling[name] = params, [_Rule(of[j], side[j], names[source[j]] if side[j] < 2 else None, path[j], uses[6 * j : 6 * j + 6]) for j in mine]
            self._filling = filling
        return self._filling

    def fill(self, tool, events, schema=None):
        """The arguments of a call of tool, as far as they follow from events.

        events is what was known before the turn, oldest first: {"user": text} for
        a message of the user, and for a call {"tool": name, "args": {...}} with
        "result" (a value, or text) once it is known, and "turn" (a number) where
        calls were made in parallel. schema, the tool's input schema, refuses values
        of other types and enumerations. The key state of adapter rules is Go's alone.
        """
        params, rules = self._load_filling().get(tool, ((), ()))
        view, filled, complete = _View(events), [], True
        for param, required in params:
            best = view.best(tool, param, [r for r in rules if r.param == param])
            if best is not None and not (schema is None or _fits(schema, param, best.value)):
                best = None
            if best is not None:
                filled.append(best)
            elif required:
                complete = False
        args = {f.param: f.value for f in filled}
        return Fill(args, complete, complete and view.repeated(tool, args), filled)

    def predict(self, calls, state=0, n=3):
        """The n likeliest outcomes as (tool, probability), "" for no call."""
        p, _ = self.distribution(calls, state)
        order = sorted(range(len(p)), key=lambda s: (-p[s], s))[:n]
        return [(self._load()["tools"][s], p[s]) for s in order]


class Fill:
    """The arguments of one call: args by name, whether every required one has a
    value (complete), whether the same call was made before (repeated), and for
    each in filled its param, value, source ("dependency" or "text") and share, how
    often its rule is expected to be right.
    """

    def __init__(self, args, complete, repeated, filled):
        self.args, self.complete, self.repeated, self.filled = args, complete, repeated, filled


class Filled:
    """One argument that was filled in."""

    def __init__(self, param, value, source, share):
        self.param, self.value, self.source, self.share = param, value, source, share


NEAR, WALK, FAR = 0, 1, 2  # where the source of an argument stands


class _Rule:
    def __init__(self, param, side, tool, path, uses):
        self.param, self.side, self.tool, self.uses = param, side, tool, uses
        self.shape = path
        self.steps = _parse_path(path) if side < 2 else None

    def share(self, near):
        tried, right = sum(self.uses[0::2]), sum(self.uses[1::2])
        mean = (right + 0.5) / (tried + 1.5)
        return (self.uses[2 * near + 1] + 2 * mean) / (self.uses[2 * near] + 2)


def _ranges(first, n, size):
    return len(first) == n + 1 and first[0] == 0 and first[n] == size and all(first[i] <= first[i + 1] for i in range(n))


_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]{1,9})\]|(\[\*\])|\[\?@\.([A-Za-z_][A-Za-z0-9_]*) == \?\]")


def _parse_path(path):
    """The steps of a path as (kind, operand), None for what this cannot read."""
    if path[:1] != "$":
        return None
    steps, at = [], 1
    while at < len(path):
        m = _STEP.match(path, at)
        if not m:
            return None
        steps.append(("member", m[1]) if m[1] else ("index", int(m[2])) if m[2] else ("each", None) if m[3] else ("name", m[4]))
        at = m.end()
    return steps


def _refuse(text):
    raise ValueError(text)


def _parse(text):
    """The JSON value of a text, strictly; ValueError or RecursionError."""
    return json.loads(text, parse_constant=_refuse)


_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


def _through(text):
    """The object or array that a text is the JSON of, else None."""
    text = text.strip(_SPACE)
    if text[:1] not in ("{", "["):
        return None
    try:
        return _parse(text)
    except (ValueError, RecursionError):
        return None


def _canonical(value):
    """What values are compared by: equal text means equal value and type."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _name_parts(name):
    """What stands between word boundaries of a name: of mail_login mail, mail_login
    and login."""
    words = list(re.finditer("[0-9A-Za-z]+", name))[:12]
    return {name[a.start() : b.end()] for i, a in enumerate(words) for b in words[i:]}


def _walk(steps, value, tool):
    """What a path selects; a step "name" those records whose member is a part of the
    name of the tool."""
    nodes = [value]
    for kind, operand in steps:
        found = []
        for v in nodes:
            if isinstance(v, str):
                v = _through(v)
            if kind == "member":
                if isinstance(v, dict) and operand in v:
                    found.append(v[operand])
            elif kind == "index":
                if isinstance(v, list) and operand < len(v):
                    found.append(v[operand])
            else:
                each = v if isinstance(v, list) else [v[k] for k in sorted(v)] if isinstance(v, dict) else []
                if kind == "name":
                    parts = _name_parts(tool)
                    each = [e for e in each if isinstance(e, dict) and isinstance(e.get(operand), str) and e[operand] in parts]
                found.extend(each)
        nodes = found
    return nodes


_WORD = re.compile("[^\\x00-\\x20,;!?\"'()\\[\\]{}<>*`]+")
_RUN = re.compile("[0-9A-Za-z]+|.", re.S)


def _shape(text):
    """The form of an identifier without its content, None for plain words."""
    if not text.isascii():
        return None
    out, telling, at = [], False, 0
    for m in _RUN.finditer(text):
        run = m[0]
        if not run.isalnum():
            telling = telling or 0 < at < len(text) - 1
            out.append(run)
        else:
            upper, lower = any("A" <= c <= "Z" for c in run), any("a" <= c <= "z" for c in run)
            digit = any("0" <= c <= "9" for c in run)
            capitals = upper and not lower and len(run) > 1
            if digit:
                out.append(("X" if upper or lower else "9") + str(len(run)))
            else:
                out.append("A" + str(len(run)) if capitals else "a")
            telling = telling or digit or capitals
        at = m.end()
    return "".join(out) if telling else None


def _words(text):
    """The identifiers of a message, with their shapes."""
    out = []
    for m in _WORD.finditer(text):
        word = m[0].strip(".:-_")
        if 3 <= len(word) <= 64 and len(out) < 400:
            shape = _shape(word)
            if shape is not None:
                out.append((word, shape))
    return out


class _View:
    """What is known before a turn."""

    def __init__(self, events):
        self.calls = [e for e in events if "tool" in e]
        self.words = [_words(e["user"]) for e in events if "user" in e]
        self.named = {word for words in self.words for word, _ in words}
        self.args = [{k: _canonical(v) for k, v in c.get("args", {}).items()} for c in self.calls]
        self.results = {}

    def newest(self, tool):
        return next((i for i in range(len(self.calls) - 1, -1, -1) if self.calls[i]["tool"] == tool), -1)

    def near(self, tool, source):
        if not self.calls:
            return FAR
        last = self.calls[-1]
        if last["tool"] == tool:
            return WALK
        if source >= 0:
            turn = last.get("turn")
            if source == len(self.calls) - 1 or turn is not None and self.calls[source].get("turn") == turn:
                return NEAR
        return FAR

    def had(self, tool, param, text):
        return any(c["tool"] == tool and a.get(param) == text for c, a in zip(self.calls, self.args))

    def repeated(self, tool, args):
        args = {k: _canonical(v) for k, v in args.items()}
        return any(c["tool"] == tool and a == args for c, a in zip(self.calls, self.args))

    def result(self, call):
        if call not in self.results:
            value = self.calls[call]["result"]
            for _ in range(2):  # JSON text, perhaps quoted once more
                if not isinstance(value, str) or value.lstrip("\t\n\r ")[:1] not in ("{", "[", '"'):
                    break
                try:
                    inner = _parse(value)
                except (ValueError, RecursionError):
                    break
                value = inner
            self.results[call] = value if isinstance(value, (dict, list)) else self.calls[call]["result"]
        return self.results[call]

    def best(self, tool, param, rules):
        """Of the rules that give a value the one that is most often right, of equal
        ones that with the newest source."""
        best, newest = None, -1
        for rule in rules:
            source = -1
            if rule.side < 2:
                source = self.newest(rule.tool)
                if source < 0:
                    continue
            share = rule.share(self.near(tool, source))
            if best is not None and (share < best.share or share == best.share and source <= newest):
                continue
            got = self.read(rule, source, tool, param) if rule.side < 2 else self.text(rule.shape, tool, param)
            if got:
                best, newest = Filled(param, got[0], "dependency" if rule.side < 2 else "text", share), source
        return best

    def read(self, rule, source, tool, param):
        """What a path selects, in a list of one; of several values the first that
        the parameter has not had, before it such a one that the user has named."""
        if rule.steps is None:
            return []
        if rule.side == 0:
            if "result" not in self.calls[source]:
                return []
            held = self.result(source)
        else:
            held = self.calls[source].get("args", {})
        nodes = _walk(rule.steps, held, tool)
        if all(kind != "each" for kind, _ in rule.steps):
            return nodes if len(nodes) == 1 and nodes[0] is not None else []
        first = []
        for value in nodes:
            if self.had(tool, param, _canonical(value)):
                continue
            if isinstance(value, str) and value in self.named:
                return [value]
            first = first or [value]
        return first

    def text(self, shape, tool, param):
        for words in reversed(self.words):
            for word, form in words:
                if form == shape and not self.had(tool, param, _canonical(word)):
                    return [word]
        return []


def _fits(schema, param, value):
    properties = schema.get("properties") if isinstance(schema, dict) else None
    allowed = properties.get(param) if isinstance(properties, dict) else None
    if not isinstance(allowed, dict):
        return True
    enum, kinds = allowed.get("enum"), allowed.get("type")
    if "enum" in allowed and _canonical(value) not in [_canonical(e) for e in (enum if isinstance(enum, list) else [])]:
        return False
    kinds = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    return not kinds or any(_is(kind, value) for kind in kinds)


def _is(kind, value):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "string": isinstance(value, str),
        "integer": number and isinstance(value, int),
        "number": number,
        "boolean": isinstance(value, bool),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
        "null": value is None,
    }.get(kind, True)


def gate(history, share=0.3):
    """Whether the next call may be made without the model.

    history is a list of (inertial, failed), one for each call so far.
    """
    if sum(1 for inertial, _ in history if inertial) + 1 > share * (len(history) + 1):
        return False
    return not history or not (history[-1][0] or history[-1][1])
