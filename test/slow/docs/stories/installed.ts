import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import { enginesFromJson } from "../../../../src/wiring/described-engines.ts";
import { plainSettings } from "../../../../tools/shown-answers.ts";
import type { Block } from "../../../docs/blocks.ts";
import type { Scene, SpecialBlock, Story } from "../story.ts";

const certificate = "/etc/ssl/kibitz.example.pem";

/** `https://kibitz.example` is the service on port 8080, behind TLS. */
const tlsProxy = `const { readFileSync } = require("node:fs");
const pem = readFileSync("${certificate}");
require("node:tls").createServer({ key: pem, cert: pem, ALPNProtocols: ["h2", "http/1.1"] }, (client) => {
  const service = require("node:net").connect(8080, "127.0.0.1");
  client.pipe(service).pipe(client);
  client.on("error", () => service.destroy());
  service.on("error", () => client.destroy());
}).listen(443, "127.2.0.1");`;

async function openExample({ world, terminal }: Scene): Promise<void> {
  await world.run("sh", "-c", "echo 127.2.0.1 kibitz.example >>/etc/hosts");
  const subject = ["-subj", "/CN=kibitz.example", "-addext", "subjectAltName=DNS:kibitz.example"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const files = ["-keyout", certificate, "-out", "/etc/ssl/certificate"];
  await world.run("openssl", "req", "-x509", ...kind, ...subject, ...files);
  await world.run("sh", "-c", `cat /etc/ssl/certificate >>${certificate}; chmod 644 ${certificate}`);
  // An ordinary user may not listen on port 443.
  await world.run("sh", "-c", "echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start");
  writeFileSync(world.outside("/usr/local/lib/tls-proxy.cjs"), tlsProxy);
  await terminal.start(
    "node /usr/local/lib/tls-proxy.cjs",
    `curl -sf --cacert ${certificate} https://kibitz.example/readyz >/dev/null`,
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

interface McpServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the object with a command or an address: each program writes other names around it. */
function serverIn(value: unknown): McpServer | undefined {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  if ("command" in value || "url" in value) {
    return value as McpServer;
  }
  return Object.values(value).map(serverIn).find(Boolean);
}

const toJson = "import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))";
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list" };

/** Lists the tools by the command or by the address of a configuration. A reader writes a key where the document has `kbz_…`. */
async function listToolsBy({ text, language }: Block, { terminal }: Scene): Promise<void> {
  const made = await terminal.run("curl -sf localhost:8080/v1/keys --json '{}'");
  const withKey = text.replaceAll("kbz_…", JSON.parse(made.stdout).key);
  const json =
    language === "toml"
      ? (await terminal.run(`/usr/bin/python3 -c '${toJson}' <<'END'\n${withKey}\nEND`)).stdout
      : withKey;
  const server = serverIn(JSON.parse(json));
  const messages = [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, listTools];
  const headers = Object.entries({
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
    ...server?.headers,
  });
  const command =
    server?.url === undefined
      ? [
          `env ${Object.entries(server?.env ?? {})
            .map(([name, value]) => `${name}=${value}`)
            .join(" ")}`,
          ...[server?.command ?? "", ...(server?.args ?? [])].map(quoted),
          `<<'END'\n${messages.map((message) => JSON.stringify(message)).join("\n")}\nEND`,
        ]
      : [
          `curl -sS ${quoted(server.url)} -d ${quoted(JSON.stringify(listTools))}`,
          ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
        ];
  const { stdout, stderr } = await terminal.run(command.join(" "));
  expect(stdout, stderr).toContain('"name":"analyze_position"');
}

const configures = (has: string): SpecialBlock => ({ document: "docs/agents.md", has, does: listToolsBy });

const searches = "uci\nposition startpos moves e2e4\ngo depth 4";

/** For programs on a machine with Kibitz installed, outside a checkout. */
export const installed: Story = {
  documents: ["docs/agents.md", "docs/uci.md", "docs/other-engines.md"],
  needsAtNight: ["python"],
  kibitz: "installed",
  service: plainSettings,
  env: { NODE_EXTRA_CA_CERTS: certificate },
  prepare: openExample,
  blocks: [
    configures('"mcpServers": { "kibitz": { "command"'),
    configures('"type": "http"'),
    configures('"headers"'),
    configures('"servers"'),
    configures("[mcp_servers.kibitz]"),
    {
      document: "docs/agents.md",
      has: "Best play, depth 10",
      does: async ({ text, before }, { terminal }) => {
        const [, name = "", args = ""] = /A call of `(\w+)` with `(\{.+\})`/.exec(before) ?? [];
        const call = {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: JSON.parse(args) },
        };
        const types = "-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'";
        const { stdout } = await terminal.run(
          `curl -sS localhost:8080/mcp ${types} -d ${quoted(JSON.stringify(call))}`,
        );
        // The answer is a stream with one event.
        const [, answer = ""] = /^data: (.+)$/m.exec(stdout) ?? [];
        expect(JSON.parse(answer).result.content[0].text).toBe(text);
      },
    },
    {
      document: "docs/uci.md",
      has: "kibitz uci --engine",
      does: async ({ text }, { terminal }) => {
        for (const command of text.split("\n")) {
          const { stdout, stderr } = await terminal.run(`printf '${searches}\\n' | ${command}`);
          expect(stdout, command + stderr).toMatch(/\nuciok\n[\s\S]*\nbestmove [a-h][1-8]/);
        }
      },
    },
    {
      document: "docs/uci.md",
      has: "#!/bin/sh",
      does: async ({ text }, { terminal }) => {
        await terminal.run(`cat >engine <<'END'\n${text}\nEND\nchmod +x engine`);
        const { stdout, stderr } = await terminal.run(`printf '${searches}\\n' | ./engine`);
        expect(stdout, stderr).toMatch(/\nuciok\n[\s\S]*\nbestmove [a-h][1-8]/);
      },
    },
    {
      document: "docs/uci.md",
      has: "import chess, chess.engine",
      does: async ({ text }, { terminal }) => {
        const install = "/usr/bin/python3 -m venv .venv && .venv/bin/pip install -q chess";
        const { stdout, stderr } = await terminal.run(`${install} && .venv/bin/python <<'END'\n${text}\nEND`);
        expect(stdout, stderr).toMatch(/^[a-h][1-8][a-h][1-8]\n$/);
      },
    },
    {
      document: "docs/other-engines.md",
      has: '"engines"',
      async does({ text }) {
        expect(enginesFromJson(text, "/etc/kibitz")).toMatchObject({
          kind: "engines",
          engines: [{ id: "maia-1500" }],
        });
      },
    },
  ],
};
