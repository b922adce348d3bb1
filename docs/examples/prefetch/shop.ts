// The shop whose agent the examples run: a tool that looks orders up, and in place of a model a
// script that calls it unless the order already stands in what it is told.
import { withPrefetch, type Json, type Read } from "./prefetch.js";

export const question = "Where is my order #W4812345?";

/** Tools of a run, with prefetched reads; one for each run of an agent. */
export const tools = () => withPrefetch(async (name: string, args: { [name: string]: Json }) => {
  if (name !== "get_order") throw new Error(`no tool ${name}`);
  return { order_id: args.order_id, status: "sent" };
});

/** What is put into the context beside a message. */
export const block = (told: Read[]): string => `Looked up already, need not be asked for: ${JSON.stringify(told)}`;

/** What the model does: its arguments for get_order, or its answer. */
export const decide = (context: string): { call: { order_id: string } } | { answer: string } =>
  /status\\*":\s*\\*"sent/.test(context) ? { answer: "It is sent." } : { call: { order_id: "#W4812345" } };

/** Ends the program with an error unless prefetching saved a call of the model. */
export const report = (framework: string, without: number, withReads: number): void => {
  console.log(`${framework}: ${without} calls of the model without prefetching, ${withReads} with it`);
  if (without !== 2 || withReads !== 1) process.exitCode = 1;
};
