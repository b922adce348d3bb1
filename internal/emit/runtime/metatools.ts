/**
 * Meta-tools: sequences of tool calls that agents make as a habit, each as one call.
 *
 * Made by awo from recorded trajectories; changes are lost when it is made again.
 * Needs nothing but ECMAScript 2022.
 *
 *     import { run, toolFailed } from "./metatools.js";
 *
 *     const callTool = async (name, args) => {   // yours: makes one call of a real tool
 *       const answer = await client.call(name, args);
 *       if (answer.isError) throw toolFailed(answer.content);
 *       return answer.content;                   // a JSON value, or text
 *     };
 *     const outcome = await run("name_of_a_meta_tool", { user_id: "u-1" }, callTool);
 *     // outcome.state: "done", "partial" or "handed-back"
 *
 * The first failure ends a run; it is handed back with what was done so far, and never
 * counts as done. An error of callTool counts as a call without an answer (an
 * AbortError or TimeoutError: as time that was up); only toolFailed is an answer.
 *
 * Whole numbers beyond 2^53 are exact only as bigint. JSON.parse rounds them; parse
 * below does not, and stringify writes what it gives.
 */

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

export type CallTool = (name: string, args: { [name: string]: Json }) => unknown;

export interface Options {
  maxCalls?: number; // of all steps together; 100
  retries?: number; // how often a call that failed is made again if that does no harm; 1
  skipFailedReads?: boolean; // go on where one of several reads of a step fails: its result is then null
  signal?: { readonly aborted: boolean }; // when aborted, no more calls are made
}

export interface Call {
  arguments: { [name: string]: Json };
  status: "ok" | "failed" | "none"; // none: not answered
  tries: number;
  result: Json;
  error: string;
}

export interface Step {
  tool: string;
  calls: Call[];
  skipped: number;
  result: Json;
}

export interface Failure {
  step: number; // from 1; 0 if none was begun
  tool: string;
  call: number; // of the step, from 1
  code: string;
  argument: string;
  message: string;
}

export interface Outcome {
  name: string;
  state: "done" | "partial" | "handed-back"; // partial: but for reads that were skipped
  safe_to_retry: boolean; // nothing was written, or only what may be written twice
  steps: Step[]; // those that were begun
  failure: Failure | null; // where a run ended early
  output: Json; // null when handed back
}

/** toolFailed makes the error to throw where the tool answered with a failure. */
export const toolFailed: (result?: unknown) => Error = (result = null) =>
  Object.assign(new Error("the tool answered with a failure"), { name: "ToolFailed", result });

/** names returns the names of the meta-tools. */
export const names: () => string[] = () => [...metaTools.keys()];

/**
 * run runs a meta-tool over callTool. Inputs that need not be given may be null or
 * undefined, which is the same as not given.
 */
export const run: (name: string, inputs: { [name: string]: Json | undefined }, callTool: CallTool, options?: Options) => Promise<Outcome> = async (name, inputs, callTool, options = {}) => {
  const tool = metaTools.get(name);
  if (tool === undefined) {
    throw new Error("there is no such meta-tool");
  }
  const out: Outcome = { name, state: "done", safe_to_retry: true, steps: [], failure: null, output: null };
  try {
    const scope: any = { inputs: checked(tool, inputs), results: [], element: undefined };
    const work: any = { callTool, calls: 0, maxCalls: options.maxCalls ?? 100, retries: Math.max(options.retries ?? 1, 0), skip: options.skipFailedReads ?? false, signal: options.signal };
    for (let index = 0; index < tool.steps.length; index++) {
      await runStep(tool, index, scope, work, out);
    }
    if (tool.returns.length === 1) {
      out.output = scope.results[tool.returns[0][1]];
    } else {
      const output: any = {};
      for (const [member, step] of tool.returns) {
        put(output, member, scope.results[step]);
      }
      out.output = output;
    }
  } catch (error) {
    const failed: any = error;
    if (failed?.kind !== ended) {
      throw error;
    }
    out.state = "handed-back";
    out.failure = {
      step: failed.step + 1,
      tool: failed.step >= 0 ? tool.steps[failed.step].tool : "",
      call: failed.step >= 0 ? failed.call + 1 : 0,
      code: failed.code,
      argument: failed.argument,
      message: failed.message,
    };
  }
  return out;
};

