"""Runs meta-tools of the module in sys.argv[1]: requests come in and calls go out
as lines of JSON. Every other run is asynchronous."""

import asyncio
import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("metatools", sys.argv[1])
metatools = importlib.util.module_from_spec(spec)
spec.loader.exec_module(metatools)


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def call_tool(name, args):
    say({"call": [name, args]})
    answer = json.loads(sys.stdin.readline())
    args["spoiled"] = True
    if "failed" in answer:
        raise metatools.ToolFailed(answer["failed"])
    if "error" in answer:
        raise RuntimeError(answer["error"])
    if "timeout" in answer:
        raise TimeoutError()
    return answer["ok"]


async def call_later(name, args):
    await asyncio.sleep(0)
    return call_tool(name, args)


loop = asyncio.new_event_loop()
runs = 0
for line in sys.stdin:
    request = json.loads(line)
    runs += 1
    if runs % 2:
        outcome = metatools.run(request["name"], request["inputs"], call_tool, **request["options"])
    else:
        outcome = loop.run_until_complete(metatools.run_async(request["name"], request["inputs"], call_later, **request["options"]))
    known = {name: value for name, value in outcome.__dict__.items() if name != "_tool"}
    say({"outcome": dict(known, answer=outcome.text(request.get("steps", False), request.get("max_bytes", 0)))})
