// Asked by test_recorded.py: node recorded.mjs, with BASE_URL, KEY and CONTROL (the simulator's) in
// the environment, and [{name, client, model, stream}, ...] on standard input. Every exchange is
// served by the simulator and read by the official SDK; what the SDKs made of them, by name, is one
// JSON object on standard output.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { text } from 'node:stream/consumers';

const options = { apiKey: process.env.KEY, maxRetries: 0, timeout: 30000 };
const anthropic = new Anthropic({ ...options, baseURL: process.env.BASE_URL });
const openai = new OpenAI({ ...options, baseURL: process.env.BASE_URL + '/v1' });
const messages = [{ role: 'user', content: 'hello' }];

async function serve({ name, model }) {
  const answer = await fetch(process.env.CONTROL + '/_sim/behaviour', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ model, recorded: name }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function readMessage({ model, stream }) {
  const asked = { model, max_tokens: 100, messages };
  // The SDK's own accumulator is strict about the order of events.
  const message = stream
    ? await anthropic.messages.stream(asked).finalMessage()
    : await anthropic.messages.create(asked);
  const of = (type) => message.content.filter((block) => block.type === type);
  return {
    text: of('text')
      .map((block) => block.text)
      .join(''),
    calls: of('tool_use').map((block) => [block.name, block.input]),
    finish: message.stop_reason,
    usage: message.usage,
  };
}

async function readChunks(stream) {
  const made = { text: '', calls: [], finish: null, usage: null };
  for await (const chunk of stream) {
    made.usage = chunk.usage ?? made.usage;
    for (const { delta, finish_reason: finish } of chunk.choices) {
      made.text += delta.content ?? '';
      made.finish = finish ?? made.finish;
      for (const piece of delta.tool_calls ?? []) {
        made.calls[piece.index] ??= ['', ''];
        made.calls[piece.index][0] += piece.function.name ?? '';
        made.calls[piece.index][1] += piece.function.arguments ?? '';
      }
    }
  }
  made.calls = made.calls.map(([name, json]) => [name, JSON.parse(json)]);
  return made;
}

async function readChat({ model, stream }) {
  const more = stream ? { stream, stream_options: { include_usage: true } } : {};
  const answer = await openai.chat.completions.create({ model, messages, ...more });
  if (stream) return readChunks(answer);
  const [{ message, finish_reason: finish }] = answer.choices;
  return {
    text: message.content ?? '',
    calls: (message.tool_calls ?? []).map(({ function: { name, arguments: json } }) => [
      name,
      JSON.parse(json),
    ]),
    finish,
    usage: answer.usage,
  };
}

const said = {};
for (const job of JSON.parse(await text(process.stdin))) {
  await serve(job);
  try {
    said[job.name] = await (job.client === 'messages' ? readMessage(job) : readChat(job));
  } catch (error) {
    said[job.name] = { error: error.constructor.name, status: error.status ?? null };
  }
}
console.log(JSON.stringify(said));
