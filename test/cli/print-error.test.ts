import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import type { CommandInput } from "../../src/cli/command.ts";
import { orPrintError } from "../../src/cli/print-error.ts";
import { RemoteError } from "../../src/cli/remote-error.ts";
import { KibitzError } from "../../src/errors/errors.ts";

async function printedFor(error: Error) {
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text) };
  const input = { values: {}, host: { stderr } } as unknown as CommandInput;
  const code = await orPrintError(input, () => Promise.reject(error));
  return { code, stderr: written.join("") };
}

const remote = (problem: MessageInitShape<typeof ProblemSchema>) =>
  new RemoteError(create(ProblemSchema, problem), "https://chess.example/kibitz");

test("the message about a temporary error contains the time to wait, and the exit code is 1", async () => {
  const early = { code: "rate_limited", status: 429, detail: "Enough.", nextAction: "retry_later" };
  expect(await printedFor(remote({ ...early, retryAfterMs: 41_200 }))).toEqual({
    code: 1,
    stderr: "kibitz: Enough.\nkibitz: ask again in 42 s\n",
  });
});

test("the message about a request that exceeds the plan names the field and a larger plan", async () => {
  const beyond = {
    code: "upgrade_needed",
    status: 402,
    detail: "Too deep.",
    nextAction: "get_api_key",
    errors: [{ pointer: "/depth", code: "over_plan_limit", message: "30 is over 20." }],
    suggestedRequest: { fen: "startpos", depth: 20 },
    upgrade: { plan: "free", url: "/v1/keys" },
  };
  expect(await printedFor(remote(beyond))).toEqual({
    code: 2,
    stderr: `kibitz: depth: 30 is over 20.
kibitz: try: {"fen":"startpos","depth":20}
kibitz: the plan free allows it: https://chess.example/kibitz/v1/keys
kibitz: give an API key of the service, in KIBITZ_API_KEY or with --key
`,
  });
});

test("a printed error shortens a long game in the corrected request", async () => {
  const suggestedRequest = {
    pgn: `1. e4 {${"long ".repeat(1000)}} *`,
    moves: Array(600).fill("Nf3"),
    depth: 20,
  };
  const beyond = { code: "upgrade_needed", status: 402, detail: "Too deep.", suggestedRequest };
  const { stderr } = await printedFor(remote(beyond));
  expect(stderr).toContain('try: {"pgn":"1. e4 {long long ');
  expect(stderr).toMatch(
    /long lon… \(5010 characters\)","moves":\["Nf3",.+"… \(600 items\)"\],"depth":20\}\n/,
  );
  expect(stderr.length).toBeLessThan(800);
});

test("the message about an internal error in a service contains the request id for the operator", async () => {
  const failed = { code: "internal", status: 500, detail: "Something failed.", requestId: "r-1" };
  expect(await printedFor(remote(failed))).toEqual({
    code: 1,
    stderr: "kibitz: Something failed.\nkibitz: the operator of the service finds it in the log as r-1\n",
  });
});

test("an error is printed with a line for each violation, and the exit code is 2", async () => {
  const violations = ["One.", "Two."].map((message) => ({
    pointer: "/depth",
    code: "out_of_range" as const,
    message,
  }));
  expect(
    await printedFor(new KibitzError("out_of_range", "One. There is 1 more fault.", { violations })),
  ).toEqual({
    code: 2,
    stderr: "kibitz: One.\nkibitz: Two.\n",
  });
});
