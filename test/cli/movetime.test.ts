import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requestBounds } from "../../src/analysis/analysis.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { describeFakeLc0 } from "../support/fake-engine/index.ts";
import { usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { newKey } from "./new-key.ts";
import { runKibitz } from "./run-kibitz.ts";

const folder = useTemporaryFolder();
const access = {
  KIBITZ_ACCESS: "public",
  KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { depth_max: 17 } }),
};
const app = useApp(access, { engines: createEnginesInProcess({ quickPlies: 9 }) });
const applied = expect.objectContaining({ code: "default_depth_applied" });
const greatest = requestBounds.depth.maximum;

async function searchOf(...args: readonly string[]) {
  const { code, stdout, stderr } = await runKibitz([...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { search, warnings } = JSON.parse(stdout);
  // A search that its time ends may have other warnings.
  expect(warnings).not.toContainEqual(applied);
  return { stop: search.stop_reason, depth: search.limits.depth, nodes: search.limits.nodes };
}

describe.each(["eval", "bestmove"])("kibitz %s with --movetime alone", (command) => {
  const search = [command, "startpos", "--movetime", "150"];

  test("searches for this time on this machine", async () => {
    expect(await searchOf(...search)).toEqual({ stop: "movetime", depth: greatest, nodes: null });
  });

  test("asks a service for the greatest depth of the caller's plan", async () => {
    const remote = [...search, "--url", app.url];
    expect(await searchOf(...remote)).toEqual({ stop: "movetime", depth: 17, nodes: null });
    const key = await newKey(app.url);
    expect(await searchOf(...remote, "--key", key)).toMatchObject({ stop: "movetime", depth: greatest });
  });

  test("keeps the other limits that are given", async () => {
    const remote = [...search, "--url", app.url];
    expect(await searchOf(...remote, "--depth", "5")).toEqual({ stop: "depth", depth: 5, nodes: null });
    expect(await searchOf(...remote, "--nodes", "60")).toEqual({ stop: "nodes", depth: null, nodes: 60 });
  });
});

test("kibitz eval of a file with --movetime alone asks for the greatest depth of the caller's plan", async () => {
  const file = join(folder, "positions.epd");
  writeFileSync(file, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n");
  const args = ["eval", "--file", file, "--movetime", "150", "--json", "--url", app.url];
  const { result } = JSON.parse((await runKibitz(args)).stdout);
  expect(result.search).toMatchObject({ stop_reason: "movetime", limits: { depth: 17 } });
  expect(result.warnings).not.toContainEqual(applied);
});

test("a wrong key and an unknown engine are told as the service tells them", async () => {
  const remote = ["eval", "startpos", "--movetime", "150", "--url", app.url];
  const unknown = await runKibitz([...remote, "--engine", "deep-thought"]);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("the engines are latest, ")]);
  const wrong = await runKibitz([...remote, "--key", `${await newKey(app.url)}`.replace(/.$/, "_")]);
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
});

describe("kibitz eval with --movetime alone, in open mode", () => {
  const open = useApp({ KIBITZ_ACCESS: "open", KIBITZ_ENGINES: describeFakeLc0(folder) });
  const search = ["eval", "startpos", "--movetime", "150"];

  test("asks for the greatest depth of all", async () => {
    expect(await searchOf(...search, "--url", open.url)).toMatchObject({ depth: greatest });
  });

  test("asks an engine without depth for the most nodes", async () => {
    const remote = [...search, "--engine", "leela", "--url", open.url];
    expect(await searchOf(...remote)).toMatchObject({ depth: null, nodes: requestBounds.nodes.maximum });
  });
});
