// Runs meta-tools of the module in argv[2]: requests come in and calls go out as
// lines of JSON.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { run, parse, stringify, text, toolFailed } = await import(pathToFileURL(process.argv[2]).href);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => process.stdout.write(stringify(value) + "\n");

const callTool = async (name, args) => {
  say({ call: [name, args] });
  const answer = parse((await lines.next()).value);
  args.spoiled = true;
  if ("failed" in answer) throw toolFailed(answer.failed);
  if ("error" in answer) throw new Error(answer.error);
  if ("timeout" in answer) throw Object.assign(new Error("late"), { name: "TimeoutError" });
  return answer.ok;
};

for (;;) {
  const { value, done } = await lines.next();
  if (done) break;
  const { name, inputs, options, steps, max_bytes: maxBytes } = parse(value);
  const { max_calls: maxCalls, retries, skip_failed_reads: skipFailedReads } = options;
  const outcome = await run(name, inputs, callTool, { maxCalls, retries, skipFailedReads });
  say({ outcome: { ...outcome, answer: text(outcome, { steps, maxBytes }) } });
}
