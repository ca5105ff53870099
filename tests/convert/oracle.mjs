// Runs the reference model over streams given a line each, and prints what it makes of them.
import { createInterface } from "node:readline";

const M = await import(process.argv[2]);
const inward = {
    messages: (c) => [new M.ClaudeToChat(c)],
    chat: () => [new M.ChatNorm()],
    responses: (c) => [new M.ResponsesToChat(c)],
    gemini: (c) => [new M.GeminiToChat(c)],
};
const outward = {
    messages: (c) => [new M.ChatToClaude(c)],
    chat: (c) => [new M.ChatSink(c)],
    responses: (c) => [new M.ChatToResponses(c)],
    gemini: (c) => [new M.ChatToGemini(c)],
};
const wrap = {
    messages: (e) => ({ event: e.type, data: e }),
    responses: (e) => ({ event: e.type, data: e }),
    chat: (e) => e,
    gemini: (e) => ({ data: e }),
};

for await (const line of createInterface({ input: process.stdin })) {
    const { upstream, client, events, end } = JSON.parse(line);
    const context = { now: 1700000000, includeUsage: true, includeThoughts: true };
    const hops = [...inward[upstream](context), ...outward[client](context)];
    console.log(JSON.stringify(M.run(hops, events.map(wrap[upstream]), end)));
}
