/**
 * Reading ahead: reads that usually follow an answer are made with it.
 *
 * Made by awo from recorded trajectories; changes are lost when it is made again.
 * Needs nothing but ECMAScript 2022 and setTimeout.
 *
 *     import { withPrefetch } from "./prefetch.js";
 *
 *     const callTool = withPrefetch(mine);   // one for each run of an agent
 *
 * The callTool that comes back takes the same arguments and gives the same answers. Where
 * an answer holds values that agents usually ask about next, these reads are made at once,
 * over your callTool, and what they returned is attached to the answer:
 *
 *     {"orders": ["#1", "#2"], "read_ahead": [{"tool": "get_order", "arguments": {...}, "result": ...}]}
 *
 * An answer that is a text gets it in the text, any other that is no object becomes
 * {"result": ..., "read_ahead": [...]}. If there is nothing to attach, the answer is what
 * your callTool returned. Tell the agent that what stands there need not be asked for.
 *
 * Messages of the user hold values that agents ask about, too:
 *
 *     const told = await callTool.onUserMessage(text);   // [{"tool": ..., "arguments": {...}, "result": ...}, ...]
 *
 * makes such reads and returns what they gave, to be put into the context with the message.
 * Call it for each message, in order.
 *
 * Only tools that are known to only read are called. A read that fails, is late or is too
 * large is left out, and so are all that were made while another tool was called, which
 * may have changed what they read. An error that is called ToolFailed, and an answer with
 * "isError": true, are failures of a tool; they are followed by no reads.
 */

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

export type CallTool = (name: string, args: { [name: string]: Json }) => unknown;

export type Read = { tool: string; arguments: { [name: string]: Json }; result: Json };

export type Prefetching = CallTool & { onUserMessage: (text: string) => Promise<Read[]> };

export interface Options {
  maxReads?: number; // that one answer leads to; 32, and never more
  maxBytes?: number; // of what is attached to one answer, as JSON; 65536
  milliseconds?: number; // that one answer waits for reads at most; 2000
  parallel?: number; // reads under way at once, of all answers together; 4
  member?: string; // the name under which results are attached; "read_ahead"
}

const mostReads: number = 32; // that one answer leads to, whatever the options say
const mostSaid: number = 4; // that one message leads to, without what follows from their answers
const mostSaidSession: number = 64; // that all messages of a run lead to
const mostMessage: number = 65536; // bytes of a message that are looked at
const mostText: number = 256; // bytes of a text that is taken for a value
const mostNodes: number = 4096; // that a path may select to be followed
const mostKnown: number = 16384; // calls that a run remembers; beyond, nothing more is read ahead

/** withPrefetch returns a callTool that reads ahead; it follows one run of an agent. */
export const withPrefetch: (callTool: CallTool, options?: Options) => Prefetching = (callTool, options = {}) => {
  const run: any = {
    callTool,
    maxReads: Math.min(options.maxReads ?? mostReads, mostReads),
    maxBytes: options.maxBytes ?? 65536,
    milliseconds: options.milliseconds ?? 2000,
    parallel: Math.max(options.parallel ?? 4, 1),
    member: options.member ?? "read_ahead",
    running: 0, // reads
    asked: new Set(), // calls that were made, by the agent or ahead of it
    called: new Set(), // tools
    failed: false, // the last call
    changing: 0, // calls under way of tools that are not known to only read
    epoch: 0, // such calls so far
    begun: false,
    said: 0, // reads that messages led to
    succeeded: new Set(), // tools
    waiting: [], // rules and arguments that wait until a tool of their trust succeeds
  };
  const wrapped: any = async (name: any, args: any) => {
    const reads: boolean = readers.has(name);
    const own: any = begin(run, name, args, reads);
    let result: unknown = undefined;
    try {
      result = await callTool(name, args);
    } catch (error) {
      const wrong: any = error;
      if (wrong instanceof Error && wrong.name === "ToolFailed") {
        run.called.add(name);
        run.failed = true;
      }
      throw error;
    } finally {
      if (!reads) {
        run.changing--;
        run.epoch++;
      }
    }
    try {
      const batch: any = answered(run, name, own, result);
      return batch === undefined ? result : attached(run, result, await made(run, batch));
    } catch {
      return result;
    }
  };
  wrapped.onUserMessage = async (text: string) => {
    const batch: any = heard(run, text);
    return batch === undefined ? [] : entriesOf(run, await made(run, batch));
  };
  return wrapped;
};

/** batchOf returns reads to make together, undefined for none. */
const batchOf: (run: any, budget: any, reads: any[]) => any = (run, budget, reads) =>
  reads.length === 0 ? undefined : { reads, taken: 0, followed: 0, epoch: run.epoch, budget, closed: false };