const ended: symbol = Symbol("ended");

/** stop makes what ends a run. */
const stop: (step: number, call: number, code: string, argument?: string, message?: string) => any = (step, call, code, argument = "", message = "") =>
  ({ kind: ended, step, call, code, argument, message });

/** checked returns the inputs that are given, or says what is wrong with them. */
const checked: (tool: any, inputs: unknown) => any = (tool, inputs) => {
  let given: any = null;
  try {
    given = plain(inputs, 0);
  } catch (error) {
    throw stop(-1, 0, "bad-input", "", said(error));
  }
  if (!isObject(given)) {
    throw stop(-1, 0, "bad-input");
  }
  const known: Set<string> = new Set();
  for (const { name, required, types } of tool.inputs) {
    known.add(name);
    if (!required && Object.hasOwn(given, name) && given[name] === null) {
      delete given[name];
    }
    if (!Object.hasOwn(given, name)) {
      if (required) {
        throw stop(-1, 0, "bad-input", name);
      }
    } else if (types.length > 0 && !types.some((type: string) => isType(given[name], type))) {
      throw stop(-1, 0, "bad-input", name);
    }
  }
  for (const name of sorted(given)) {
    if (!known.has(name)) {
      throw stop(-1, 0, "bad-input", name);
    }
  }
  return given;
};

const runStep: (tool: any, index: number, scope: any, work: any, out: Outcome) => Promise<void> = async (tool, index, scope, work, out) => {
  const step: any = tool.steps[index];
  const record: Step = { tool: step.tool, calls: [], skipped: 0, result: null };
  out.steps.push(record);
  if (step.each === null) {
    record.result = await makeCall(step, index, record, scope, work, out);
    scope.results.push(record.result);
    return;
  }
  const elements: Json[] | undefined = elementsOf(step.each, scope);
  if (elements === undefined) {
    throw stop(index, 0, "nothing-bound");
  }
  const results: Json[] = [];
  record.result = results;
  for (const element of elements) {
    try {
      results.push(await makeCall(step, index, record, { ...scope, element }, work, out));
    } catch (error) {
      const failed: any = error;
      if (!work.skip || !step.read_only || failed?.kind !== ended || (failed.code !== "call-failed" && failed.code !== "no-answer")) {
        throw error;
      }
      results.push(null);
      record.skipped++;
      out.state = "partial";
    }
  }
  scope.results.push(results);
};

const makeCall: (step: any, index: number, record: Step, scope: any, work: any, out: Outcome) => Promise<Json> = async (step, index, record, scope, work, out) => {
  const at: number = record.calls.length;
  const args: { [name: string]: Json } = {};
  for (const [name, optional, binding] of step.args) {
    const value: Json | undefined = valueOf(binding, scope);
    if (value !== undefined) {
      put(args, name, value);
    } else if (!optional) {
      throw stop(index, at, "nothing-bound", name);
    }
  }
  if (++work.calls > work.maxCalls) {
    throw stop(index, at, "too-many-calls");
  }
  if (work.signal?.aborted) {
    throw stop(index, at, "deadline");
  }
  let tries: number = 1;
  if (step.read_only || step.idempotent) {
    tries += work.retries;
  } else {
    out.safe_to_retry = false;
  }
  const call: Call = { arguments: args, status: "none", tries: 0, result: null, error: "" };
  let failed: any = null;
  while (call.tries < tries) {
    call.tries++;
    failed = null;
    Object.assign(call, { status: "none", result: null, error: "" });
    try {
      // A copy: what callTool does to its arguments is no matter of later calls.
      call.result = plain(await work.callTool(step.tool, plain(args, 0)), 0);
      call.status = "ok";
    } catch (error) {
      const wrong: any = error;
      let answered: boolean = false;
      if (wrong instanceof Error && wrong.name === "ToolFailed") {
        try {
          call.result = plain(Reflect.get(wrong, "result"), 0);
          call.status = "failed";
          answered = true;
        } catch {
          answered = false;
        }
      }
      if (!answered) {
        call.error = said(error);
        failed = stop(index, at, wrong?.name === "AbortError" || wrong?.name === "TimeoutError" ? "deadline" : "no-answer", "", call.error);
      }
    }
    if (call.status === "failed") {
      failed = stop(index, at, "call-failed");
    } else if (call.status === "ok" && !step.expect.every((path: any) => select(path, call.result).length > 0)) {
      failed = stop(index, at, "unexpected-result");
    }
    if (failed === null || work.signal?.aborted) {
      break;
    }
  }
  record.calls.push(call);
  if (failed !== null) {
    throw failed;
  }
  return call.result;
};

