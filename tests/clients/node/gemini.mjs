// The cases that test_gemini_node.py asks for: node gemini.mjs NAME, with BASE_URL, KEY and MODEL in
// the environment. One JSON object on standard output says what the SDK made of the answer.
import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  apiKey: process.env.KEY,
  httpOptions: { baseUrl: process.env.BASE_URL, timeout: 30000 },
});
const model = process.env.MODEL;
const tools = [{ functionDeclarations: [{ name: 'get_weather' }] }];
const asked = (contents, config) => ({ model, contents, config });

async function streamed(contents, config) {
  const parts = [];
  let last;
  for await (const chunk of await client.models.generateContentStream(asked(contents, config))) {
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    last = chunk;
  }
  last.candidates[0].content.parts = parts.filter((p) => p.text !== '' || p.thoughtSignature);
  return last;
}

const ways = {
  whole: (contents, config) => client.models.generateContent(asked(contents, config)),
  streamed,
};

function shown(answer) {
  return {
    text: answer.text ?? '',
    calls: (answer.functionCalls ?? []).map(({ name, args }) => ({ name, args })),
    finish: answer.candidates[0].finishReason,
    model: answer.modelVersion,
    usage: [answer.usageMetadata.promptTokenCount, answer.usageMetadata.candidatesTokenCount],
  };
}

async function conversation(way) {
  const user = { role: 'user', parts: [{ text: 'one two three' }] };
  const first = await way([user], { tools });
  const { id, name } = first.functionCalls[0];
  const response = { functionResponse: { id, name, response: { output: '21' } } };
  const turns = [user, first.candidates[0].content, { role: 'user', parts: [response] }];
  return { first: shown(first), second: shown(await way(turns, { tools })) };
}

async function chat() {
  const talk = client.chats.create({ model });
  let text = '';
  for await (const chunk of await talk.sendMessageStream({ message: 'hi' })) text += chunk.text ?? '';
  return { text, turns: talk.getHistory(true).length };
}

const cases = {
  whole: async () => shown(await ways.whole('one two three')),
  streamed: async () => shown(await ways.streamed('one two three')),
  wholeTools: () => conversation(ways.whole),
  streamedTools: () => conversation(ways.streamed),
  chat,
  count: () => client.models.countTokens({ model, contents: 'one two three' }),
  async models() {
    const names = [];
    for await (const one of await client.models.list()) names.push(one.name);
    return { names, one: (await client.models.get({ model })).name };
  },
};

try {
  console.log(JSON.stringify(await cases[process.argv[2]]()));
} catch (error) {
  console.log(JSON.stringify({ status: error.status ?? 0, message: String(error.message) }));
}
