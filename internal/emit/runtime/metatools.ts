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
 *       return answer.content;                   // a JSON value, text, or content blocks of MCP
 *     };
 *     const outcome = await run("name_of_a_meta_tool", { user_id: "u-1" }, callTool);
 *     const reply = text(outcome);               // what to hand to the agent, as JSON
 *
 * The first failure ends a run; it is handed back with what was done so far, and never
 * counts as done. An error of callTool counts as a call without an answer (an
 * AbortError or TimeoutError: as time that was up); only toolFailed is an answer.
 *
 * Whole numbers beyond 2^53 are exact only as bigint. JSON.parse rounds them; parse
 * below does not, and stringify and text write what it gives.
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
  element?: Json; // that it was made for, where a list is walked
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
  instead?: string[]; // tools that only read and may stand in for the one that failed; nothing calls them
}

export interface Outcome {
  name: string;
  state: "done" | "partial" | "handed-back"; // partial: but for reads that were skipped
  safe_to_retry: boolean; // nothing was written, or only what may be written twice
  steps: Step[]; // those that were begun
  failure: Failure | null; // where a run ended early
}

export interface AnswerOptions {
  steps?: boolean; // say what happened step by step
  maxBytes?: number; // cut results, the longest first, until the JSON is short enough
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
  const out: Outcome = { name, state: "done", safe_to_retry: true, steps: [], failure: null };
  try {
    const scope: any = { inputs: checked(tool, inputs), results: [], element: undefined };
    checkGiven(tool, scope);
    const work: any = { callTool, calls: 0, maxCalls: options.maxCalls ?? 100, retries: Math.max(options.retries ?? 1, 0), skip: options.skipFailedReads ?? false, signal: options.signal };
    for (let index = 0; index < tool.steps.length; index++) {
      await runStep(tool, index, scope, work, out);
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
    const instead: string[] | undefined = failed.step >= 0 && helpful.has(failed.code) ? tool.steps[failed.step].instead : undefined;
    if (instead !== undefined) {
      out.failure.instead = instead;
    }
  }
  return out;
};

/** helpful are the failures where another tool may help. */
const helpful: Set<string> = new Set(["call-failed", "no-answer", "unexpected-result"]);

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

/** checkGiven says which argument is wrong whatever the calls return. */
const checkGiven: (tool: any, scope: any) => void = (tool, scope) => {
  for (const [index, step] of tool.steps.entries()) {
    for (const [name, _, binding, types] of step.args) {
      if (types.length > 0 && isGiven(binding) && !takes(types, valueOf(binding, scope))) {
        throw stop(index, 0, "wrong-type", name);
      }
    }
  }
};

const isGiven: (binding: any) => boolean = (binding) =>
  binding.kind === "template" ? binding.parts.every(isGiven) : binding.kind === "const" || binding.kind === "input";

const takes: (types: any, value: any) => boolean = (types, value) =>
  types.length === 0 || value === undefined || types.some((type: string) => isType(value, type));

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
  for (const [name, optional, binding, types] of step.args) {
    const value: Json | undefined = valueOf(binding, scope);
    if (!takes(types, value)) {
      throw stop(index, at, "wrong-type", name);
    }
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
  if (step.each !== null) {
    call.element = scope.element;
  }
  let failed: any = null;
  while (call.tries < tries) {
    call.tries++;
    failed = null;
    Object.assign(call, { status: "none", result: null, error: "" });
    try {
      // A copy: what callTool does to its arguments is no matter of later calls.
      const { value, isError } = content(plain(await work.callTool(step.tool, plain(args, 0)), 0));
      call.result = value;
      call.status = isError ? "failed" : "ok";
    } catch (error) {
      const wrong: any = error;
      let answered: boolean = false;
      if (wrong instanceof Error && wrong.name === "ToolFailed") {
        try {
          call.result = content(plain(Reflect.get(wrong, "result"), 0)).value;
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
  binding.kind === "element" ? scope.element : bindable(scope.results[binding.step]);

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
  if (typeof value === "string") {
    held = lookedThrough(value);
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

/** lookedThrough returns the object or list of which a text is the JSON. */
const lookedThrough: (value: string) => Json | undefined = (value) => {
  const text: string = value.replace(blanks, "");
  return text.startsWith("{") || text.startsWith("[") ? parsed(text) : undefined;
};

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

/** content returns what a result of MCP holds, or content blocks, and whether it is an error. */
const content: (value: any) => { value: Json; isError: boolean } = (value) => {
  let held: any = value;
  let isError: boolean = false;
  if (isObject(value) && isToolResult(value)) {
    isError = own(value, "isError") === true;
    const structured: any = own(value, "structuredContent") ?? null;
    if (structured !== null) {
      return { value: structured, isError };
    }
    held = value.content;
  }
  if (isBlocks(held) && held.every((block: any) => block.type === "text")) {
    held = blocksText(held);
  }
  return { value: held, isError };
};

const own: (value: any, name: string) => any = (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);

const isToolResult: (value: any) => boolean = (value) => {
  const blocks: any = own(value, "content");
  if (blocks !== undefined && !(Array.isArray(blocks) && blocks.length === 0) && !isBlocks(blocks)) {
    return false;
  }
  if (blocks === undefined && (own(value, "structuredContent") ?? null) === null) {
    return false;
  }
  return Object.keys(value).every((name: string) => ["_meta", "content", "isError", "resultType", "structuredContent"].includes(name));
};

const isBlocks: (value: any) => boolean = (value) => Array.isArray(value) && value.length > 0 && value.every(isBlock);

const isBlock: (value: any) => boolean = (value) => {
  switch (own(value, "type")) {
    case "text":
      return typeof own(value, "text") === "string";
    case "image":
    case "audio":
      return typeof own(value, "data") === "string" || isObject(own(value, "source"));
    case "resource":
      return isObject(own(value, "resource"));
    case "resource_link":
      return typeof own(value, "uri") === "string";
    default:
      return false;
  }
};

const blocksText: (blocks: any) => string = (blocks) =>
  blocks.filter((block: any) => block.type === "text").map((block: any) => block.text).join("\n");

/** bindable returns what bindings read of a result: of content blocks their text. */
const bindable: (result: any) => Json | undefined = (result) => (isBlocks(result) ? blocksText(result) || undefined : result);

/**
 * answer returns what to hand to an agent. "results" are what the calls returned, in
 * their order: objects with one member, named by the tool. A walk over a list is a list
 * of "for" (the element) and "result". If there is something to say: "omitted" (results
 * that another one contains), "cut" (with maxBytes), "state", "failure",
 * "safe_to_retry", and with steps what happened step by step.
 */
export const answer: (outcome: Outcome, options?: AnswerOptions) => Json = (outcome, options = {}) => {
  const tool: any = metaTools.get(outcome.name);
  const parts: any[] = partsOf(tool, outcome);
  const pieces: any[] = parts.flatMap((part: any) => part.pieces);
  omitRepeated(pieces);
  const limit: number = options.maxBytes ?? 0;
  for (;;) {
    const told: Json = together(tool, outcome, parts, options.steps ?? false);
    const excess: number = bytesOf(textOf(told)) - limit;
    if (limit === 0 || excess <= 0) {
      return told;
    }
    let longest: any = undefined;
    for (const piece of pieces) {
      if (piece.holder === undefined && piece.size > "null".length && (longest === undefined || piece.size > longest.size)) {
        longest = piece;
      }
    }
    if (longest === undefined) {
      return told;
    }
    cut(longest, longest.size - excess - 48);
  }
};

/** text returns the answer as compact JSON. */
export const text: (outcome: Outcome, options?: AnswerOptions) => string = (outcome, options = {}) => textOf(answer(outcome, options));

/** partsOf returns what is told of each step. */
const partsOf: (tool: any, outcome: Outcome) => any[] = (tool, outcome) => {
  const parts: any[] = [];
  const failure: any = outcome.failure;
  for (const [step, record] of outcome.steps.entries()) {
    const made: any = tool.steps[step];
    if (!tool.returns.includes(step) && (failure === null || made.read_only)) {
      continue;
    }
    const failedHere: boolean = failure !== null && failure.step === step + 1;
    const calls: any[] = failedHere ? record.calls.slice(0, failure.call - 1) : record.calls;
    if (calls.length > 0 || !failedHere) {
      const pieces: any[] = calls.map((call: any, at: number) => {
        const value: Json = call.status === "ok" ? toldOf(call.result) : null;
        const written: string = textOf(value);
        const element: Json | undefined = made.each === null ? undefined : elementOf(made, call);
        return { step, call: at, element, value, text: written, size: bytesOf(written), holder: undefined, bytes: 0, kept: 0 };
      });
      parts.push({ step, walks: made.each !== null, pieces });
    }
  }
  return parts;
};

/** elementOf returns what a call of a walk is about. */
const elementOf: (step: any, call: any) => Json = (step, call) => {
  if (typeof call.element !== "object" || call.element === null) {
    return call.element;
  }
  const taken: any = {};
  for (const [name, _, binding] of step.args) {
    if (Object.hasOwn(call.arguments, name) && readsElement(binding)) {
      put(taken, name, call.arguments[name]);
    }
  }
  const names: string[] = Object.keys(taken);
  return names.length === 0 ? null : names.length === 1 ? taken[names[0]] : taken;
};

const readsElement: (binding: any) => boolean = (binding) =>
  binding.kind === "element" || (binding.key !== undefined && readsElement(binding.key)) || (binding.parts ?? []).some(readsElement);

/** toldOf returns a result as the answer has it: JSON in a text is that value. */
const toldOf: (result: any) => Json = (result) => (typeof result === "string" ? lookedThrough(result) ?? result : result);

const omitRepeated: (pieces: any[]) => void = (pieces) => {
  const omitted: boolean[] = pieces.map((inner: any, j: number) => pieces.some((outer: any, i: number) => holds(i, outer, j, inner)));
  for (const [j, inner] of pieces.entries()) {
    if (omitted[j]) {
      inner.holder = pieces.find((outer: any, i: number) => !omitted[i] && holds(i, outer, j, inner)).step;
    }
  }
};

/** holds says whether a result contains another one that is worth leaving out. */
const holds: (i: number, outer: any, j: number, inner: any) => boolean = (i, outer, j, inner) => {
  if (i === j || inner.size < 40 || outer.size < inner.size || (outer.size === inner.size && i > j)) {
    return false;
  }
  const within: string = typeof inner.value === "string" ? inner.text.slice(1, -1) : inner.text;
  return outer.text.includes(within) && contains(outer.value, inner.value, inner.text);
};

const contains: (outer: any, inner: any, written: string) => boolean = (outer, inner, written) => {
  if (typeof outer === "string") {
    return typeof inner === "string" && outer.includes(inner);
  }
  if (typeof outer !== "object" || outer === null) {
    return false;
  }
  if (typeof inner === "object" && Array.isArray(outer) === Array.isArray(inner) && textOf(outer) === written) {
    return true;
  }
  return Object.values(outer).some((one: any) => contains(one, inner, written));
};

/** together puts the answer together. */
const together: (tool: any, outcome: Outcome, parts: any[], withSteps: boolean) => Json = (tool, outcome, parts, withSteps) => {
  const results: any[] = [];
  const omitted: any[] = [];
  const cuts: any[] = [];
  for (const { step, walks, pieces } of parts) {
    const walk: any[] = [];
    for (const piece of pieces) {
      const where: any = walks ? { step: step + 1, call: piece.call + 1 } : { step: step + 1 };
      const told: any = walks ? { for: piece.element } : {};
      if (piece.holder !== undefined) {
        omitted.push({ ...where, in: piece.holder + 1 });
      } else {
        put(told, walks ? "result" : tool.steps[step].tool, piece.value);
      }
      if (walks) {
        walk.push(told);
      } else if (piece.holder === undefined) {
        results.push(told);
      }
      if (piece.bytes > 0) {
        cuts.push({ ...where, bytes: piece.bytes, kept: piece.kept });
      }
    }
    if (walks) {
      const told: any = {};
      put(told, tool.steps[step].tool, walk);
      results.push(told);
    }
  }
  const out: any = { results };
  if (omitted.length > 0) {
    out.omitted = omitted;
  }
  if (cuts.length > 0) {
    out.cut = cuts;
  }
  if (outcome.state !== "done") {
    out.state = outcome.state;
  }
  if (outcome.failure !== null) {
    out.failure = failureTold(outcome);
    out.safe_to_retry = outcome.safe_to_retry;
  }
  if (withSteps) {
    out.steps = outcome.steps.map(stepTold);
  }
  return out;
};

const failureTold: (outcome: Outcome) => Json = (outcome) => {
  const failure: any = outcome.failure;
  const told: any = { code: failure.code, step: failure.step };
  if (failure.step > 0) {
    told.tool = failure.tool;
    told.call = failure.call;
  }
  if (failure.argument !== "") {
    told.argument = failure.argument;
  }
  if (failure.message !== "") {
    told.message = failure.message;
  }
  if (failure.instead !== undefined) {
    told.instead = failure.instead;
  }
  const call: any = outcome.steps[failure.step - 1]?.calls[failure.call - 1];
  if (call !== undefined && call.status !== "none") {
    told.result = toldOf(call.result);
  }
  return told;
};

const stepTold: (record: Step) => Json = (record) => {
  const calls: any[] = record.calls.map((call: any) => {
    const told: any = { arguments: call.arguments, status: call.status, tries: call.tries };
    if (call.status === "none") {
      told.error = call.error;
    }
    return told;
  });
  const out: any = { tool: record.tool, calls };
  if (record.skipped > 0) {
    out.skipped = record.skipped;
  }
  return out;
};

/** cut makes a result the beginning of its text. */
const cut: (piece: any, limit: number) => void = (piece, limit) => {
  const whole: string = typeof piece.value === "string" ? piece.value : piece.text;
  piece.bytes ||= piece.size;
  let kept: string = "";
  let length: number = 2;
  for (const character of whole) {
    length += bytesOf(textOf(character)) - 2;
    if (length > limit) {
      break;
    }
    kept += character;
  }
  piece.kept = bytesOf(kept);
  piece.value = kept === "" ? null : kept;
  piece.text = textOf(piece.value);
  piece.size = bytesOf(piece.text);
};

/** textOf returns the compact JSON of a value, members in order of their names. */
const textOf: (value: any) => string = (value) => {
  if (isNumber(value)) {
    return spelled(value);
  }
  if (Array.isArray(value)) {
    return "[" + value.map(textOf).join(",") + "]";
  }
  if (isObject(value)) {
    return "{" + sorted(value).map((name: string) => JSON.stringify(name) + ":" + textOf(value[name])).join(",") + "}";
  }
  return JSON.stringify(value);
};

/** bytesOf returns the length of a text in UTF-8. */
const bytesOf: (value: string) => number = (value) => {
  let bytes: number = 0;
  for (const character of value) {
    const code: number = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
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