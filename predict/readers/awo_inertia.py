"""Predict an agent's next call from a snapshot that awo has compiled.

Needs nothing but the standard library (Python 3.8 or later):

    snapshot = Snapshot.open("inertia.awo")
    snapshot.predict(["find_user"])        # the likeliest outcomes, best first
    gate(history)                          # may the next call do without the model?

A file that is damaged, cut off or something else raises SnapshotError, whose `code` is
that of awo. Objects are immutable and safe to share between threads. Arguments of calls
are filled in by awo itself (awo predict, awo serve).
"""

import bisect
import gzip
import hashlib
import json
import re
import zlib

SCHEMA = b"awo.snapshot-data/v1"
START = 0xFFFFFFFF
UNKNOWN = 0xFFFFFFFE

# States of a turn: add those that hold.
USER, FAILED, PARALLEL, INSIDE = 1, 2, 4, 8

NONE = ""  # the outcome of a turn that makes no call


class SnapshotError(Exception):
    """A file that is no snapshot, is damaged, or of another version."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


_HEAD = re.compile(rb'\{"schema":"(awo\.snapshot-data/[^"]*)","sha256":"([0-9a-f]{64})","content":')


class Snapshot:
    """A compiled snapshot: tools, and what is likely to follow which calls."""

    def __init__(self, data):
        """Take the bytes of a snapshot."""
        if data[:2] != b"\x1f\x8b":
            raise SnapshotError("snapshot-foreign", "this is no snapshot of awo")
        try:
            text = gzip.decompress(data)
        except EOFError:
            raise SnapshotError("snapshot-truncated", "the file ends before its end") from None
        except (OSError, zlib.error):
            raise SnapshotError("snapshot-corrupt", "the file cannot be decompressed") from None
        head = _HEAD.match(text)
        if not head:
            raise SnapshotError("snapshot-foreign", "this is no snapshot of awo")
        if head[1] != SCHEMA:
            raise SnapshotError("snapshot-version", f"the snapshot is of version {head[1]!r}, and this reads {SCHEMA!r}")
        content = text[head.end() : text.rindex(b"}")]
        if hashlib.sha256(content).hexdigest().encode() != head[2]:
            raise SnapshotError("snapshot-corrupt", "the checksum differs")
        content = json.loads(content)
        model = content["model"]
        self._order, self._child_from, self._child_symbol = model["order"], model["child_from"], model["child_symbol"]
        self._cell_from, self._next, self._share, self._backoff = model["cell_from"], model["next"], model["share"], model["backoff"]
        self._names = [NONE] + [tool["name"] for tool in content["tools"]]
        self._symbols = {name: i for i, name in enumerate(self._names) if i}

    @classmethod
    def open(cls, path):
        """Read a file."""
        with open(path, "rb") as f:
            return cls(f.read())

    @property
    def tools(self):
        """The names of the tools, in order."""
        return self._names[1:]

    def _child(self, node, symbol):
        """The context that is older by a symbol, None if it was never seen."""
        first, end = self._child_from[node] - 1, self._child_from[node + 1] - 1
        at = bisect.bisect_left(self._child_symbol, symbol, first, end)
        return at + 1 if at < end and self._child_symbol[at] == symbol else None

    def distribution(self, calls, state=0):
        """Probabilities of no call and of the tools in order, and of any other tool.

        calls are the names of the tools called so far, the newest last.
        """
        path, node = [0], self._child(0, state)
        for i in range(self._order + 1):
            if node is None:
                break
            path.append(node)
            if i == self._order or i > len(calls):
                break
            symbol = START if i == len(calls) else self._symbols.get(calls[-1 - i], UNKNOWN)
            node = self._child(node, symbol)
        p = [0.0] * len(self._names)
        weight = 1.0
        for node in reversed(path):
            for i in range(self._cell_from[node], self._cell_from[node + 1]):
                p[self._next[i]] += weight * self._share[i]
            weight *= self._backoff[node]
        rest = weight / (len(p) + 1)
        return [x + rest for x in p], rest

    def predict(self, calls, state=0, n=3):
        """The n likeliest outcomes as (tool, probability), "" for no call."""
        p, _ = self.distribution(calls, state)
        order = sorted(range(len(p)), key=lambda s: (-p[s], s))[:n]
        return [(self._names[s], p[s]) for s in order]


def gate(history, share=0.3):
    """Whether the next call may be made without the model.

    history is a list of (inertial, failed), one for each call so far.
    """
    if sum(1 for inertial, _ in history if inertial) + 1 > share * (len(history) + 1):
        return False
    return not history or not (history[-1][0] or history[-1][1])
