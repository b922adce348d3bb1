// Runs agents over the module in argv[2], as prefetch.py does.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { withPrefetch, parse, stringify } = await import(pathToFileURL(process.argv[2]).href);

const key = (value) =>
  Array.isArray(value) ? "[" + value.map(key).join() + "]"
  : typeof value === "object" && value !== null ? "{" + Object.keys(value).sort().map((name) => JSON.stringify(name) + ":" + key(value[name])).join() + "}"
  : stringify(value);

let step, own, asked, wrapped;

const callTool = async (name, args) => {
  let found = step.own;
  if (name === "meanwhile") {
    found = { ok: {} };
  } else if (own) {
    own = false;
  } else {
    asked.push([name, parse(stringify(args))]);
    found = step.ahead.find(([tool, given]) => key([tool, given]) === key([name, args]))?.[2] ?? { failed: null };
  }
  args.spoiled = true;
  if ("slow" in found) await new Promise((resolve) => setTimeout(resolve, 1000 * found.slow));
  if ("meanwhile" in found) await wrapped("meanwhile", {});
  if ("failed" in found) throw Object.assign(new Error(String(found.failed)), { name: "ToolFailed" });
  if ("error" in found) throw new Error(found.error);
  return parse(stringify(found.ok));
};

for await (const line of createInterface({ input: process.stdin })) {
  const { options, steps } = parse(line);
  const call = withPrefetch(callTool, { maxReads: options.max_reads, maxBytes: options.max_bytes, milliseconds: options.seconds === undefined ? undefined : 1000 * options.seconds, parallel: options.parallel });
  wrapped = call;
  const out = [];
  for (step of steps) {
    own = true;
    asked = [];
    const begun = performance.now();
    let got;
    try {
      if ("say" in step) own = false;
      got = { ok: "say" in step ? await call.onUserMessage(step.say) : await call(...step.call) };
    } catch (error) {
      got = { [error.name]: error.message };
    }
    out.push({ asked, got, seconds: (performance.now() - begun) / 1000 });
  }
  process.stdout.write(stringify(out) + "\n");
}
