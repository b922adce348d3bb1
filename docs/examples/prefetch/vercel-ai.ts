// Prefetching in the AI SDK: the reads stand beside the message of the user.
import { generateText, isStepCount, tool, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { block, decide, question, report, tools } from "./shop.js";

const answer = async (ahead: boolean): Promise<number> => {
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const next = decide(JSON.stringify(prompt));
      return {
        content: ["answer" in next
          ? { type: "text", text: next.answer }
          : { type: "tool-call", toolCallId: "c1", toolName: "get_order", input: JSON.stringify(next.call) }],
        finishReason: { unified: "answer" in next ? "stop" : "tool-calls", raw: undefined },
        usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
        warnings: [],
      };
    },
  });

  const callTool = tools();
  const told = ahead ? await callTool.onUserMessage(question) : [];
  const messages: ModelMessage[] = [{ role: "user", content: question }];
  if (told.length > 0) messages.push({ role: "user", content: block(told) });
  await generateText({
    model, messages, stopWhen: isStepCount(5),
    tools: { get_order: tool({ description: "Show an order.", inputSchema: z.object({ order_id: z.string() }), execute: (args) => callTool("get_order", args) as any }) },
  });
  return model.doGenerateCalls.length;
};

report("AI SDK", await answer(false), await answer(true));