const said: (error: unknown) => string = (error) => {
  try {
    return String(error);
  } catch {
    return "an error that cannot be shown";
  }
};

/** valueOf returns the one value that a binding gives, undefined if none or several. */
const valueOf: (binding: any, scope: any) => Json | undefined = (binding, scope) => {
  const value: Json | undefined = bare(binding, scope);
  if (binding.coerce === "string" && isNumber(value)) {
    return spelled(value);
  }
  if (binding.coerce === "number" && typeof value === "string") {
    const number: Json | undefined = parsed(value);
    return isNumber(number) ? number : undefined;
  }
  return value;
};

const bare: (binding: any, scope: any) => Json | undefined = (binding, scope) => {
  if (binding.kind === "const") {
    return binding.const;
  }
  if (binding.kind === "input") {
    return Object.hasOwn(scope.inputs, binding.input) ? scope.inputs[binding.input] : undefined;
  }
  if (binding.kind === "template") {
    const parts: any[] = binding.parts.map((part: any) => valueOf(part, scope));
    if (binding.template.length !== parts.length + 1 || !parts.every((part: any) => typeof part === "string" || isNumber(part))) {
      return undefined;
    }
    return parts.reduce((text: string, part: any, i: number) => text + (typeof part === "string" ? part : spelled(part)) + binding.template[i + 1], binding.template[0]);
  }
  const path: any[] | undefined = pathOf(binding, scope);
  const held: Json | undefined = heldBy(binding, scope);
  if (path === undefined || held === undefined) {
    return undefined;
  }
  const found: Json[] = select(path, held);
  return found.length > 0 && found.every((other: any) => keyOf(other) === keyOf(found[0])) ? found[0] : undefined;
};

/** heldBy returns the value that a path is read in. */
const heldBy: (binding: any, scope: any) => Json | undefined = (binding, scope) =>
  binding.kind === "element" ? scope.element : scope.results[binding.step];

/** pathOf returns a binding's path with its open filter closed. */
const pathOf: (binding: any, scope: any) => any[] | undefined = (binding, scope) => {
  if (binding.key === undefined) {
    return binding.path;
  }
  const key: Json | undefined = valueOf(binding.key, scope);
  if (key === undefined || (typeof key === "object" && key !== null)) {
    return undefined;
  }
  return binding.path.map((step: any) => (step[0] === "open" ? ["filter", step[1], key] : step));
};

/** elementsOf returns what a step walks over, each different element once. */
const elementsOf: (binding: any, scope: any) => Json[] | undefined = (binding, scope) => {
  let found: any = undefined;
  if (binding.kind === "step") {
    const path: any[] | undefined = pathOf(binding, scope);
    const held: Json | undefined = heldBy(binding, scope);
    if (path === undefined || held === undefined || !listed(path, held)) {
      return undefined;
    }
    found = select(path, held);
  } else {
    found = valueOf(binding, scope);
    if (!Array.isArray(found)) {
      return undefined;
    }
  }
  const seen: Map<string, Json> = new Map();
  for (const one of found) {
    const key: string = keyOf(one);
    if (!seen.has(key)) {
      seen.set(key, one);
    }
  }
  return [...seen.values()];
};

