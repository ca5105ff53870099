// The cases that test_responses_node.py asks for: node responses.mjs NAME, with BASE_URL, KEY and
// MODEL in the environment. One JSON object on standard output says what the SDK made of the answer.
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: process.env.BASE_URL,
  apiKey: process.env.KEY,
  maxRetries: 0,
  timeout: 30000,
});
const input = [{ role: 'user', content: 'one two three' }];
const tool = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
const asked = (more) => ({ model: process.env.MODEL, input, ...more });
const whole = (more) => client.responses.create(asked(more));
// The SDK's own accumulator is strict about the order of events.
const streamed = (more) => client.responses.stream(asked(more)).finalResponse();

function shown(response) {
  return {
    output: response.output.map(({ type, name, arguments: json, summary, content }) => ({
      type,
      name,
      arguments: json && JSON.parse(json),
      text: (summary ?? content)?.map(({ text }) => text).join(''),
    })),
    status: response.status,
    model: response.model,
    usage: response.usage && [response.usage.input_tokens, response.usage.output_tokens],
    error: response.error?.code,
  };
}

const plain = ({ id, status, parsed_arguments: _, ...item }) => item;

async function conversation(way) {
  const first = await way({ tools: [tool], tool_choice: 'required' });
  const call = first.output.find((item) => item.type === 'function_call');
  const result = { type: 'function_call_output', call_id: call.call_id, output: '21' };
  const turns = [...input, ...first.output.map(plain), result];
  return { first: shown(first), second: shown(await way({ tools: [tool], input: turns })) };
}

const cases = {
  whole: async () => shown(await whole({})),
  streamed: async () => shown(await streamed({})),
  wholeTools: () => conversation(whole),
  streamedTools: () => conversation(streamed),
};

try {
  console.log(JSON.stringify(await cases[process.argv[2]]()));
} catch (error) {
  console.log(JSON.stringify({ status: error.status ?? null, code: error.code ?? null }));
}
