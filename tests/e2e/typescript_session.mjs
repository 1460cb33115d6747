// A coding agent's session with the official TypeScript SDK: node typescript_session.mjs URL TOKEN
// Prints what it saw as one line of JSON; the test compares.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: "typescript-session", version: "1" });
await client.connect(transport);

const namespace = "github/acme/typescript";
const call = async (name, args) => client.callTool({ name, arguments: args });
const { tools } = await client.listTools();
const fact = { type: "decision", title: "Locks expire", content: "Locks expire after a minute." };
const stored = await call("memory_store", { namespace, ...fact });
const found = await call("memory_search", { query: "when do locks expire", namespace });
const index = await client.readResource({ uri: `memory://index/${namespace}` });
const prompt = await client.getPrompt({ name: "start_session", arguments: { namespace } });
const completed = await client.complete({
  ref: { type: "ref/prompt", name: "start_session" },
  argument: { name: "namespace", value: "github/acme/t" },
});
const refused = await call("memory_get", { ids: ["01ARZ3NDEKTSV4RRFFQ69G5FAV"] });
const closed = await call("memory_session_close", { namespace, summary: "Locks were looked at." });
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    tools: tools.map((tool) => tool.name),
    agent: stored.structuredContent.record.agent,
    found: found.structuredContent.records.map((record) => record.title),
    index: JSON.parse(index.contents[0].text).records.map((record) => record.title),
    prompt: prompt.messages[0].content.text,
    completed: completed.completion.values,
    refused: JSON.parse(refused.content[0].text).error_key,
    closed: closed.structuredContent.result,
  }),
);
await client.close();
