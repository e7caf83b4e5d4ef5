import { fileURLToPath } from "node:url";
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as OldTransport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { onTestFinished } from "vitest";

type Plain = Readonly<Record<string, unknown>>;

export interface ToolResult {
  readonly text: string;
  readonly structured: Plain | undefined;
  readonly isError: boolean;
  readonly meta: Plain;
}

export interface Step {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

interface AskOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (step: Step) => void;
}

export interface Agent {
  list(): Promise<readonly ListedTool[]>;
  ask(tool: string, args: Plain, options?: AskOptions): Promise<ToolResult>;
  readonly version: string | undefined;
  readonly instructions: string | undefined;
  close(): Promise<void>;
}

interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Plain;
  readonly outputSchema?: Plain | undefined;
  readonly annotations?: Plain | undefined;
}

interface Spoken {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface AgentKind {
  readonly name: string;
  overHttp(url: string, headers?: Readonly<Record<string, string>>): Promise<Agent>;
  overStdio(spoken: Spoken): Promise<Agent>;
}

const info = { name: "test", version: "1" };

export function mcpProcess(env: Readonly<Record<string, string>>, ...args: readonly string[]): Spoken {
  const program = fileURLToPath(new URL("../../../bin/kibitz.js", import.meta.url));
  return { command: process.execPath, args: [program, "mcp", ...args], env };
}

/** The official client of version 1, which most programs use. */
export const oldest: AgentKind = {
  name: "version 1",
  // The types of the SDK disagree about optional fields.
  overHttp: (url, headers = {}) =>
    connectOld(new OldHttp(new URL(`${url}/mcp`), { requestInit: { headers } }) as OldTransport),
  overStdio: ({ command, args, env }) =>
    connectOld(new OldStdio({ command, args: [...args], env, stderr: "pipe" })),
};

/** The official client of version 2, with the protocol of 2026. */
export const newest: AgentKind = kindOfVersion2("version 2", { pin: "2026-07-28" });

export const agentKinds: readonly AgentKind[] = [
  oldest,
  kindOfVersion2("version 2 (older protocol)", "legacy"),
  newest,
];

type Mode = "legacy" | { readonly pin: string };

function kindOfVersion2(name: string, mode: Mode): AgentKind {
  return {
    name,
    overHttp: (url, headers = {}) =>
      connectNew(new NewHttp(new URL(`${url}/mcp`), { requestInit: { headers } }), mode),
    overStdio: ({ command, args, env }) =>
      connectNew(new NewStdio({ command, args: [...args], env, stderr: "pipe" }), mode),
  };
}

async function connectOld(transport: OldTransport): Promise<Agent> {
  const client = new OldClient(info);
  await client.connect(transport);
  const close = () => client.close();
  onTestFinished(close);
  return {
    list: async () => (await client.listTools()).tools,
    ask: async (name, args, options) =>
      resultOf(await client.callTool({ name, arguments: args }, undefined, options)),
    version: "protocolVersion" in transport ? String(transport.protocolVersion) : undefined,
    instructions: client.getInstructions(),
    close,
  };
}

async function connectNew(transport: NewHttp | NewStdio, mode: Mode): Promise<Agent> {
  const client = new NewClient(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  const close = () => client.close();
  onTestFinished(close);
  return {
    list: async () => (await client.listTools()).tools,
    ask: async (name, args, options) => resultOf(await client.callTool({ name, arguments: args }, options)),
    version: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    close,
  };
}

function resultOf(answer: object): ToolResult {
  const { content, structuredContent, isError, _meta } = answer as {
    readonly content: readonly { readonly type: string; readonly text?: string }[];
    readonly structuredContent?: Plain;
    readonly isError?: boolean;
    readonly _meta?: Plain;
  };
  return {
    text: content.map(({ text = "" }) => text).join("\n"),
    structured: structuredContent,
    isError: isError === true,
    meta: _meta ?? {},
  };
}
