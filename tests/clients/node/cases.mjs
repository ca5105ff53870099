// The cases that test_node_sdk.py asks for: node cases.mjs NAME, with BASE_URL and KEY in the
// environment. One JSON object on standard output says what the SDK made of the answer.
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: process.env.BASE_URL,
  apiKey: process.env.KEY,
  maxRetries: Number(process.env.RETRIES ?? '0'),
  timeout: 30000,
});
const messages = [{ role: 'user', content: 'one two three' }];
const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};
const picture = {
  type: 'image_url',
  image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
};

async function collect(stream) {
  const result = { text: '', arguments: '', chunks: 0, usage: null, finish: null };
  for await (const chunk of stream) {
    result.chunks += 1;
    result.usage = chunk.usage ?? result.usage;
    const choice = chunk.choices[0];
    if (!choice) continue;
    result.text += choice.delta.content ?? '';
    for (const call of choice.delta.tool_calls ?? []) {
      result.arguments += call.function?.arguments ?? '';
    }
    result.finish = choice.finish_reason ?? result.finish;
  }
  return result;
}

const create = (more) => client.chat.completions.create({ model: 'm-ref', messages, ...more });

const cases = {
  async whole() {
    const answer = await create({});
    return {
      text: answer.choices[0].message.content,
      usage: answer.usage,
      request: answer._request_id,
    };
  },
  stream: async () => collect(await create({ stream: true })),
  usage: async () =>
    collect(await create({ stream: true, stream_options: { include_usage: true } })),
  async tools() {
    const answer = await create({ tools: [tool], tool_choice: 'required' });
    return { calls: answer.choices[0].message.tool_calls };
  },
  streamedTools: async () => collect(await create({ stream: true, tools: [tool] })),
  async image() {
    const content = [{ type: 'text', text: 'What is it?' }, picture];
    const answer = await create({ model: 'gpt-4o', messages: [{ role: 'user', content }] });
    return { text: answer.choices[0].message.content };
  },
  async unknown() {
    const answer = await create({ x_vendor: { zero: 0, no: false, none: null }, temperature: 0 });
    return { text: answer.choices[0].message.content };
  },
  async helper() {
    // The SDK's own accumulator is stricter about the order and completeness of chunks.
    const final = await client.chat.completions
      .stream({ model: 'm-ref', messages, stream: true })
      .finalChatCompletion();
    return { text: final.choices[0].message.content };
  },
  async models() {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    return { names };
  },
  async abort() {
    const stream = await create({ stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    stream.controller.abort();
    return { left: true };
  },
};

try {
  console.log(JSON.stringify(await cases[process.argv[2]]()));
} catch (error) {
  console.log(
    JSON.stringify({
      error: error.constructor.name,
      status: error.status ?? null,
      code: error.code ?? null,
      param: error.param ?? null,
      message: String(error.message),
    }),
  );
}