/** heard returns the reads that a message of the user leads to, undefined if there are none. */
const heard: (run: any, text: string) => any = (run, text) => {
  const budget: any = { left: mostSaid };
  const reads: any[] = [];
  const first: any[] = rules.get("") ?? [];
  if (!run.begun) {
    run.begun = true;
    for (const rule of first.filter((one: any) => one.kind === "none")) {
      readOf(run, budget, reads, rule, constants(rule, {}), 0);
    }
  }
  const said: any[] = first.filter((one: any) => one.kind === "user");
  const found: any[] = said.map((rule: any) => spoken(rule, text).filter((one: any) => !run.asked.has(rule.target + "\0" + keyOf(one.wanted))));
  for (const [i, rule] of said.entries()) {
    if (rule.alone && said.some((other: any, k: number) => found[k].length > 0 && other.target !== rule.target)) {
      continue;
    }
    for (const { number, wanted } of found[i]) {
      if (rule.most > 0 && number >= rule.most) {
        continue;
      }
      if (rule.trust.length > 0 && !rule.trust.some((tool: string) => run.succeeded.has(tool))) {
        if (run.waiting.length < mostSaidSession) {
          run.waiting.push({ rule, wanted });
        }
      } else if (run.said < mostSaidSession) {
        run.said += readOf(run, budget, reads, rule, wanted, 0);
      }
    }
  }
  return run.changing > 0 ? undefined : batchOf(run, { left: run.maxReads }, reads);
};

/** released returns the reads of values that waited for the success of a tool. */
const released: (run: any, budget: any, tool: string) => any[] = (run, budget, tool) => {
  const reads: any[] = [];
  if (run.succeeded.has(tool)) {
    return reads;
  }
  run.succeeded.add(tool);
  run.waiting = run.waiting.filter((one: any) => {
    const rule: any = one.rule;
    const wanted: any = one.wanted;
    if (!rule.trust.includes(tool) || reads.length >= mostSaid || run.said >= mostSaidSession) {
      return true;
    }
    run.said += readOf(run, budget, reads, rule, wanted, 0);
    return false;
  });
  return reads;
};

/** readOf adds the read of an offer unless it was made before, and returns how many are added. */
const readOf: (run: any, budget: any, reads: any[], rule: any, wanted: any, level: number) => number = (run, budget, reads, rule, wanted, level) => {
  if (budget.left <= 0 || !know(run, rule.target, wanted)) {
    return 0;
  }
  budget.left--;
  reads.push({ tool: rule.target, args: wanted, level, settled: false, good: false, result: null });
  return 1;
};

/** constants puts the constants of a rule that no answer binds beside other arguments. */
const constants: (rule: any, wanted: any) => any = (rule, wanted) => {
  for (const [name, , given] of rule.others) {
    put(wanted, name, plain(given, 0));
  }
  return wanted;
};

/** spoken returns the calls that a message makes possible, each with its number. */
const spoken: (rule: any, text: string) => any[] = (rule, text) => {
  const out: any[] = [];
  let left: string = shortened(text);
  let tried: number = 0;
  while (tried++ < mostNodes) {
    const found: any = rule.compiled.exec(left);
    if (found === null) {
      break;
    }
    const wanted: any = valuesIn(rule, left, found);
    let behind: number = found.indices[1][1];
    if (wanted !== undefined) {
      out.push({ number: out.length, wanted: constants(rule, wanted) });
      behind = found.indices[0][1];
    }
    left = left.slice(Math.max(behind, 1));
  }
  return out;
};

/** shortened returns as much of a message as is looked at. */
const shortened: (text: string) => string = (text) => {
  if (text.length * 3 <= mostMessage || bytesOf(text) <= mostMessage) {
    return text;
  }
  let bytes: number = 0;
  let end: number = 0;
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > mostMessage) {
      break;
    }
    end += character.length;
  }
  return text.slice(0, end);
};

/** valuesIn returns the arguments that a match gives, undefined if one of them is no value. */
const valuesIn: (rule: any, text: string, found: any) => any = (rule, text, found) => {
  const wanted: any = {};
  for (const [i, slot] of rule.slots.entries()) {
    const begin: number = found.indices[i + 1][0];
    const end: number = found.indices[i + 1][1];
    let value: any = found[i + 1];
    if (slot.not.includes(value.toLowerCase()) || !isWorth(value) || goesOn(text.slice(Math.max(begin - 1, 0), begin), value[0]) || goesOn(text.slice(end, end + 1), value[value.length - 1])) {
      return undefined;
    }
    if (slot.number) {
      value = parsed(value);
      if (!isNumber(value)) {
        return undefined;
      }
    }
    put(wanted, slot.argument, value);
  }
  return wanted;
};