/** listed says whether what a path walks over is there, be it empty. */
const listed: (path: any[], value: Json) => boolean = (path, value) => {
  const index: number = path.findIndex((step: any) => step[0] === "each" || step[0] === "filter" || step[0] === "open");
  return index < 0 || select(path.slice(0, index), value).length > 0;
};

/** select returns what a path selects, in the order of the document. */
const select: (path: any[], value: Json) => Json[] = (path, value) => {
  let nodes: Json[] = [value];
  for (const step of path) {
    const next: Json[] = [];
    for (const node of nodes) {
      for (const found of selected(step, node)) {
        next.push(found);
      }
    }
    nodes = next;
  }
  return nodes;
};

const selected: (step: any, value: any) => Json[] = (step, value) => {
  let held: any = value;
  if (typeof value === "string") { // JSON in a text is looked through
    const text: string = value.replace(blanks, "");
    held = text.startsWith("{") || text.startsWith("[") ? parsed(text) : undefined;
  }
  const [kind, name, want] = step;
  if (kind === "member") {
    return isObject(held) && Object.hasOwn(held, name) ? [held[name]] : [];
  }
  if (kind === "index") {
    return Array.isArray(held) && name < held.length ? [held[name]] : [];
  }
  const nodes: any[] = Array.isArray(held) ? held : isObject(held) ? sorted(held).map((member: string) => held[member]) : [];
  if (kind === "each") {
    return nodes;
  }
  if (kind === "open") {
    return [];
  }
  const key: string = keyOf(want);
  return nodes.filter((node: any) => isObject(node) && Object.hasOwn(node, name) && keyOf(node[name]) === key);
};

// The white space of Unicode at either end: trim() alone takes another set.
const space: string = "\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const blanks: RegExp = new RegExp("^[" + space + "]+|[" + space + "]+$", "g");

/** parsed returns the value that a JSON text holds, undefined if it is none. */
const parsed: (text: string) => Json | undefined = (text) => {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
};

/** parse returns the value that a JSON text holds, with whole numbers beyond 2^53 as bigint. */
export const parse: (text: string) => Json = (text) => {
  const value: unknown = JSON.parse(text);
  return plain(/[0-9]{16}/.test(text) ? exact(text) : value, 0);
};

/** exact parses a text that JSON.parse took. */
const exact: (text: string) => unknown = (text) => {
  const token: RegExp = /[{}\[\],:]|"(?:[^"\\]+|\\.)*"|[^\s{}\[\],:"]+/gy;
  const next: () => string = () => {
    let from: number = token.lastIndex;
    while (text.charCodeAt(from) <= 32) {
      from++;
    }
    token.lastIndex = from;
    return token.exec(text)?.[0] ?? "";
  };
  const value: (first: string) => unknown = (first) => {
    if (first === "[") {
      const list: unknown[] = [];
      let head: string = next();
      while (head !== "]") {
        list.push(value(head === "," ? next() : head));
        head = next();
      }
      return list;
    }
    if (first === "{") {
      const object: any = {};
      let head: string = next();
      while (head !== "}") {
        const name: string = JSON.parse(head === "," ? next() : head);
        next();
        put(object, name, value(next()));
        head = next();
      }
      return object;
    }
    return /^-?[0-9]{16,}$/.test(first) ? BigInt(first) : JSON.parse(first);
  };
  return value(next());
};

