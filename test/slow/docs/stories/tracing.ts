import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Scene, Story } from "../story.ts";

const ready = "curl -sf localhost:8080/readyz >/dev/null";
const page = readFileSync(join(import.meta.dirname, "../../../../docs/tracing.md"), "utf8");

/** Notes the paths of the calls of OpenTelemetry. */
const collector = `require("node:http").createServer((request, response) => {
  request.resume().on("end", () => { console.log(request.method, request.url); response.end(); });
}).listen(4318);`;

/** Runs the server of a block, evaluates a position, and returns what the collector has got until the server has ended. */
async function tracesOf(block: string, { terminal }: Scene): Promise<string> {
  const server = await terminal.start(block, ready);
  await terminal.run(`curl -sf localhost:8080/v1/eval --json '{"fen": "startpos", "depth": 2}'`);
  // A server that stops sends its last spans.
  await server.stop();
  return (await terminal.run("cat collected; : >collected")).stdout;
}

export const tracing: Story = {
  documents: ["docs/tracing.md"],
  kibitz: "installed",
  async prepare({ terminal }) {
    await terminal.start(`node -e '${collector}' >collected`, "curl -sf localhost:4318/ready");
    await terminal.run(": >collected");
  },
  blocks: [
    {
      document: "docs/tracing.md",
      has: "4318 kibitz serve",
      does: async ({ text }, scene) => {
        expect(await tracesOf(text, scene)).toContain("POST /v1/traces");
      },
    },
    {
      document: "docs/tracing.md",
      has: "OTEL_TRACES_SAMPLER_ARG=0.01",
      does: async ({ text }, { terminal }) => {
        const server = await terminal.start(`${text} | tee log`, ready);
        await server.stop();
        const { stdout } = await terminal.run("grep -F traces log");
        expect(stdout).toContain("parentbased_traceidratio of 0.01");
      },
    },
    {
      document: "docs/tracing.md",
      has: "├─ cache memory",
      async does({ text }) {
        const spans = [...text.matchAll(/^[│├└─ ]*([\w/ ]+?) +\d+ ms/gm)].map(([, span]) => span);
        expect(spans).toHaveLength(6);
        expect(spans.filter((span) => !page.includes(`\`${span}\``))).toEqual([]);
        const attributes = [...text.matchAll(/(kibitz\.[\w.]+)=/g)].map(([, name]) => name);
        expect(attributes.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
      },
    },
  ],
};
