"""Meta-tools: sequences of tool calls that agents make as a habit, each as one call.

Made by awo from recorded trajectories; changes are lost when it is made again.
Needs Python 3.9 or newer and nothing else.

    import metatools

    def call_tool(name, args):          # yours: makes one call of a real tool
        answer = client.call(name, args)
        if answer.is_error:
            raise metatools.ToolFailed(answer.content)
        return answer.content           # a JSON value, text, or content blocks of MCP

    outcome = metatools.run("name_of_a_meta_tool", {"user_id": "u-1"}, call_tool)
    reply = outcome.text()              # what to hand to the agent, as JSON

run makes the calls one after the other, run_async does so where call_tool is
asynchronous. The first failure ends a run; it is handed back with what was done so
far, and never counts as done. An exception of call_tool counts as a call without an
answer (a TimeoutError: as time that was up); only ToolFailed is an answer.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from decimal import Decimal


class ToolFailed(Exception):
    """Raised by call_tool where the tool answered with a failure."""

    def __init__(self, result=None):
        super().__init__("the tool answered with a failure")
        self.result = result


class HandedBack(Exception):
    """Raised by Outcome.value of a run that ended early; outcome is that run."""

    def __init__(self, outcome):
        super().__init__("%s: %s" % (outcome.name, outcome.failure["code"]))
        self.outcome = outcome


class Outcome:
    """What came of a run.

    state is "done" (every call was made and none failed), "partial" (done, but for
    reads that were skipped) or "handed-back" (it ended early: see failure). as_dict()
    and text() are what to hand to an agent. steps are those that were begun, each with
    its calls and results. failure says step and call (from 1; 0 if none was begun),
    tool, code, argument and message, and as instead the tools that only read and may
    stand in for a tool that failed, where some are known. safe_to_retry says that nothing was written, or
    only what may be written twice.
    """

    def __init__(self, tool):
        self.name = tool["name"]
        self.state = "done"
        self.safe_to_retry = True
        self.steps = []
        self.failure = None
        self._tool = tool

    def as_dict(self, steps=False, max_bytes=0):
        """Return the answer as a JSON value.

        "results" are what the calls returned, in their order: objects with one member,
        named by the tool. A walk over a list is a list of "for" (the element) and
        "result". If there is something to say: "omitted" (results that another one
        contains), "cut" (with max_bytes), "state", "failure", "safe_to_retry", and with
        steps what happened step by step.
        """
        return _Answer(self, steps).cut_to(max_bytes)

    def text(self, steps=False, max_bytes=0):
        """Return the answer as compact JSON."""
        return _text(self.as_dict(steps, max_bytes))

    def value(self):
        """Return the results of the answer; raise HandedBack unless state is "done"."""
        if self.state != "done":
            if self.failure is None:
                self.failure = {"code": "partial"}
            raise HandedBack(self)
        return self.as_dict()["results"]


def names():
    """Return the names of the meta-tools."""
    return list(_META_TOOLS)


def run(name, inputs, call_tool, **options):
    """Run a meta-tool over call_tool(name, args) and return its Outcome.

    Inputs that need not be given may be None, which is the same as not given.
    Options: max_calls (of all steps together, 100), retries (how often a call that
    failed is made again if that does no harm, 1), skip_failed_reads (go on where one
    of several reads of a step fails: its result is then None and the state "partial",
    False), seconds (after which no more calls are made, None).
    """
    engine = _engine(_META_TOOLS[name], inputs, **options)
    answer = None
    while True:
        try:
            request = engine.send(answer)
        except StopIteration as stop:
            return stop.value
        try:
            result = call_tool(*request)
        except Exception as error:
            answer = _raised(error)
        else:
            if hasattr(result, "__await__"):
                raise TypeError("call_tool is asynchronous: use run_async")
            answer = _answered(result)


async def run_async(name, inputs, call_tool, **options):
    """Run a meta-tool as run does, over a call_tool that may be asynchronous."""
    engine = _engine(_META_TOOLS[name], inputs, **options)
    answer = None
    while True:
        try:
            request = engine.send(answer)
        except StopIteration as stop:
            return stop.value
        try:
            result = call_tool(*request)
            if hasattr(result, "__await__"):
                result = await result
        except Exception as error:
            answer = _raised(error)
        else:
            answer = _answered(result)


def _answered(result):
    """Return status, result and error of a call that returned."""
    try:
        result, failed = _content(_plain(result))
        return "failed" if failed else "ok", result, None
    except (TypeError, ValueError, RecursionError) as error:
        return "none", None, error


def _raised(error):
    """Return status, result and error of a call that raised."""
    if not isinstance(error, ToolFailed):
        return "none", None, error
    status, result, wrong = _answered(error.result)
    return ("failed", result, None) if status != "none" else (status, None, wrong)


def _is_timeout(error):
    return any(kind.__name__ == "TimeoutError" for kind in type(error).__mro__)


class _Failed(Exception):
    """Ends a run."""

    def __init__(self, step, call, code, argument="", error=None):
        super().__init__(code)
        self.where = (step, call, code, argument, error)


def _engine(tool, inputs, *, max_calls=100, retries=1, skip_failed_reads=False, seconds=None):
    """Yield the calls of a run, take (status, result, error) of each, return the Outcome."""
    out = Outcome(tool)
    try:
        scope = {"inputs": _checked(tool, inputs), "results": []}
        _check_given(tool, scope)
        state = {"calls": 0, "max_calls": max_calls, "retries": max(retries, 0), "skip": skip_failed_reads}
        state["limit"] = None if seconds is None else time.monotonic() + seconds
        for index in range(len(tool["steps"])):
            yield from _step(tool, index, scope, state, out)
    except _Failed as failed:
        step, call, code, argument, error = failed.where
        out.state = "handed-back"
        out.failure = {
            "step": step + 1,
            "tool": tool["steps"][step]["tool"] if step >= 0 else "",
            "call": call + 1 if step >= 0 else 0,
            "code": code,
            "argument": argument,
            "message": "" if error is None else "%s: %s" % (type(error).__name__, error),
        }
        if step >= 0 and code in ("call-failed", "no-answer", "unexpected-result") and tool["steps"][step].get("instead"):
            out.failure["instead"] = list(tool["steps"][step]["instead"])
    return out


def _checked(tool, inputs):
    """Return the inputs that are given, or say what is wrong with them."""
    try:
        given = _plain(inputs)
    except (TypeError, ValueError, RecursionError) as error:
        raise _Failed(-1, 0, "bad-input", "", error) from None
    if not isinstance(given, dict):
        raise _Failed(-1, 0, "bad-input")
    known = set()
    for one in tool["inputs"]:
        name = one["name"]
        known.add(name)
        if not one["required"] and given.get(name, 0) is None:
            del given[name]
        if name not in given:
            if one["required"]:
                raise _Failed(-1, 0, "bad-input", name)
        elif one["types"] and not any(_is_type(given[name], kind) for kind in one["types"]):
            raise _Failed(-1, 0, "bad-input", name)
    for name in sorted(given):
        if name not in known:
            raise _Failed(-1, 0, "bad-input", name)
    return given


def _check_given(tool, scope):
    """Say which argument is wrong whatever the calls return."""
    for index, step in enumerate(tool["steps"]):
        for name, _, binding, types in step["args"]:
            if types and _is_given(binding) and not _takes(types, _value(binding, scope)):
                raise _Failed(index, 0, "wrong-type", name)


def _is_given(binding):
    if binding["kind"] == "template":
        return all(map(_is_given, binding["parts"]))
    return binding["kind"] in ("const", "input")


def _takes(types, value):
    return not types or value is _NOTHING or any(_is_type(value, kind) for kind in types)


def _step(tool, index, scope, state, out):
    step = tool["steps"][index]
    record = {"tool": step["tool"], "calls": [], "skipped": 0, "result": None}
    out.steps.append(record)
    if step["each"] is None:
        yield from _call(step, index, record, scope, state, out)
        record["result"] = record["calls"][0]["result"]
        scope["results"].append(record["result"])
        return
    elements = _elements(step["each"], scope)
    if elements is None:
        raise _Failed(index, 0, "nothing-bound")
    record["result"] = []
    for element in elements:
        inner = dict(scope, element=element)
        try:
            yield from _call(step, index, record, inner, state, out)
        except _Failed as failed:
            if not (state["skip"] and step["read_only"] and failed.where[2] in ("call-failed", "no-answer")):
                raise
            record["result"].append(None)
            record["skipped"] += 1
            out.state = "partial"
        else:
            record["result"].append(record["calls"][-1]["result"])
    scope["results"].append(record["result"])


def _call(step, index, record, scope, state, out):
    at = len(record["calls"])
    args = {}
    for name, optional, binding, types in step["args"]:
        value = _value(binding, scope)
        if not _takes(types, value):
            raise _Failed(index, at, "wrong-type", name)
        if value is not _NOTHING:
            args[name] = value
        elif not optional:
            raise _Failed(index, at, "nothing-bound", name)
    state["calls"] += 1
    if state["calls"] > state["max_calls"]:
        raise _Failed(index, at, "too-many-calls")
    if _late(state):
        raise _Failed(index, at, "deadline")
    tries = 1
    if step["read_only"] or step["idempotent"]:
        tries += state["retries"]
    else:
        out.safe_to_retry = False
    made = 0
    failed = None
    while made < tries:
        made += 1
        # A copy: what call_tool does to its arguments is no matter of later calls.
        status, result, error = yield step["tool"], _plain(args)
        if status == "none":
            failed = _Failed(index, at, "deadline" if _is_timeout(error) else "no-answer", "", error)
        elif status == "failed":
            failed = _Failed(index, at, "call-failed")
        elif not all(_select(path, result) for path in step["expect"]):
            failed = _Failed(index, at, "unexpected-result")
        else:
            failed = None
        if failed is None or _late(state):
            break
    record["calls"].append({
        **({"element": scope["element"]} if "element" in scope else {}),
        "arguments": args,
        "status": status,
        "tries": made,
        "result": result,
        "error": "" if error is None else "%s: %s" % (type(error).__name__, error),
    })
    if failed is not None:
        raise failed


def _late(state):
    return state["limit"] is not None and time.monotonic() > state["limit"]


_NOTHING = object()  # what a binding gives that gives no value, or several


def _value(binding, scope):
    """Return the one value that a binding gives."""
    value = _bare(binding, scope)
    coerce = binding.get("coerce")
    if coerce == "string" and _is_number(value):
        return _spelled(value)
    if coerce == "number" and isinstance(value, str):
        number = _parsed(value)
        return number if _is_number(number) else _NOTHING
    return value


def _bare(binding, scope):
    kind = binding["kind"]
    if kind == "const":
        return binding["const"]
    if kind == "input":
        return scope["inputs"].get(binding["input"], _NOTHING)
    if kind == "template":
        parts = [_value(part, scope) for part in binding["parts"]]
        if len(binding["template"]) != len(parts) + 1:
            return _NOTHING
        text = binding["template"][0]
        for part, fixed in zip(parts, binding["template"][1:]):
            if not isinstance(part, str) and not _is_number(part):
                return _NOTHING
            text += (part if isinstance(part, str) else _spelled(part)) + fixed
        return text
    path = _path(binding, scope)
    held = _held(binding, scope)
    if path is None or held is _NOTHING:
        return _NOTHING
    found = _select(path, held)
    if not found or any(_key(other) != _key(found[0]) for other in found[1:]):
        return _NOTHING
    return found[0]


def _held(binding, scope):
    """Return the value that a path is read in."""
    if binding["kind"] == "element":
        return scope.get("element", _NOTHING)
    results = scope["results"]
    return _bindable(results[binding["step"]]) if 0 <= binding["step"] < len(results) else _NOTHING


def _path(binding, scope):
    """Return a binding's path with its open filter closed, None if it cannot be."""
    if binding.get("key") is None:
        return binding["path"]
    key = _value(binding["key"], scope)
    if key is _NOTHING or isinstance(key, (list, dict)):
        return None
    return [["filter", step[1], key] if step[0] == "open" else step for step in binding["path"]]


