import { generatedDocument } from "./openapi-document.ts";

/** A tool for agents. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
}

interface Operation {
  readonly summary: string;
}

/** The text that tells a language model how to use this service (https://llmstxt.org). Calls have their summary in the OpenAPI document. */
export async function llmsText(tools: readonly ShownTool[]): Promise<string> {
  const { paths }: { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } =
    await generatedDocument();
  const calls = Object.entries(paths)
    // A call that has a second path without `/v1` is listed once.
    .filter(([path]) => !(`/v1${path}` in paths))
    .flatMap(([path, verbs]) =>
      Object.entries(verbs).map(([verb, { summary }]) => `- \`${verb.toUpperCase()} ${path}\`: ${summary}`),
    );
  return `# Kibitz

> Chess positions and games, analysed by a real Stockfish. Two ways to ask: tools of the Model Context Protocol, and plain JSON over HTTP.

Never make up an evaluation, a FEN or a best move: ask. A position can always be given as a start and its moves, in SAN or UCI:
\`{"fen": "startpos", "moves": ["e4", "e5", "Nf3"]}\`. Scores are from White's point of view.

## Tools

\`POST /mcp\` on this server, by Streamable HTTP, without a session; or \`kibitz mcp\` on standard input and output (npm package \`kibitz-chess\`).

${tools.map(({ name, description }) => `- \`${name}\`: ${description}`).join("\n")}

## Plain JSON

\`\`\`
POST /v1/eval
Content-Type: application/json

{"fen": "startpos", "moves": ["e4", "e5"], "depth": 14}
\`\`\`

The answer has \`score\` (\`cp\` or \`mate\`), \`best_move\`, \`lines\` and a \`summary\` in words.

${calls.join("\n")}

## Errors and limits

An error is a document with \`code\`, \`detail\`, \`errors\` (which value, what is allowed) and \`next_action\`: \`send_suggested_request\` means that
\`suggested_request\` will be answered, \`retry_later\` that the same request will be, after \`retry_after_ms\`. Tools say the same in their text.
\`GET /price\` shows the plans and their limits. A key, where one is needed, is sent as \`Authorization: Bearer kbz_…\`.

## More

- [OpenAPI document](/openapi.json): every call, field and range
- [API reference](/docs): the same, with forms to try each call
- [Errors](/problems): every code, explained
- [Engines](/engines): versions and their options
`;
}
