import { expect } from "vitest";
import { plainSettings } from "../../../../tools/shown-answers.ts";
import type { Story } from "../story.ts";
import type { Terminal } from "../world.ts";

/** A look-up reads these tables. Each is verified before its first look-up, which a caller is told by a 503. */
const tablesOf = "8/1P6/8/3k4/8/8/8/K7%20w%20-%20-%200%201";

/** The documents for callers of a running service. */
export const api: Story = {
  documents: ["docs/api.md", "docs/coming-from.md", "docs/deadlines.md", "docs/metrics.md"],
  needs: ["prometheus"],
  needsAtNight: ["grpcurl", "jdk", "python"],
  service: { ...plainSettings, KIBITZ_SYZYGY: "/opt/kibitz/test/tablebase/tables" },
  async prepare({ terminal }) {
    await terminal.run(`until curl -sf 'localhost:8080/v1/tablebase?fen=${tablesOf}'; do sleep 0.1; done`);
  },
  blocks: [
    {
      document: "docs/api.md",
      has: "RateLimit-Policy",
      async does({ text }, { terminal }) {
        const { stdout } = await terminal.run(
          `curl -sD - -o response.json localhost:8080/v1/eval --json '{"fen": "startpos"}'`,
        );
        const fields = [...stdout.matchAll(/^(ratelimit[\w-]*): (.+)\r$/gim)].map(
          ([, name, value]) => `${name}: ${value}`,
        );
        const comparable = (field: string) => field.toLowerCase().replace(/;r=\d+;t=\d+/g, ";r;t");
        expect(fields.map(comparable)).toEqual(text.split("\n").map(comparable));
      },
    },
    {
      document: "docs/api.md",
      has: "TextDecoderStream",
      does: async ({ text }, { terminal }) => {
        const { stdout } = await terminal.run(`cat >stream.mjs <<'END'\n${text}\nEND\nnode stream.mjs`);
        expect(stdout).toMatch(/event: evaluation\ndata: \{.*event: done\ndata: \{/s);
      },
    },
    {
      document: "docs/api.md",
      has: 'import createClient from "openapi-fetch"',
      does: ({ text }, { terminal }) =>
        expectSummary(
          terminal,
          `cat >kibitz.mts <<'END'\n${text}\nEND\n/opt/kibitz/node_modules/.bin/node kibitz.mts`,
        ),
    },
    {
      document: "docs/api.md",
      has: "from kibitz_client import Client",
      does: ({ text }, { terminal }) => expectSummary(terminal, `python <<'END'\n${text}\nEND`),
    },
    { document: "docs/api.md", has: "npm run lane -- clients", ranBy: ".ci/run" },
    {
      document: "docs/metrics.md",
      has: "scrape_configs:",
      does: async ({ text }, { terminal }) => {
        const { failed, stderr } = await terminal.run(
          `cat >prometheus.yml <<'END'\n${text}\nEND\npromtool check config prometheus.yml`,
        );
        expect(failed, stderr).toEqual([]);
      },
    },
  ],
};

async function expectSummary(terminal: Terminal, command: string) {
  const { stdout, stderr } = await terminal.run(command);
  expect(stdout, stderr).toMatch(/^.+ \([+-]\d\.\d\d\)\. Best move: .+\.\n$/);
}
