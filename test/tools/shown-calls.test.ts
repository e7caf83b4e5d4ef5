import { writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService, ReviewGameRequestSchema } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { shownCall } from "../../web/src/call/shown-call.ts";
import { type Language, snippets } from "../../web/src/call/snippets.ts";
import { runProgram } from "../clients/run-program.ts";
import { post } from "../contract/protocols/post.ts";
import { rowsWith } from "../support/needs.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { goToolFile } from "./go-tools.ts";

const app = useApp({ KIBITZ_ACCESS: "keys", KIBITZ_SELF_SERVICE_KEYS: "true" });
const folder = useTemporaryFolder();

/** Characters that have a special meaning in a shell or in one of the shown programming languages. */
const hostile = `it's "quoted" $HOME \${HOME} $(id) \`id\` \\ \\n \\' %s %d !! {0} é 日本 😀 \u202e\u2066 '''""" #*/ <!--`;
const comment = hostile.replaceAll("}", "");
const pgn = `1. e4 { ${comment} } e5 2. Nf3 *`;

let key = "";
beforeAll(async () => {
  key = String((await post(`${app.url}/v1/keys`, {})).body.key);
});

const languages: readonly Language[] = [
  "curl",
  "typescript",
  ...rowsWith(["python"], "python" as const),
  ...rowsWith(["go"], "go" as const),
  ...rowsWith(["grpcurl"], "grpcurl" as const),
];

describe.each(languages)("in %s", (language) => {
  test(`the page's example call in ${language} sends a FEN with special characters unchanged`, async () => {
    const request = create(AnalysisRequestSchema, { fen: hostile, depth: 6 });
    const { stdout, stderr } = await run(language, AnalysisService.method.evaluate, request);
    expect(stdout + stderr).toContain("The FEN contains U+00E9; it must be plain ASCII");
  });

  test(`the page's example call in ${language} evaluates a position`, async () => {
    const request = create(AnalysisRequestSchema, {
      fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1",
      depth: 6,
      searchMoves: ["Re8", "Kf1"],
      options: { skill_level: 20, uci_limit_strength: false },
    });
    const { stdout } = await run(language, AnalysisService.method.evaluate, request);
    expect(stdout).toContain("White mates in 1. Best move: Re8#.");
  });

  test(`the page's example call in ${language} streams the review of a game with special characters`, async () => {
    const request = create(ReviewGameRequestSchema, { pgn, depth: 1 });
    const { stdout } = await run(language, GameService.method.reviewGame, request);
    const found = stdout.match(/"pgn": ?("(?:[^"\\]|\\.)*")/)?.[1] ?? '""';
    expect(JSON.parse(found)).toContain(comment);
  });
});

/** Writes the page's example call to a file, and runs the file with the shell, Node, Python or Go. */
async function run(language: Language, method: DescMethod, request: Message) {
  const call = shownCall({ method, request, withKey: true }, app.url);
  if (call === undefined) {
    throw new Error(`${method} is not shown`);
  }
  const text = snippets[language].write(call, key);
  const name = {
    curl: "call.sh",
    grpcurl: "call.sh",
    typescript: "call.mts",
    python: "call.py",
    go: "call.go",
  };
  const file = join(folder, name[language]);
  writeFileSync(file, text);
  const command = {
    curl: ["sh", file],
    grpcurl: ["sh", file],
    typescript: [process.execPath, file],
    python: ["python3", file],
    go: ["go", "run", file],
  };
  const PATH = [dirname(goToolFile("grpcurl")), process.env.PATH].join(delimiter);
  const env = { KIBITZ_API_KEY: key, PATH };
  return runProgram(command[language], { env }).then(
    (stdout) => ({ stdout, stderr: "" }),
    (error: unknown) => ({ stdout: "", stderr: String(error) }),
  );
}
