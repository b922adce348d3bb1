"""Meta-tools: sequences of tool calls that agents make as a habit, each as one call.

Made by awo from recorded trajectories; changes are lost when it is made again.
Needs Python 3.9 or newer and nothing else.

    import metatools

    def call_tool(name, args):          # yours: makes one call of a real tool
        answer = client.call(name, args)
        if answer.is_error:
            raise metatools.ToolFailed(answer.content)
        return answer.content           # a JSON value, or text

    outcome = metatools.run("name_of_a_meta_tool", {"user_id": "u-1"}, call_tool)
    if outcome.state == "handed-back":
        ...                             # outcome.as_dict() says what was done and what failed

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
    reads that were skipped) or "handed-back" (it ended early: see failure). output is
    what the meta-tool returns, None when handed back. steps are those that were begun,
    each with its calls and results. failure says step and call (from 1; 0 if none was
    begun), tool, code, argument and message. safe_to_retry says that nothing was
    written, or only what may be written twice.
    """

    def __init__(self, name):
        self.name = name
        self.state = "done"
        self.safe_to_retry = True
        self.steps = []
        self.failure = None
        self.output = None

    def value(self):
        """Return output; raise HandedBack unless state is "done"."""
        if self.state != "done":
            if self.failure is None:
                self.failure = {"code": "partial"}
            raise HandedBack(self)
        return self.output

    def as_dict(self):
        """Return all of it as one JSON value, to be handed to an agent."""
        return dict(self.__dict__)


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
        return "ok", _plain(result), None
    except (TypeError, ValueError, RecursionError) as error:
        return "none", None, error


def _raised(error):
    """Return status, result and error of a call that raised."""
    if not isinstance(error, ToolFailed):
        return "none", None, error
    status, result, wrong = _answered(error.result)
    return ("failed", result, None) if status == "ok" else (status, None, wrong)


def _is_timeout(error):
    return any(kind.__name__ == "TimeoutError" for kind in type(error).__mro__)


class _Failed(Exception):
    """Ends a run."""

    def __init__(self, step, call, code, argument="", error=None):
        super().__init__(code)
        self.where = (step, call, code, argument, error)


def _engine(tool, inputs, *, max_calls=100, retries=1, skip_failed_reads=False, seconds=None):
    """Yield the calls of a run, take (status, result, error) of each, return the Outcome."""
    out = Outcome(tool["name"])
    try:
        scope = {"inputs": _checked(tool, inputs), "results": []}
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
        return out
    returns = tool["returns"]
    if len(returns) == 1:
        out.output = scope["results"][returns[0][1]]
    else:
        out.output = {name: scope["results"][step] for name, step in returns}
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
    for name, optional, binding in step["args"]:
        value = _value(binding, scope)
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
    return results[binding["step"]] if 0 <= binding["step"] < len(results) else _NOTHING


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
    if isinstance(value, str):  # JSON in a text is looked through
        text = value.strip(_BLANKS)
        value = _parsed(text) if text[:1] in ("{", "[") else _NOTHING
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


def _is_type(value, name):
    if name == "integer":
        return _is_number(value) and value == int(value)
    if name == "number":
        return _is_number(value)
    kinds = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
    return isinstance(value, kinds[name])


# What follows was found in the traces: one JSON text for each meta-tool.
_META_TOOLS = {
    _tool["name"]: _tool
    for _tool in map(json.loads, (
@TOOLS@
    ))
}
@STUBS@