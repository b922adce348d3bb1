"""Predict an agent's next call from a snapshot that awo has compiled.

Needs nothing but the standard library (Python 3.8 or later):

    snapshot = Snapshot.open("inertia.awo")
    snapshot.predict(["find_user"])        # the likeliest outcomes, best first
    gate(history)                          # may the next call do without the model?

A snapshot is mapped into memory; opening reads its header and table of sections,
and a section is read when it is first needed. Broken files raise SnapshotError,
whose `code` is that of the Go reader. Objects are immutable and safe to share
between threads; to turn to another snapshot, open it and replace the reference.
"""

import mmap
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
            info, contexts = self._section(1), self._section(3)
            model = {
                "order": info.number(0),
                "no_state": info.number(5) == 1,
                "tools": [NONE] + self._section(2).texts(0),
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
        rest = weight / (len(p) + 1)
        return [x + rest for x in p], rest

    def predict(self, calls, state=0, n=3):
        """The n likeliest outcomes as (tool, probability), "" for no call."""
        p, _ = self.distribution(calls, state)
        order = sorted(range(len(p)), key=lambda s: (-p[s], s))[:n]
        return [(self._load()["tools"][s], p[s]) for s in order]


def gate(history, share=0.3):
    """Whether the next call may be made without the model.

    history is a list of (inertial, failed), one for each call so far.
    """
    if sum(1 for inertial, _ in history if inertial) + 1 > share * (len(history) + 1):
        return False
    return not history or not (history[-1][0] or history[-1][1])
