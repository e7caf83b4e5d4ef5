import { EventEmitter } from "node:events";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Host } from "../../../src/cli/host.ts";
import { run } from "../../../src/cli/run.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";

export interface UciTalk {
  say(...lines: readonly string[]): void;
  /** Resolves with the new output up to the first line that matches. Rejects if the command ends without such a line. */
  until(pattern: RegExp): Promise<readonly string[]>;
  /** Closes standard input. */
  hangUp(): void;
  readonly ended: Promise<number>;
}

/** Runs a command in this process. A child process would take ten times as long. */
export function startUci(
  args: readonly string[] = [],
  command = "uci",
  env: Readonly<Record<string, string>> = {},
): UciTalk {
  const folder = mkdtempDisposableSync(join(tmpdir(), "kibitz-test-"));
  const stdin = new PassThrough();
  const heard: string[] = [];
  const complaints: string[] = [];
  const news = new EventEmitter();
  const output = (lines: string[]) => ({
    fd: 2,
    write(text: string) {
      lines.push(...text.split("\n").slice(0, -1));
      news.emit("news");
    },
    once: () => {},
  });
  const host: Host = Object.assign(new EventEmitter(), {
    env: { ...quickestSettings, KIBITZ_DATA_DIR: folder.path, ...env },
    stdin,
    stdout: output(heard),
    stderr: output(complaints),
    exit(code: number) {
      throw new Error(`ended with ${code} before its time`);
    },
  });
  let over = false;
  const ended = run([command, ...args], host).finally(() => {
    over = true;
    folder.remove();
    news.emit("news");
  });
  return {
    say: (...lines) => void stdin.write(lines.map((line) => `${line}\n`).join("")),
    async until(pattern) {
      for (;;) {
        const at = heard.findIndex((line) => pattern.test(line));
        if (at >= 0) {
          return heard.splice(0, at + 1);
        }
        if (over) {
          throw new Error(`it ended before ${pattern}: ${[...heard, ...complaints].join("\n")}`);
        }
        await new Promise<void>((resolve) => news.once("news", resolve));
      }
    },
    hangUp: () => stdin.end(),
    ended,
  };
}
