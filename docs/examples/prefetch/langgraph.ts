// Prefetching in LangGraph: a node before the model adds what was read to the messages.
import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { block, decide, question, report, tools } from "./shop.js";

const answer = async (ahead: boolean): Promise<number> => {
  let calls = 0;
  const callTool = tools();
  const getOrder = tool((args: { order_id: string }) => callTool("get_order", args) as any, {
    name: "get_order", description: "Show an order.", schema: z.object({ order_id: z.string() }),
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("ahead", async ({ messages }) => {
      const told = ahead ? await callTool.onUserMessage(messages.at(-1)!.text) : [];
      return { messages: told.length > 0 ? [new SystemMessage(block(told))] : [] };
    })
    .addNode("model", ({ messages }) => {
      calls++;
      const next = decide(JSON.stringify(messages.map((m) => m.content)));
      return {
        messages: ["answer" in next
          ? new AIMessage(next.answer)
          : new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "get_order", args: next.call }] })],
      };
    })
    .addNode("tools", new ToolNode([getOrder]))
    .addEdge(START, "ahead")
    .addEdge("ahead", "model")
    .addConditionalEdges("model", ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END), ["tools", END])
    .addEdge("tools", "model")
    .compile();
  await graph.invoke({ messages: [new HumanMessage(question)] });
  return calls;
};

report("LangGraph", await answer(false), await answer(true));