/** goesOn says whether a letter beyond ASCII goes on with the word that a value begins or ends with. */
const goesOn: (character: string, edge: string) => boolean = (character, edge) => /^[^\x00-\x7f]$/.test(character) && /\p{L}/u.test(character) && /[A-Za-z0-9_]/.test(edge);

/** begin notes that the agent makes a call, and returns its arguments. */
const begin: (run: any, tool: any, args: any, reads: boolean) => any = (run, tool, args, reads) => {
  if (!reads) {
    run.changing++;
    run.epoch++;
  }
  try {
    const own: any = plain(args, 0);
    if (isObject(own)) {
      know(run, tool, own);
      return own;
    }
  } catch {
    return undefined;
  }
  return undefined;
};

const failure: (answer: any) => boolean = (answer) => isObject(answer) && answer.isError === true;

/** answered returns the reads that an answer leads to, undefined if there are none. */
const answered: (run: any, tool: any, args: any, result: any) => any = (run, tool, args, result) => {
  const again: boolean = run.called.has(tool);
  const before: boolean = run.failed;
  run.called.add(tool);
  run.failed = failure(result);
  if (run.failed || args === undefined || run.changing > 0) {
    return undefined;
  }
  const budget: any = { left: run.maxReads };
  const reads: any[] = released(run, budget, tool);
  if (rules.has(tool)) {
    const held: any = plain(result, 0);
    if (isObject(held) && Object.hasOwn(held, run.member)) {
      return undefined;
    }
    reads.push(...follow(run, budget, tool, args, contents(held), 1, again, before));
  }
  return batchOf(run, budget, reads);
};

/** made makes the reads of a batch, and returns those that may be attached. */
const made: (run: any, batch: any) => Promise<any[]> = async (run, batch) => {
  const clock: any = globalThis;
  let timer: any = undefined;
  await new Promise((resolve: any) => {
    const start: () => void = () => {
      while (!batch.closed && run.running < run.parallel && batch.taken < batch.reads.length) {
        const read: any = batch.reads[batch.taken++];
        run.running++;
        Promise.resolve()
          .then(() => run.callTool(read.tool, plain(read.args, 0)))
          .then((answer: any) => settle(run, batch, read, !failure(answer), answer))
          .catch(() => settle(run, batch, read, false, undefined))
          .finally(() => {
            run.running--;
            start();
          });
      }
      if (batch.reads.every((read: any) => read.settled) || batch.reads.slice(0, batch.taken).every((read: any) => read.settled)) {
        resolve(undefined); // all is there, or others are under way and this answer does not wait for them
      }
    };
    timer = clock.setTimeout(resolve, run.milliseconds);
    start();
  });
  clock.clearTimeout(timer);
  batch.closed = true;
  return batch.epoch !== run.epoch || run.changing > 0 ? [] : batch.reads.filter((read: any) => read.settled && read.good);
};

/** settle notes what came of a read, and what follows from it in its turn. */
const settle: (run: any, batch: any, read: any, good: boolean, answer: any) => void = (run, batch, read, good, answer) => {
  if (read.settled) {
    return;
  }
  read.settled = true;
  if (good) {
    try {
      read.result = plain(answer, 0);
      read.good = true;
    } catch {
      read.good = false;
    }
  }
  while (batch.followed < batch.reads.length && batch.reads[batch.followed].settled) {
    const one: any = batch.reads[batch.followed++];
    if (one.level > 1 || !one.good || batch.closed || batch.epoch !== run.epoch) {
      continue;
    }
    const again: boolean = run.called.has(one.tool);
    run.called.add(one.tool);
    batch.reads.push(...released(run, batch.budget, one.tool), ...follow(run, batch.budget, one.tool, one.args, contents(one.result), one.level + 1, again, run.failed));
  }
};

const know: (run: any, tool: string, args: any) => boolean = (run, tool, args) => {
  const key: string = tool + "\0" + keyOf(args);
  if (run.asked.has(key) || run.asked.size >= mostKnown) {
    return false;
  }
  run.asked.add(key);
  return true;
};

const follow: (run: any, budget: any, tool: string, args: any, result: any, level: number, again: boolean, failed: boolean) => any[] = (run, budget, tool, args, result, level, again, failed) => {
  const reads: any[] = [];
  for (const rule of rules.get(tool) ?? []) {
    if (level > rule.depth || !holds(rule, again, failed)) {
      continue;
    }
    for (const { number, wanted } of offers(rule, args, result)) {
      if (rule.most > 0 && number >= rule.most) {
        break;
      }
      readOf(run, budget, reads, rule, wanted, level);
    }
  }
  return reads;
};

