import { expect } from "vitest";
import { createSession } from "../../../src/cli/uci/session.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { wait } from "../../engine/clock.ts";
import { createScriptedService, type ScriptedService } from "./scripted-service.ts";

/** A chess program and Kibitz, whose clock the test turns. */
export interface Talk {
  readonly service: ScriptedService;
  readonly over: Promise<void>;
  /** Says lines, and returns what was heard since the last time. */
  hear(...lines: readonly string[]): Promise<readonly string[]>;
  /** What is heard within so many milliseconds. */
  hearWithin(ms: number): Promise<readonly string[]>;
  /** The search that was asked for last. */
  last(): ScriptedService["searches"][number];
}

export function talk(service = createScriptedService()): Talk {
  const heard: string[] = [];
  const session = createSession({
    service,
    say: (line) => heard.push(line),
    version: "1.2.3",
    overheadMs: 30,
  });
  return {
    service,
    over: session.over,
    async hear(...lines) {
      lines.forEach(session.receive);
      await wait(0);
      return heard.splice(0);
    },
    async hearWithin(ms) {
      await wait(ms);
      return heard.splice(0);
    },
    last: () => service.searches.at(-1) ?? expect.fail("nothing was asked"),
  };
}

export const bestOf = (heard: readonly string[]) => heard.filter((line) => line.startsWith("bestmove"));
export const notesOf = (heard: readonly string[]) => heard.filter((line) => line.startsWith("info string"));
export const overloaded = (retryAfterMs?: number) =>
  new KibitzError("overloaded", "busy", retryAfterMs === undefined ? {} : { retryAfterMs });