/** stringify writes a value as JSON, bigint included. */
export const stringify: (value: Json) => string = (value) => {
  const held: any = value;
  if (typeof held === "bigint") {
    return String(held);
  }
  if (Array.isArray(held)) {
    return "[" + held.map(stringify).join(",") + "]";
  }
  if (isObject(held)) {
    return "{" + Object.keys(held).map((name: string) => JSON.stringify(name) + ":" + stringify(held[name])).join(",") + "}";
  }
  return JSON.stringify(held);
};

const halves: RegExp = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** plain returns a copy of a JSON value; it throws where it is none. */
const plain: (value: unknown, depth: number) => Json = (value, depth) => {
  const held: any = value;
  if (depth > 1000) {
    throw new TypeError("nested too deep");
  }
  switch (typeof held) {
    case "undefined":
      return null;
    case "boolean":
      return held;
    case "string":
      return held.replace(halves, "\ufffd");
    case "bigint":
      return held >= Number.MIN_SAFE_INTEGER && held <= Number.MAX_SAFE_INTEGER ? Number(held) : held;
    case "number":
      if (!Number.isFinite(held)) {
        throw new TypeError("a number is not finite");
      }
      return held;
    case "object":
      break;
    default:
      throw new TypeError("no JSON value");
  }
  if (held === null) {
    return null;
  }
  if (Array.isArray(held)) {
    return held.map((one: unknown) => plain(one, depth + 1));
  }
  if (typeof held.toJSON === "function") {
    return plain(held.toJSON(), depth + 1);
  }
  if (held instanceof Map || held instanceof Set) {
    throw new TypeError("no JSON value");
  }
  const out: any = {};
  for (const name of Object.keys(held)) {
    if (held[name] !== undefined) {
      put(out, name.replace(halves, "\ufffd"), plain(held[name], depth + 1));
    }
  }
  return out;
};

/** put sets a member whatever it is called. */
const put: (object: any, name: string, value: unknown) => void = (object, name, value) => {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
};

const isObject: (value: any) => boolean = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const isNumber: (value: any) => boolean = (value) => typeof value === "number" || typeof value === "bigint";

/** sorted returns the names of the members in the order of their code points. */
const sorted: (object: any) => string[] = (object) => Object.keys(object).sort(compare);

const compare: (a: string, b: string) => number = (a, b) => {
  let at: number = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) {
    at++;
  }
  const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
  if (at === a.length || at === b.length) {
    return a.length - b.length;
  }
  // Halves of pairs stand for characters beyond all others.
  const [xHalf, yHalf] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
  return xHalf === yHalf ? x - y : xHalf ? 1 : -1;
};

/** spelled returns the text of a number: 7.0 is 7, 1e3 is 1000. */
const spelled: (value: any) => string = (value) => {
  if (typeof value === "bigint") {
    return String(value);
  }
  const size: number = Math.abs(value);
  if (Number.isInteger(value) && size < 1e21) {
    return String(value === 0 ? 0 : value);
  }
  if (size >= 1e16 || size < 1e-4) {
    return value.toExponential().replace(/e([+-])([0-9])$/, "e$10$2");
  }
  return String(value);
};

/** keyOf returns a text that is the same for values that are equal as JSON. */
const keyOf: (value: any) => string = (value) => {
  if (isNumber(value)) {
    return spelled(value);
  }
  if (Array.isArray(value)) {
    return "[" + value.map(keyOf).join(",") + "]";
  }
  if (isObject(value)) {
    return "{" + sorted(value).map((name: string) => JSON.stringify(name) + ":" + keyOf(value[name])).join(",") + "}";
  }
  return JSON.stringify(value);
};

const isType: (value: any, name: string) => boolean = (value, name) => {
  switch (name) {
    case "null":
      return value === null;
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "number":
      return isNumber(value);
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    default:
      return isObject(value);
  }
};

// What follows was found in the traces: one JSON text for each meta-tool.
const metaTools: Map<string, any> = new Map();
for (const text of [
@TOOLS@
]) {
  const tool: any = parse(text);
  metaTools.set(tool.name, tool);
}
@STUBS@