import { EventEmitter, once } from "node:events";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Host } from "../../src/cli/host.ts";
import { run } from "../../src/cli/run.ts";
import { watchWork } from "../contract/protocols/watch-work.ts";
import { mcpProcess, newest, type Step } from "../protocols/mcp/agents.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };

describe("kibitz mcp with a running service", () => {
  const engines = createEnginesInProcess();
  const app = useApp({ KIBITZ_CACHE_MB: "0" }, { engines });
  const { expectWork, expectNoWork } = watchWork(engines);

  test("kibitz mcp --url lists tools, answers tool calls, reports progress and cancels a search", async () => {
    const agent = await newest.overStdio(mcpProcess(env, "--url", app.url));
    expect((await agent.list()).map(({ name }) => name)).toContain("play_moves");
    expect((await agent.ask("play_moves", { moves: ["e4"] })).text).toContain("Black to move");
    const { structured } = await agent.ask("analyze_position", { moves: ["e4"], depth: 6 });
    expect(structured).toMatchObject({ turn: "black", depth: 6 });
    const steps: Step[] = [];
    const leaving = new AbortController();
    const call = agent.ask(
      "analyze_position",
      { depth: 30 },
      { signal: leaving.signal, onprogress: (step) => void steps.push(step) },
    );
    const end = expect(call).rejects.toThrow("no more");
    await expect.poll(() => steps.map(({ progress, total }) => [progress, total])).toContainEqual([19, 30]);
    await expectWork();
    leaving.abort(new Error("no more"));
    await end;
    await expectNoWork();
    // The connection is still usable after the cancellation.
    const wrong = await agent.ask("review_game", { moves: ["e4", "e4"] });
    expect(wrong.text).toContain('This call would be answered: review_game {"moves":["e4"]');
  });

  test("kibitz mcp --url frees the engine when the agent ends the process", async () => {
    const { ask, interrupt, ended } = talk("--url", app.url);
    ask("analyze_position", { depth: 30 });
    await expectWork();
    interrupt();
    expect(await ended).toBe(130);
    await expectNoWork();
  });

  test("kibitz mcp --url frees the engine when the agent reads no more progress after the end of the input", async () => {
    let isGone = false;
    const { ask, leave, ended } = talkWith({
      args: ["--url", app.url],
      write() {
        if (isGone) {
          throw new Error("EPIPE");
        }
      },
    });
    ask("analyze_position", { depth: 30 }, { progressToken: 1 });
    await expectWork();
    leave();
    isGone = true;
    expect(await ended).toBe(1);
    await expectNoWork();
  });
});

describe("kibitz mcp without a service", () => {
  test("kibitz mcp --url explains to the agent that no service responds", async () => {
    const { answer, ask, leave, ended, complaints } = talk("--url", "http://127.0.0.1:1");
    ask("analyze_position", {});
    expect(await answer()).toMatchObject({
      result: {
        isError: true,
        content: [{ text: expect.stringContaining("nothing is listening at http://127.0.0.1:1") }],
      },
    });
    leave();
    expect(await ended).toBe(0);
    expect(complaints()).toContain("kibitz: nothing is listening");
  });

  test("kibitz mcp sends the agent an error that names the invalid setting", async () => {
    const { answer, ask, leave, ended } = talkWith({ settings: { KIBITZ_HASH_MB: "none" } });
    ask("analyze_position", {});
    expect(await answer()).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining("KIBITZ_HASH_MB") }] },
    });
    leave();
    expect(await ended).toBe(0);
  });
});

