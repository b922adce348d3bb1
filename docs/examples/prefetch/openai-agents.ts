// Prefetching in the OpenAI Agents SDK: the reads stand beside the message of the user.
import { Agent, run, tool, Usage, setTracingDisabled, type AgentInputItem, type Model } from "@openai/agents";
import { z } from "zod";
import { block, decide, question, report, tools } from "./shop.js";

setTracingDisabled(true);

const answer = async (ahead: boolean): Promise<number> => {
  let calls = 0;
  const model = {
    async getResponse(request) {
      calls++;
      const next = decide(JSON.stringify(request.input));
      return {
        usage: new Usage(),
        output: "answer" in next
          ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: next.answer }] }]
          : [{ type: "function_call", callId: "c1", name: "get_order", status: "completed", arguments: JSON.stringify(next.call) }],
      };
    },
    getStreamedResponse() {
      throw new Error("this script does not stream");
    },
  } as Model;

  const callTool = tools();
  const agent = new Agent({
    name: "shop", model,
    tools: [tool({ name: "get_order", description: "Show an order.", parameters: z.object({ order_id: z.string() }), execute: (args) => callTool("get_order", args) as any })],
  });
  const told = ahead ? await callTool.onUserMessage(question) : [];
  const input: AgentInputItem[] = [{ role: "user", content: question }];
  if (told.length > 0) input.push({ role: "system", content: block(told) });
  await run(agent, input);
  return calls;
};

report("OpenAI Agents SDK", await answer(false), await answer(true));