const holds: (rule: any, again: boolean, failed: boolean) => boolean = (rule, again, failed) =>
  !(rule.turn === "first" && again) && !(rule.turn === "again" && !again) && !(rule.last === "ok" && failed) && !(rule.last === "failed" && !failed);

/** offers returns the calls that an answer leads to, each with the number of its value. */
const offers: (rule: any, args: any, result: any) => any[] = (rule, args, result) => {
  if (rule.kind === "none") {
    return [{ number: 0, wanted: constants(rule, {}) }];
  }
  const out: any[] = [];
  const elements: Json[] = select(rule.list, result);
  if (elements.length > mostNodes) {
    return out;
  }
  let number: number = 0;
  for (const element of elements) {
    for (const value of select(rule.value, element)) {
      if (!isWorth(value)) {
        continue;
      }
      const wanted: any = {};
      put(wanted, rule.argument, value);
      let bound: boolean = true;
      for (const [name, origin, given] of rule.others) {
        if (origin === "constant") {
          put(wanted, name, plain(given, 0));
          continue;
        }
        const found: any[] = select(given, origin === "answer" ? result : origin === "element" ? element : args);
        if (found.length !== 1 || (typeof found[0] !== "boolean" && !isWorth(found[0]))) {
          bound = false;
          break;
        }
        put(wanted, name, found[0]);
      }
      if (bound) {
        out.push({ number, wanted });
      }
      number++;
    }
  }
  return out;
};

/** isWorth says whether a value is worth asking a tool about. */
const isWorth: (value: any) => boolean = (value) =>
  typeof value === "string" ? value.replace(blanks, "") !== "" && bytesOf(value) <= mostText : isNumber(value);

/** bytesOf returns the length of a text in UTF-8. */
const bytesOf: (text: string) => number = (text) => {
  let bytes: number = 0;
  for (const character of text) {
    const point: number = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
};

/** contents returns the value of an answer: what it holds, and of text that where it is JSON. */
const contents: (result: any) => any = (result) => {
  let held: any = content(result).value;
  if (isBlocks(held)) {
    held = blocksText(held);
  }
  if (typeof held !== "string") {
    return held;
  }
  const value: Json | undefined = parsed(held.replace(blanks, ""));
  return value === undefined ? held : value;
};

/** entriesOf returns what was read, as far as there is room for it. */
const entriesOf: (run: any, reads: any[]) => any[] = (run, reads) => {
  const entries: any[] = [];
  let size: number = 0;
  for (const read of reads) {
    const entry: any = { tool: read.tool, arguments: read.args, result: content(read.result).value };
    size += bytesOf(stringify(entry)) + 1;
    if (size > run.maxBytes) {
      break;
    }
    entries.push(entry);
  }
  return entries;
};

/** attached returns an answer with what was read ahead of it. */
const attached: (run: any, result: any, reads: any[]) => any = (run, result, reads) => {
  const entries: any[] = entriesOf(run, reads);
  if (entries.length === 0) {
    return result;
  }
  if (typeof result === "string") {
    const text: string = result.replace(blanks, "");
    const held: any = text.endsWith("}") ? parsed(text) : undefined;
    if (!isObject(held)) {
      return result + "\n\n" + stringify({ [run.member]: entries });
    }
    if (Object.hasOwn(held, run.member)) {
      return result;
    }
    return text.slice(0, -1) + (Object.keys(held).length > 0 ? "," : "") + JSON.stringify(run.member) + ":" + stringify(entries) + "}";
  }
  const block: any = { type: "text", text: stringify({ [run.member]: entries }) };
  if (isBlocks(result)) {
    return [...result, block];
  }
  if (!isObject(result)) {
    return { result, [run.member]: entries };
  }
  const out: any = { ...result };
  if (isToolResult(result)) {
    const shown: any = own(result, "content") ?? [];
    out.content = [...(shown.length > 0 ? shown : [{ type: "text", text: stringify(own(result, "structuredContent") ?? null) }]), block];
    return out;
  }
  put(out, run.member, entries);
  return out;
};

@SHARED@
// What follows was found in the traces: the tools that only read, and one JSON text for
// each rule.
const readTools: any = parse(
@READS@
);
const readers: Set<string> = new Set(readTools);
const rules: Map<string, any[]> = new Map();
for (const text of [
@RULES@
]) {
  const rule: any = parse(text);
  if (rule.kind === "user") {
    rule.compiled = new RegExp(rule.pattern, "d");
  }
  rules.set(rule.source, [...(rules.get(rule.source) ?? []), rule]);
}