describe("kibitz mcp with its own engines", () => {
  test("kibitz mcp prints only MCP messages on standard output for any input, and exits when the input ends", async () => {
    const { send, ask, answer, printed, leave, ended, complaints } = talk();
    send("");
    send('{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}');
    ask("analyze_position", { depth: 2 });
    ask("nothing", {});
    const ids = [(await answer()).id, (await answer()).id, (await answer()).id];
    expect(ids).toEqual(expect.arrayContaining([7]));
    leave();
    expect(await ended).toBe(0);
    expect(printed().map((line) => JSON.parse(line).jsonrpc)).toEqual(printed().map(() => "2.0"));
    expect(complaints()).toBe("");
  });

  test("kibitz mcp answers its calls in flight and a last line without a line feed when the input ends", async () => {
    const { ask, sendLast, ended, printed } = talk();
    ask("analyze_position", { depth: 8 });
    ask("play_moves", { moves: ["e4"] });
    sendLast('{"jsonrpc":"2.0","id":7,"method":"ping"}');
    expect(await ended).toBe(0);
    const answers = printed().map((line) => JSON.parse(line));
    expect(answers.map(({ id }) => id).toSorted()).toEqual([100, 101, 7]);
    expect(JSON.stringify(answers)).toContain("depth 8");
  });

  test("kibitz mcp reports an invalid line on standard error, and answers the next message", async () => {
    const { send, ask, answer, leave, ended, complaints } = talk();
    send("no JSON");
    expect(await answer()).toMatchObject({ id: null, error: { code: -32700 } });
    ask("play_moves", {});
    expect(await answer()).toMatchObject({ id: 100, result: { structuredContent: { turn: "white" } } });
    leave();
    expect(await ended).toBe(0);
    expect(complaints()).toMatch(/^kibitz: A line is not JSON.+\n$/);
  });

  test("kibitz mcp pauses while its output is not read, and then continues", async () => {
    const lines: string[] = [];
    let isBehind = true;
    const { ask, leave, ended, drain } = talkWith({
      write(text) {
        lines.push(text);
        return !isBehind;
      },
    });
    ask("play_moves", {});
    ask("play_moves", { moves: ["e4"] });
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    await sleep(300);
    expect(lines).toHaveLength(1);
    isBehind = false;
    drain();
    await expect.poll(() => lines.join("")).toContain("Black to move");
    leave();
    expect(await ended).toBe(0);
  });

  test("kibitz mcp fails with a message if its output cannot be written", async () => {
    const { ask, ended, complaints } = talkWith({
      write() {
        throw new Error("no room");
      },
    });
    ask("play_moves", {});
    expect(await ended).toBe(1);
    expect(complaints()).toContain("kibitz: no room\n");
    expect(complaints()).toContain("kibitz: the connection has ended by itself");
  });

  test("kibitz mcp exits on Ctrl-C during a search", async () => {
    const { ask, interrupt, ended, answer } = talk();
    ask("analyze_position", { depth: 30 }, { progressToken: 1 });
    expect(await answer()).toMatchObject({ method: "notifications/progress" });
    interrupt();
    expect(await ended).toBe(130);
  });
});

test("kibitz mcp refuses invalid arguments", async () => {
  expect(await runKibitz(["mcp", "startpos"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("mcp takes no arguments"),
  });
  expect(await runKibitz(["mcp", "--key", "kbz_x"])).toMatchObject({ code: 2, stdout: "" });
});

const talk = (...args: readonly string[]) => talkWith({ args });

interface Talk {
  readonly settings?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Called with each piece of output. The default function stores the output. */
  readonly write?: (text: string) => unknown;
}

/** Runs `kibitz mcp` in this process, with a client of an older MCP version that sends no handshake. */
function talkWith({ settings = {}, args = [], write }: Talk) {
  const stdin = new PassThrough();
  const lines: string[] = [];
  const complaints: string[] = [];
  const read = new EventEmitter();
  const events = new EventEmitter();
  const output = new EventEmitter();
  let taken = 0;
  function keep(text: string) {
    lines.push(...text.trimEnd().split("\n"));
    read.emit("line");
  }
  const host: Host = Object.assign(events, {
    env: { ...env, ...settings },
    stdin,
    stdout: {
      fd: 1,
      write: write ?? keep,
      once: output.once.bind(output),
    },
    stderr: { fd: 2, write: (text: string) => void complaints.push(text), once: () => {} },
    exit: () => {},
  });
  const ended = run(["mcp", ...args], host);
  let id = 100;
  const send = (line: string) => void stdin.write(`${line}\n`);
  onTestFinished(() => void stdin.destroy());
  return {
    send,
    ask(name: string, given: object, meta?: object) {
      const params = { name, arguments: given, ...(meta && { _meta: meta }) };
      send(JSON.stringify({ jsonrpc: "2.0", id: id++, method: "tools/call", params }));
    },
    async answer(): Promise<Record<string, unknown>> {
      while (lines.length === taken) {
        await once(read, "line");
      }
      return JSON.parse(lines[taken++] ?? "");
    },
    printed: () => lines,
    complaints: () => complaints.join(""),
    drain: () => void output.emit("drain"),
    leave: () => void stdin.end(),
    /** Ends the input after a line without a line feed. */
    sendLast: (line: string) => void stdin.end(line),
    interrupt: () => void events.emit("SIGINT", "SIGINT"),
    ended,
  };
}
