"""Runs agents over the module in sys.argv[1]: each line is a run, with the calls that an
agent makes, what they are answered, and what reads that are made with them are answered.
An answer may come after another call of the agent, which is made meanwhile.
Every other run is asynchronous. What was asked and what the agent got goes out."""

import asyncio
import importlib.util
import json
import sys
import threading
import time

spec = importlib.util.spec_from_file_location("prefetch", sys.argv[1])
prefetch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(prefetch)


class ToolFailed(Exception):
    pass


def key(name, args):
    return json.dumps([name, args], sort_keys=True)


class Tools:
    """Answers the calls of one step: the first is the agent's, others are reads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.step = None
        self.own = False
        self.asked = []
        self.call = None

    def begin(self, step):
        self.step, self.own, self.asked = step, True, []

    def answer(self, name, args):
        with self.lock:
            if name == "meanwhile":
                found = {"ok": {}}
            elif self.own:
                self.own = False
                found = self.step["own"]
            else:
                self.asked.append([name, json.loads(json.dumps(args))])
                found = {"failed": None}
                for tool, given, answer in self.step["ahead"]:
                    if key(tool, given) == key(name, args):
                        found = answer
        args["spoiled"] = True
        return found


def finish(found):
    if "failed" in found:
        raise ToolFailed(found["failed"])
    if "error" in found:
        raise RuntimeError(found["error"])
    return json.loads(json.dumps(found["ok"]))


tools = Tools()


def call_tool(name, args):
    found = tools.answer(name, args)
    if "slow" in found:
        time.sleep(found["slow"])
    if "meanwhile" in found:
        tools.call("meanwhile", {})
    return finish(found)


async def call_later(name, args):
    found = tools.answer(name, args)
    await asyncio.sleep(found.get("slow", 0))
    if "meanwhile" in found:
        await tools.call("meanwhile", {})
    return finish(found)


def got(make):
    try:
        return {"ok": make()}
    except Exception as error:
        return {type(error).__name__: str(error)}


loop = asyncio.new_event_loop()
runs = 0
for line in sys.stdin:
    request = json.loads(line)
    runs += 1
    later = runs % 2 == 0
    call = prefetch.with_prefetch(call_later if later else call_tool, **request["options"])
    tools.call = call
    out = []
    for step in request["steps"]:
        tools.begin(step)
        begun = time.monotonic()
        if "say" in step:
            tools.own = False
            told = call.on_user_message(step["say"])
            answer = {"ok": loop.run_until_complete(told) if later else told}
            out.append({"asked": tools.asked, "got": answer, "seconds": time.monotonic() - begun})
            continue
        name, args = step["call"]
        if later and step.get("cancel"):
            answer = got(lambda: loop.run_until_complete(asyncio.wait_for(call(name, args), step["cancel"])))
        elif later:
            answer = got(lambda: loop.run_until_complete(call(name, args)))
        else:
            answer = got(lambda: call(name, args))
        with tools.lock:
            out.append({"asked": tools.asked, "got": answer, "seconds": time.monotonic() - begun})
    sys.stdout.write(json.dumps(out) + "\n")
    sys.stdout.flush()
