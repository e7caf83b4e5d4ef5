import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { type Runner, takeTurns } from "../../bench/service/turns.ts";

/** Works for half a second when it is told to, and says when it is done. */
const worker = `process.stdin.once("data", () => {
  for (const until = Date.now() + 500; Date.now() < until; );
  console.log("done");
  process.stdin.destroy();
});`;

const nothing = { requests: 1, seconds: 1, p50Ms: 1, p99Ms: 1 };

test("a turn begins when all have done what is left of the turns before", async () => {
  const child = spawn(process.execPath, ["-e", worker], { stdio: ["pipe", "pipe", "inherit"] });
  const told: string[] = [];
  child.stdout.on("data", (data) => told.push(String(data).trim()));
  const runners: readonly Runner[] = [
    {
      name: "goes on",
      pid: child.pid,
      async load() {
        child.stdin.write("now");
        return nothing;
      },
    },
    {
      name: "next",
      pid: undefined,
      async load() {
        told.push("next");
        return nothing;
      },
    },
  ];
  await Promise.all([takeTurns(runners, 1), once(child, "close")]);
  expect(told).toEqual(["done", "next"]);
});
