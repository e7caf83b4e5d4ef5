import { readFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { post } from "../../contract/protocols/post.ts";
import { describeWith, rowsWith } from "../../support/needs.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import type { GeneratedClient } from "../language.ts";
import { runProgram } from "../run-program.ts";
import { generatedClients, oapiCodegenVersion, pythonClient, quickVersion } from "./clients.ts";
import { versions } from "./openapi-generator.ts";
import { linkNpmPackages, npmFolder, pythonPrograms } from "./packages.ts";
import { testReadings } from "./readings.ts";

const app = useApp();
const folder = useTemporaryFolder();
const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");
const readHere = (name: string) => read(`test/clients/generated/${name}`);

describe.each(generatedClients.flatMap((client) => rowsWith(client.needs, client)))(
  "a client from $name",
  ({ command, cwd, env }: GeneratedClient) => {
    testReadings(app, (...addresses) => runProgram([...command, ...addresses], { cwd, ...(env && { env }) }));
  },
);

describe("a client from openapi-typescript", () => {
  const generating = /^npx openapi-typescript \S+ -o kibitz\.ts/m;
  const run = (...command: readonly string[]) => runProgram([process.execPath, ...command], { cwd: folder });

  beforeAll(async () => {
    await cp(join(npmFolder, "package.json"), join(folder, "package.json"));
    await linkNpmPackages(folder);
    const [command = ""] = generating.exec(apiSection) ?? [];
    expect(await runAsWritten(command)).toContain("openapi-typescript 7.13.0");
    await cp(join(root, "test/clients/generated/typescript/openapi-fetch/main.ts"), join(folder, "main.ts"));
    await writeFile(join(folder, "example.ts"), linesIn("ts"));
    const options = "--noEmit --strict --skipLibCheck --target esnext --module nodenext --types node";
    const imports = "--allowImportingTsExtensions";
    await run("node_modules/typescript/bin/tsc", ...options.split(" "), imports, "main.ts", "example.ts");
  });

  testReadings(app, (...addresses) => run("main.ts", ...addresses));

  test("the openapi-typescript command and the code in docs/api.md generate a client and print the summary", async () => {
    expect(await run("example.ts")).toBe(await summary());
  });
});

describeWith("python")("a client from openapi-python-client, as docs/api.md has it", () => {
  test("the openapi-python-client command and the code in docs/api.md generate a client and print the summary", async () => {
    const [command = ""] = /^openapi-python-client generate .+$/m.exec(apiSection) ?? [];
    await runAsWritten(command);
    await writeFile(join(folder, "example.py"), linesIn("python"));
    const example = [join(pythonPrograms, "python"), "example.py"];
    expect(await runProgram(example, { cwd: folder })).toBe(await summary());
  });
});

describeWith("python")("the example of a client from openapi-python-client", () => {
  const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 1, 6)] } });
  const publicApp = useApp({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans });

  test("the example of a client from openapi-python-client evaluates, reviews, waits for the rate limit, and reduces its depth after a refusal", async () => {
    const program = [join(pythonPrograms, "python"), join(root, "examples/python/openapi_client.py")];
    const printed = await runProgram([...program, publicApp.url], { env: { ...pythonClient.env } });
    const lines = printed.trimEnd().split("\n");
    const isWait = (line: string) => /^rate limited, waiting [1-6] s$/.test(line);
    expect(lines.filter(isWait)).not.toEqual([]);
    const bestMove = /^best move [KQRBNa-h][\w+#=x-]+, [+-]\d+\.\d\d \(White's view\), depth \d+$/;
    expect(lines.filter((line) => !isWait(line))).toEqual([
      expect.stringMatching(bestMove),
      expect.stringMatching(/^review: White played with .+% accuracy, Black with .+%/),
      expect.stringMatching(
        /^without a key: upgrade_needed, get_api_key for more; asking for depth \d+, 1 s:$/,
      ),
      expect.stringMatching(bestMove),
    ]);
  });
});

test("docs/api.md names the versions of the generators that the tests use", () => {
  const [, pythonClientVersion] =
    /^openapi-python-client==(.+)$/m.exec(readHere("python/requirements.txt")) ?? [];
  const { devDependencies } = JSON.parse(readHere("typescript/package.json"));
  const rows = apiSection.split("\n").filter((line) => line.startsWith("|"));
  const named = rows.flatMap((row) => /\| (o\S+) (\d.+?) \|/.exec(row)?.slice(1).join(" ") ?? []);
  expect(new Set(named)).toEqual(
    new Set([
      `openapi-python-client ${pythonClientVersion}`,
      `openapi-typescript ${devDependencies["openapi-typescript"]}`,
      `oapi-codegen ${oapiCodegenVersion.slice(1)}`,
      `openapi-generator ${versions.toReversed().join(" and ")}`,
      `openapi-generator ${quickVersion}`,
    ]),
  );
});

const apiSection = /^## The API as a document\n[\s\S]+?\n## /m.exec(read("docs/api.md"))?.[0] ?? "";

const asked = (text: string) => text.replaceAll("http://localhost:8080", app.url);

const linesIn = (language: string) => {
  const [, lines = ""] = new RegExp(`\`\`\`${language}\\n((?:.+\\n)+)\`\`\``).exec(apiSection) ?? [];
  return asked(lines);
};

function runAsWritten(command: string): Promise<string> {
  const env = { PATH: `${pythonPrograms}:${process.env.PATH}` };
  return runProgram(["sh", "-c", asked(command)], { cwd: folder, env });
}

async function summary(): Promise<string> {
  const { body } = await post(`${app.url}/v1/eval`, { fen: "startpos", depth: 10 });
  return `${body.summary}\n`;
}
