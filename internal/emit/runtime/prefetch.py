"""Reading ahead: reads that usually follow an answer are made with it.

Made by awo from recorded trajectories; changes are lost when it is made again.
Needs Python 3.9 or newer and nothing else.

    import prefetch

    call_tool = prefetch.with_prefetch(call_tool)   # yours; one for each run of an agent

The call_tool that comes back takes the same arguments and gives the same answers. Where
an answer holds values that agents usually ask about next, these reads are made at once,
over your call_tool, and what they returned is attached to the answer:

    {"orders": ["#1", "#2"], "read_ahead": [{"tool": "get_order", "arguments": {...}, "result": ...}]}

An answer that is a text gets it in the text, any other that is no object becomes
{"result": ..., "read_ahead": [...]}. If there is nothing to attach, the answer is what
your call_tool returned. Tell the agent that what stands there need not be asked for.

Messages of the user hold values that agents ask about, too:

    told = call_tool.on_user_message(text)   # [{"tool": ..., "arguments": {...}, "result": ...}, ...]

makes such reads and returns what they gave, to be put into the context with the message
(await it if your call_tool is asynchronous). Call it for each message, in order.

Only tools that are known to only read are called. A read that fails, is late or is too
large is left out, and so are all that were made while another tool was called, which may
have changed what they read. call_tool may be asynchronous. If it is not, reads are made on
other threads: call_tool must bear that. An exception that is called ToolFailed, and an
answer with "isError": true, are failures of a tool; they are followed by no reads.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
import time
from collections.abc import Mapping
from decimal import Decimal

MAX_READS = 32  # that one answer leads to, whatever the options say
MAX_SAID = 4  # that one message leads to, without what follows from their answers
MAX_SAID_SESSION = 64  # that all messages of a run lead to


def with_prefetch(call_tool, *, max_reads=MAX_READS, max_bytes=65536, seconds=2.0, parallel=4, member="read_ahead"):
    """Return a call_tool(name, args) that reads ahead; it follows one run of an agent.

    Options, each for one answer: max_reads (how many reads it leads to at most),
    max_bytes (of what is attached, as JSON), seconds (that the answer waits for reads at
    most). parallel is how many reads are under way at once, of all answers together, and
    member the name under which results are attached.
    """
    run = _Run(call_tool, min(max_reads, MAX_READS), max_bytes, seconds, max(parallel, 1), member)

    def wrapped(name, args):
        own = run.begin(name, args)
        answering = False
        try:
            result = call_tool(name, args)
            if hasattr(result, "__await__"):
                answering = True
                return _later(run, own, result)
        except BaseException as error:
            run.raised(own, error)
            raise
        finally:
            if not answering:
                run.end(own)
        batch = run.answered(own, result)
        return result if batch is None else run.attached(result, _on_threads(run, batch))

    async def awaited(name, args):
        return await wrapped(name, args)

    async def heard_later(text):
        batch = run.heard(text)
        return [] if batch is None else run.entries(await _as_tasks(run, batch))

    def heard(text):
        batch = run.heard(text)
        return [] if batch is None else run.entries(_on_threads(run, batch))

    if inspect.iscoroutinefunction(call_tool):
        awaited.on_user_message = heard_later
        return awaited
    wrapped.on_user_message = heard
    return wrapped


async def _later(run, own, awaitable):
    """Await an answer, and what is read ahead of it."""
    try:
        result = await awaitable
    except BaseException as error:
        run.raised(own, error)
        raise
    finally:
        run.end(own)
    batch = run.answered(own, result)
    return result if batch is None else run.attached(result, await _as_tasks(run, batch))


def _on_threads(run, batch):
    """Make the reads of a batch, and return whether there was time for them."""
    limit = time.monotonic() + run.seconds

    def work():
        try:
            while True:
                with run.lock:
                    read = batch.take()
                    while read is None and not batch.ended():
                        run.lock.wait()
                        read = batch.take()
                    if read is None:
                        return
                made = _Made(None, False)
                try:
                    answer = run.call_tool(read.tool, _plain(read.args))
                    if not _failed(answer):
                        made = _Made(answer, True)
                except Exception:
                    pass
                with run.lock:
                    run.settle(batch, read, made)
                    run.lock.notify_all()
        finally:
            with run.lock:
                run.running -= 1
                run.lock.notify_all()

    with run.lock:
        slots = max(min(run.parallel - run.running, len(batch.reads)), 0)
        run.running += slots
    started = 0
    try:
        while started < slots:
            threading.Thread(target=work, daemon=True).start()
            started += 1
        with run.lock:
            while started and not batch.settled():
                left = limit - time.monotonic()
                if left <= 0:
                    break
                run.lock.wait(left)
    except RuntimeError:
        pass  # no thread can be started
    finally:
        with run.lock:
            run.running -= slots - started
            batch.closed = True
            run.lock.notify_all()
    with run.lock:
        return run.closed(batch)


async def _as_tasks(run, batch):
    """Make the reads of a batch in the running event loop."""
    limit = time.monotonic() + run.seconds
    tasks = {}

    async def make(read):
        answer = run.call_tool(read.tool, _plain(read.args))
        return await answer if hasattr(answer, "__await__") else answer

    try:
        while not batch.settled():
            while run.running < run.parallel:
                read = batch.take()
                if read is None:
                    break
                run.running += 1
                tasks[asyncio.ensure_future(make(read))] = read
            left = limit - time.monotonic()
            if not tasks or left <= 0:
                break
            done, _ = await asyncio.wait(tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
            for task in done:
                run.running -= 1
                read = tasks.pop(task)
                good = not task.cancelled() and task.exception() is None and not _failed(task.result())
                run.settle(batch, read, _Made(task.result() if good else None, good))
    finally:
        batch.closed = True
        for task in tasks:
            run.running -= 1
            task.add_done_callback(lambda t: t.cancelled() or t.exception())
            task.cancel()
    return run.closed(batch)


def _failed(answer):
    return isinstance(answer, Mapping) and answer.get("isError") is True


class _Call:
    """A call of the agent that is under way."""

    def __init__(self, tool, args, reads):
        self.tool, self.args, self.reads = tool, args, reads


class _Read:
    """A read to make."""

    def __init__(self, tool, args, level):
        self.tool, self.args, self.level = tool, args, level


class _Made:
    """What came of a read."""

    def __init__(self, result, good):
        self.result, self.good = result, good


class _Batch:
    """The reads that one answer leads to, in the order of the rules."""

    def __init__(self, reads, epoch):
        self.reads, self.made = list(reads), [None] * len(reads)
        self.taken = self.followed = 0
        self.epoch = epoch
        self.closed = False

    def take(self):
        """Return the next read to make, None if there is none now."""
        if self.closed or self.taken == len(self.reads):
            return None
        self.taken += 1
        return self.reads[self.taken - 1]

    def settled(self):
        return all(made is not None for made in self.made)

    def ended(self):
        return self.closed or self.settled()


class _Run:
    """What one run of an agent has asked for, and what may be read ahead of it."""

    def __init__(self, call_tool, max_reads, max_bytes, seconds, parallel, member):
        self.call_tool, self.max_reads, self.max_bytes = call_tool, max_reads, max_bytes
        self.seconds, self.parallel, self.member = seconds, parallel, member
        self.lock = threading.Condition()
        self.running = 0  # reads
        self.asked = set()  # calls that were made, by the agent or ahead of it
        self.called = set()  # tools
        self.failed = False  # the last call
        self.changing = 0  # calls under way of tools that are not known to only read
        self.epoch = 0  # such calls so far
        self.budget = 0
        self.begun = False
        self.said = 0  # reads that messages led to
        self.succeeded = set()  # tools
        self.waiting = []  # rules and arguments that wait until a tool of their trust succeeds

    def heard(self, text):
        """Return the reads that a message of the user leads to, None if there are none."""
        with self.lock:
            reads, self.budget = [], MAX_SAID
            if not self.begun:
                self.begun = True
                for rule in _RULES.get("", ()):
                    if rule["kind"] == "none":
                        self.read(reads, rule, _constants(rule, {}), 0)
            said = [rule for rule in _RULES.get("", ()) if rule["kind"] == "user"]
            offers = [[(n, w) for n, w in _heard(rule, text) if rule["target"] + "\0" + _key(w) not in self.asked] for rule in said]
            for rule, found in zip(said, offers):
                if rule["alone"] and any(other and one["target"] != rule["target"] for one, other in zip(said, offers)):
                    continue
                for number, wanted in found:
                    if rule["most"] and number >= rule["most"]:
                        continue
                    if rule["trust"] and not self.succeeded.intersection(rule["trust"]):
                        if len(self.waiting) < MAX_SAID_SESSION:
                            self.waiting.append((rule, wanted))
                    elif self.said < MAX_SAID_SESSION:
                        self.said += self.read(reads, rule, wanted, 0)
            return _Batch(reads, self.epoch) if reads and not self.changing else None

    def released(self, tool):
        """Return the reads of values that waited for the success of a tool."""
        reads, waiting = [], []
        if tool in self.succeeded:
            return reads
        self.succeeded.add(tool)
        for rule, wanted in self.waiting:
            if tool not in rule["trust"] or len(reads) >= MAX_SAID or self.said >= MAX_SAID_SESSION:
                waiting.append((rule, wanted))
            else:
                self.said += self.read(reads, rule, wanted, 0)
        self.waiting = waiting
        return reads

    def begin(self, tool, args):
        """Note that the agent makes a call."""
        with self.lock:
            reads = isinstance(tool, str) and tool in _READS
            if not reads:
                self.changing += 1
                self.epoch += 1
            try:
                args = _plain(args)
            except (TypeError, ValueError, RecursionError):
                args = None
            if isinstance(args, dict) and isinstance(tool, str):
                self.know(tool, args)
            return _Call(tool, args, reads)

    def end(self, own):
        """Note that a call has ended, however it did."""
        with self.lock:
            if not own.reads:
                self.changing -= 1
                self.epoch += 1

    def raised(self, own, error):
        """Note that a call raised: a failure of the tool, or no answer."""
        if any(kind.__name__ == "ToolFailed" for kind in type(error).__mro__):
            with self.lock:
                self.failed = True
                if isinstance(own.tool, str):
                    self.called.add(own.tool)

    def answered(self, own, result):
        """Return the reads that an answer leads to, None if there are none."""
        with self.lock:
            again, before = own.tool in self.called, self.failed
            self.failed = _failed(result)
            if not isinstance(own.tool, str):
                return None
            self.called.add(own.tool)
            if self.failed or not isinstance(own.args, dict) or self.changing:
                return None
            try:
                self.budget = self.max_reads
                reads = self.released(own.tool)
                if own.tool in _RULES:
                    held = _plain(result)
                    if isinstance(held, dict) and self.member in held:
                        return None
                    reads += self.follow(own.tool, own.args, _read(held), 1, again, before)
            except (TypeError, ValueError, RecursionError):
                return None
            return _Batch(reads, self.epoch) if reads else None

    def settle(self, batch, read, made):
        """Note what came of a read, and what follows from it in its turn."""
        try:
            batch.made[batch.reads.index(read)] = made
            while batch.followed < len(batch.reads) and batch.made[batch.followed] is not None:
                one = batch.reads[batch.followed]
                made = batch.made[batch.followed]
                batch.followed += 1
                if one.level > 1 or not made.good or batch.closed or batch.epoch != self.epoch:
                    continue
                again = one.tool in self.called
                self.called.add(one.tool)
                # The budget is that of the answer: calls of the agent may have come between.
                self.budget = self.max_reads - len(batch.reads)
                more = self.released(one.tool)
                more += self.follow(one.tool, one.args, _read(_plain(made.result)), one.level + 1, again, self.failed)
                batch.reads.extend(more)
                batch.made.extend([None] * len(more))
        except (TypeError, ValueError, RecursionError):
            made.good = False

    def closed(self, batch):
        """Return what may be attached: nothing that may have changed since."""
        if batch.epoch != self.epoch or self.changing:
            return []
        return [(read, made) for read, made in zip(batch.reads, batch.made) if made is not None and made.good]

    def know(self, tool, args):
        key = tool + "\0" + _key(args)
        if key in self.asked or len(self.asked) >= _MAX_KNOWN:
            return False
        self.asked.add(key)
        return True

    def follow(self, tool, args, result, level, again, failed):
        reads = []
        for rule in _RULES.get(tool, ()):
            if level > rule["depth"] or not _applies(rule, again, failed):
                continue
            for element, wanted in _offers(rule, args, result):
                if rule["most"] and element >= rule["most"]:
                    break
                self.read(reads, rule, wanted, level)
        return reads

    def read(self, reads, rule, wanted, level):
        """Add the read of an offer unless it was made before, and return how many are added."""
        if self.budget <= 0 or not self.know(rule["target"], wanted):
            return 0
        self.budget -= 1
        reads.append(_Read(rule["target"], wanted, level))
        return 1

    def entries(self, made):
        """Return what was read, as far as there is room for it."""
        entries, size = [], 0
        for read, one in made:
            entry = {"tool": read.tool, "arguments": read.args, "result": _content(_plain(one.result))[0]}
            size += len(_compact(entry).encode()) + 1
            if size > self.max_bytes:
                break
            entries.append(entry)
        return entries

    def attached(self, result, made):
        """Return an answer with what was read ahead of it."""
        try:
            entries = self.entries(made)
            return _joined(result, self.member, entries) if entries else result
        except (TypeError, ValueError, RecursionError):
            return result


def _joined(result, member, entries):
    """Put entries under one member of an answer."""
    if isinstance(result, str):
        text = result.rstrip(_BLANKS)
        if text.endswith("}") and isinstance(_parsed(text.lstrip(_BLANKS)), dict):
            held = _parsed(text.lstrip(_BLANKS))
            if member in held:
                return result
            return text[:-1] + ("," if held else "") + json.dumps(member) + ":" + _compact(entries) + "}"
        return result + "\n\n" + _compact({member: entries})
    block = {"type": "text", "text": _compact({member: entries})}
    if isinstance(result, list) and _is_blocks(_plain(result)):
        return [*result, block]
    if isinstance(result, Mapping):
        out, held = dict(result), _plain(result)
        if not _is_tool_result(held):
            out[member] = entries
            return out
        shown = held.get("content") or [{"type": "text", "text": _compact(held.get("structuredContent"))}]
        out["content"] = [*shown, block]
        return out
    return {"result": result, member: entries}


def _compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _read(result):
    """Return the value of an answer: what it holds, and of text that where it is JSON."""
    result, _ = _content(result)
    if _is_blocks(result):
        result = _blocks_text(result)
    if isinstance(result, str):
        value = _parsed(result.strip(_BLANKS))
        return result if value is _NOTHING else value
    return result


def _applies(rule, again, failed):
    if rule["turn"] == "first" and again or rule["turn"] == "again" and not again:
        return False
    return not (rule["last"] == "ok" and failed or rule["last"] == "failed" and not failed)


def _constants(rule, wanted):
    """Put the constants of a rule that no answer binds beside other arguments."""
    for name, _, given in rule["others"]:
        wanted[name] = _plain(given)
    return wanted


def _heard(rule, text):
    """Return the calls that a message makes possible, each with its number."""
    out = []
    text = text.encode("utf-8", "ignore")[:_MAX_MESSAGE].decode("utf-8", "ignore")
    for _ in range(_MAX_NODES):
        found = rule["compiled"].search(text)
        if found is None:
            break
        wanted, behind = _values(rule, text, found), found.end(1)
        if wanted is not None:
            out.append((len(out), _constants(rule, wanted)))
            behind = found.end()
        text = text[max(behind, 1):]
    return out


def _values(rule, text, found):
    """Return the arguments that a match gives, None if one of them is no value."""
    wanted = {}
    for group, slot in enumerate(rule["slots"], 1):
        value, begin, end = found.group(group), found.start(group), found.end(group)
        if value.lower() in slot["not"] or not _is_worth(value) or _goes_on(text[begin - 1:begin], value[0]) or _goes_on(text[end:end + 1], value[-1]):
            return None
        if slot["number"]:
            value = _parsed(value)
            if not _is_number(value):
                return None
        wanted[slot["argument"]] = value
    return wanted


def _goes_on(character, edge):
    """Say whether a letter beyond ASCII goes on with the word that a value begins or ends with."""
    return character > "\x7f" and character.isalpha() and (edge.isalnum() or edge == "_")


def _offers(rule, args, result):
    """Return the calls that an answer leads to, each with the number of its value."""
    if rule["kind"] == "none":
        return [(0, _constants(rule, {}))]
    out, number = [], 0
    elements = _select(rule["list"], result)
    if len(elements) > _MAX_NODES:
        return out
    for element in elements:
        for value in _select(rule["value"], element):
            if not _is_worth(value):
                continue
            wanted = {rule["argument"]: value}
            for name, origin, given in rule["others"]:
                if origin == "constant":
                    wanted[name] = _plain(given)
                    continue
                found = _select(given, {"answer": result, "element": element, "argument": args}[origin])
                if len(found) != 1 or not (isinstance(found[0], bool) or _is_worth(found[0])):
                    wanted = None
                    break
                wanted[name] = found[0]
            if wanted is not None:
                out.append((number, wanted))
            number += 1
    return out


def _is_worth(value):
    """Say whether a value is worth asking a tool about."""
    if isinstance(value, str):
        return value.strip(_BLANKS) != "" and len(value.encode()) <= _MAX_TEXT
    return _is_number(value)


_NOTHING = object()
_MAX_TEXT = 256  # bytes of a text that is taken for a value
_MAX_NODES = 4096  # that a path may select to be followed
_MAX_MESSAGE = 65536  # bytes of a message that are looked at
_MAX_KNOWN = 16384  # calls that a run remembers; beyond, nothing more is read ahead


@SHARED@
# What follows was found in the traces: the tools that only read, and one JSON text for
# each rule.
_READS = frozenset(json.loads(
@READS@
))
_RULES = {}
for _rule in map(json.loads, (
@RULES@
)):
    if _rule["kind"] == "user":
        _rule["compiled"] = re.compile(_rule["pattern"], re.ASCII)
    _RULES.setdefault(_rule["source"], []).append(_rule)
