// Prints 60 recorded runs of a shop's agent, as the chat API of OpenAI has them: the user
// names an order, and the agent looks it up before it answers.
const tool = (name, description, argument) => ({
  type: "function",
  function: { name, description, parameters: { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] } },
});
const tools = [tool("get_order", "Show an order.", "order_id"), tool("cancel_order", "Cancel an order.", "order_id")];
const asks = ["Where is my order ID?", "Hello, my order ID has not come yet.", "Please look at ID for me."];
for (let i = 0; i < 60; i++) {
  const id = `#W${4810000 + 7919 * i}`;
  const call = { id: `c${i}`, type: "function", function: { name: "get_order", arguments: JSON.stringify({ order_id: id }) } };
  const messages = [
    { role: "user", content: asks[i % asks.length].replace("ID", id) },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: JSON.stringify({ order_id: id, status: ["sent", "packed"][i % 2] }) },
    { role: "assistant", content: "It is on its way." },
  ];
  console.log(JSON.stringify({ model: "gpt-5.1", messages, tools }));
}
