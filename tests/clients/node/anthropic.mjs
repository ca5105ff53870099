// The cases that test_anthropic_node.py asks for: node anthropic.mjs NAME, with BASE_URL, KEY and
// MODEL in the environment. One JSON object on standard output says what the SDK made of the answer.
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: process.env.BASE_URL,
  apiKey: process.env.KEY,
  maxRetries: 0,
  timeout: 30000,
});
const messages = [{ role: 'user', content: 'one two three' }];
const tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
};
const asked = (more) => ({ model: process.env.MODEL, max_tokens: 2000, messages, ...more });
const whole = (more) => client.messages.create(asked(more));
// The SDK's own accumulator is strict about the order of events.
const streamed = (more) => client.messages.stream(asked(more)).finalMessage();

function shown(message) {
  return {
    content: message.content.map(({ type, text, thinking, name, input }) => ({
      type,
      text,
      thinking,
      name,
      input,
    })),
    stop: message.stop_reason,
    model: message.model,
    usage: [message.usage.input_tokens, message.usage.output_tokens],
  };
}

async function conversation(way) {
  const first = await way({ tools: [tool], tool_choice: { type: 'any' } });
  const call = first.content.find((block) => block.type === 'tool_use');
  const result = { type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: '21' }] };
  const turns = [
    ...messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: [result] },
  ];
  return { first: shown(first), second: shown(await way({ tools: [tool], messages: turns })) };
}

const cases = {
  whole: async () => shown(await whole({})),
  streamed: async () => shown(await streamed({})),
  wholeTools: () => conversation(whole),
  streamedTools: () => conversation(streamed),
  async models() {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    return { names, one: await client.models.retrieve(process.env.MODEL) };
  },
  count: () => client.messages.countTokens({ model: process.env.MODEL, messages }),
};

try {
  console.log(JSON.stringify(await cases[process.argv[2]]()));
} catch (error) {
  console.log(
    JSON.stringify({
      error: error.constructor.name,
      status: error.status ?? null,
      type: error.error?.error?.type ?? null,
      message: String(error.message),
    }),
  );
}