def _elements(binding, scope):
    """Return what a step walks over, each different element once, or None."""
    if binding["kind"] == "step":
        path, held = _path(binding, scope), _held(binding, scope)
        if path is None or held is _NOTHING or not _listed(path, held):
            return None
        found = _select(path, held)
    else:
        found = _value(binding, scope)
        if not isinstance(found, list):
            return None
    seen = {}
    for one in found:
        seen.setdefault(_key(one), one)
    return list(seen.values())


def _listed(path, value):
    """Say whether what a path walks over is there, be it empty."""
    for index, step in enumerate(path):
        if step[0] in ("each", "filter", "open"):
            return bool(_select(path[:index], value))
    return True


def _select(path, value):
    """Return what a path selects, in the order of the document."""
    nodes = [value]
    for step in path:
        nodes = [found for node in nodes for found in _selected(step, node)]
    return nodes


def _selected(step, value):
    if isinstance(value, str):
        value = _looked_through(value)
    kind = step[0]
    if kind == "member":
        return [value[step[1]]] if isinstance(value, dict) and step[1] in value else []
    if kind == "index":
        return [value[step[1]]] if isinstance(value, list) and step[1] < len(value) else []
    if isinstance(value, dict):
        nodes = [value[name] for name in sorted(value)]
    else:
        nodes = value if isinstance(value, list) else []
    if kind == "each":
        return nodes
    if kind == "open":
        return []
    want = _key(step[2])
    return [node for node in nodes if isinstance(node, dict) and step[1] in node and _key(node[step[1]]) == want]


