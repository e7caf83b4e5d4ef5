/** Writes `docs/errors.md` from the catalogue of errors. */
import { writeFileSync } from "node:fs";
import { type ErrorCode, errorCodes, errorKind, isRetried } from "../src/errors/catalog.ts";

export function errorsPage(): string {
  const rows = errorCodes.map((code) => `| ${cellsOf(code).join(" | ")} |`);
  return `# Error codes

<!-- Made by \`npm run generate\` from src/errors/catalog.ts. -->

Every error has one of these codes: \`code\` of a [problem document](api.md#errors), and in upper case \`reason\` of an \`ErrorInfo\` over gRPC. A program should
read \`code\` and \`next_action\`, because the English text may change. New codes may be added: treat an unknown code by its status.

- **HTTP**: the status of plain JSON. **gRPC**: the status over gRPC, gRPC-Web and Connect.
- **next_action**: what a program should do next. \`fix_request\` becomes \`send_suggested_request\` if the problem has a \`suggested_request\`. For some
  errors, an answer has another action that fits better, such as \`get_api_key\` for a caller without a key.
- **retry**: whether the same request can succeed later. Then \`retryable\` is true, and \`retry_after_ms\` and \`Retry-After\` say when, if Kibitz knows.

| code | HTTP | gRPC | next_action | retry | meaning |
|---|---|---|---|---|---|
${rows.join("\n")}

A running server explains each code at \`/problems/\` and the code with hyphens, such as \`/problems/invalid-fen\`.
`;
}

function cellsOf(code: ErrorCode): readonly string[] {
  const { status, rpc, nextAction, about } = errorKind(code);
  return [
    `\`${code}\``,
    `${status}`,
    `\`${rpc}\``,
    `\`${nextAction}\``,
    isRetried(nextAction) ? "yes" : "no",
    about,
  ];
}

if (import.meta.main) {
  writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage());
}