def _looked_through(text):
    """Return the object or list of which a text is the JSON."""
    text = text.strip(_BLANKS)
    return _parsed(text) if text[:1] in ("{", "[") else _NOTHING


# The white space of Unicode: str.strip() alone takes more.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_HALVES = re.compile("[\ud800-\udfff]")


def _refused(text):
    raise ValueError("%s is no JSON" % text)


def _parsed(text):
    """Return the value that a JSON text holds."""
    try:
        return _plain(json.loads(text, parse_constant=_refused))
    except (TypeError, ValueError, RecursionError):
        return _NOTHING


def _plain(value):
    """Return a copy of a JSON value; raise where it is none."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, int):
        if value.bit_length() > 14000:
            raise ValueError("a number has too many digits")
        return int(value)
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError("a number is not finite")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        out = {}
        for name in value:
            if not isinstance(name, str):
                raise TypeError("the name of a member is no text")
            out[_HALVES.sub("\ufffd", name)] = _plain(value[name])
        return out
    if hasattr(value, "model_dump"):  # of the official MCP SDK
        return _plain(value.model_dump(mode="json", by_alias=True, exclude_none=True))
    raise TypeError("%s is no JSON value" % type(value).__name__)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _spelled(number):
    """Return the text of a number: 7.0 is 7, 1e3 is 1000."""
    if isinstance(number, int):
        return str(number)
    if number == int(number) and abs(number) < 1e21:
        whole = format(Decimal(repr(number)), "f").partition(".")[0]
        return "0" if whole == "-0" else whole
    return repr(number)


def _key(value):
    """Return a text that is the same for values that are equal as JSON."""
    if _is_number(value):
        return _spelled(value)
    if isinstance(value, list):
        return "[" + ",".join(_key(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(name) + ":" + _key(value[name]) for name in sorted(value)) + "}"
    return json.dumps(value)


def _text(value):
    """Return the compact JSON of a value, members in order of their names."""
    if _is_number(value):
        return _spelled(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(_text(name) + ":" + _text(value[name]) for name in sorted(value)) + "}"
    return json.dumps(value, ensure_ascii=False)


def _is_type(value, name):
    if name == "integer":
        return _is_number(value) and value == int(value)
    if name == "number":
        return _is_number(value)
    kinds = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
    return isinstance(value, kinds[name])


def _content(value):
    """Return what a result of MCP holds, or content blocks, and whether it is an error."""
    failed = False
    if isinstance(value, dict) and _is_tool_result(value):
        failed = value.get("isError") is True
        if value.get("structuredContent") is not None:
            return value["structuredContent"], failed
        value = value["content"]
    if _is_blocks(value) and all(block["type"] == "text" for block in value):
        value = _blocks_text(value)
    return value, failed


def _is_tool_result(value):
    content = value.get("content")
    if "content" in value and content != [] and not _is_blocks(content):
        return False
    if "content" not in value and value.get("structuredContent") is None:
        return False
    return all(name in ("_meta", "content", "isError", "resultType", "structuredContent") for name in value)


def _is_blocks(value):
    return isinstance(value, list) and bool(value) and all(map(_is_block, value))


def _is_block(value):
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "text":
        return isinstance(value.get("text"), str)
    if kind in ("image", "audio"):
        return isinstance(value.get("data"), str) or isinstance(value.get("source"), dict)
    if kind == "resource":
        return isinstance(value.get("resource"), dict)
    return kind == "resource_link" and isinstance(value.get("uri"), str)


def _blocks_text(blocks):
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _bindable(result):
    """Return what bindings read of a result: of content blocks their text."""
    if not _is_blocks(result):
        return result
    return _blocks_text(result) or _NOTHING


class _Answer:
    """What of an Outcome is told to the agent."""

    def __init__(self, out, steps):
        self.out, self.tool, self.with_steps = out, out._tool, steps
        self.parts = []  # step, whether it walks a list, and its pieces
        failure = out.failure or {}
        for index, record in enumerate(out.steps):
            step = self.tool["steps"][index]
            if index not in self.tool["returns"] and (not out.failure or step["read_only"]):
                continue
            failed_here = failure.get("step") == index + 1
            calls = record["calls"][: failure["call"] - 1] if failed_here else record["calls"]
            if calls or not failed_here:
                self.parts.append((index, step["each"] is not None, [_piece(step, index, at, call) for at, call in enumerate(calls)]))
        self.pieces = [piece for _, _, pieces in self.parts for piece in pieces]
        self._omit_repeated()

    def _omit_repeated(self):
        pieces = self.pieces
        omitted = [any(_holds(i, outer, j, inner) for i, outer in enumerate(pieces)) for j, inner in enumerate(pieces)]
        for j, inner in enumerate(pieces):
            if omitted[j]:
                inner["in"] = next(outer["step"] for i, outer in enumerate(pieces) if not omitted[i] and _holds(i, outer, j, inner))

    def value(self):
        results, omitted, cut = [], [], []
        for index, walks, pieces in self.parts:
            walk = []
            for piece in pieces:
                where = {"step": index + 1}
                if walks:
                    where["call"] = piece["call"] + 1
                    walk.append({"for": piece["for"]})
                if piece["in"] is not None:
                    omitted.append(dict(where, **{"in": piece["in"] + 1}))
                elif walks:
                    walk[-1]["result"] = piece["value"]
                else:
                    results.append({self.tool["steps"][index]["tool"]: piece["value"]})
                if piece["bytes"]:
                    cut.append(dict(where, bytes=piece["bytes"], kept=piece["kept"]))
            if walks:
                results.append({self.tool["steps"][index]["tool"]: walk})
        out = self.out
        answer = {"results": results}
        if omitted:
            answer["omitted"] = omitted
        if cut:
            answer["cut"] = cut
        if out.state != "done":
            answer["state"] = out.state
        if out.failure:
            answer["failure"] = self._failure(out.failure)
            answer["safe_to_retry"] = out.safe_to_retry
        if self.with_steps:
            answer["steps"] = [_step_told(record) for record in out.steps]
        return answer

    def _failure(self, failure):
        told = {"code": failure["code"], "step": failure.get("step", 0)}
        if told["step"] > 0:
            told["tool"], told["call"] = failure["tool"], failure["call"]
        for name in ("argument", "message", "instead"):
            if failure.get(name):
                told[name] = failure[name]
        if 0 < told["step"] <= len(self.out.steps):
            calls = self.out.steps[told["step"] - 1]["calls"]
            if told["call"] <= len(calls) and calls[told["call"] - 1]["status"] != "none":
                told["result"] = _told(calls[told["call"] - 1]["result"])
        return told

    def cut_to(self, limit):
        """Return the answer, results cut, the longest first, until it is short enough."""
        while True:
            answer = self.value()
            excess = len(_text(answer).encode()) - limit
            if not limit or excess <= 0:
                return answer
            longest = None
            for piece in self.pieces:
                if piece["in"] is None and _size(piece) > len("null") and (longest is None or _size(piece) > _size(longest)):
                    longest = piece
            if longest is None:
                return answer
            _cut(longest, _size(longest) - excess - 48)


def _piece(step, index, at, call):
    value = None if call["status"] != "ok" else _told(call["result"])
    return {
        "step": index, "call": at, "for": _element(step, call) if "element" in call else None,
        "value": value, "text": _text(value), "in": None, "bytes": 0, "kept": 0,
    }


def _element(step, call):
    """Return what a call of a walk is about."""
    if not isinstance(call["element"], (list, dict)):
        return call["element"]
    args = call["arguments"]
    taken = {name: args[name] for name, _, binding, _ in step["args"] if name in args and _reads_element(binding)}
    if len(taken) < 2:
        return next(iter(taken.values()), None)
    return taken


def _reads_element(binding):
    inner = binding.get("parts", []) + ([binding["key"]] if binding.get("key") else [])
    return binding["kind"] == "element" or any(map(_reads_element, inner))


def _told(result):
    """Return a result as the answer has it: JSON in a text is that value."""
    inner = _looked_through(result) if isinstance(result, str) else _NOTHING
    return result if inner is _NOTHING else inner


def _step_told(record):
    calls = []
    for call in record["calls"]:
        told = {name: call[name] for name in ("arguments", "status", "tries")}
        if call["status"] == "none":
            told["error"] = call["error"]
        calls.append(told)
    told = {"tool": record["tool"], "calls": calls}
    if record["skipped"]:
        told["skipped"] = record["skipped"]
    return told


def _size(piece):
    return len(piece["text"].encode())


def _holds(i, outer, j, inner):
    """Say whether a result contains another one that is worth leaving out."""
    if i == j or _size(inner) < 40 or _size(outer) < _size(inner) or _size(outer) == _size(inner) and i > j:
        return False
    text = inner["text"][1:-1] if isinstance(inner["value"], str) else inner["text"]
    return text in outer["text"] and _contains(outer["value"], inner["value"], inner["text"])


def _contains(outer, inner, text):
    if isinstance(outer, str):
        return isinstance(inner, str) and inner in outer
    if isinstance(outer, (list, dict)):
        if type(outer) is type(inner) and _text(outer) == text:
            return True
        return any(_contains(one, inner, text) for one in (outer.values() if isinstance(outer, dict) else outer))
    return False


def _cut(piece, size):
    """Make a result the beginning of its text."""
    text = piece["value"] if isinstance(piece["value"], str) else piece["text"]
    piece["bytes"] = piece["bytes"] or _size(piece)
    end, length = 0, 2
    while end < len(text):
        length += len(_text(text[end]).encode()) - 2
        if length > size:
            break
        end += 1
    piece["kept"] = len(text[:end].encode())
    piece["value"] = text[:end] if end else None
    piece["text"] = _text(piece["value"])


# What follows was found in the traces: one JSON text for each meta-tool.
_META_TOOLS = {
    _tool["name"]: _tool
    for _tool in map(json.loads, (
@TOOLS@
    ))
}
@STUBS@