import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const cache = useTemporaryFolder();
const tool = fileURLToPath(new URL("../../../tools/package-owner.ts", import.meta.url));

function ownerBy(registry: string): Promise<{ readonly code: number; readonly printed: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [tool],
      { env: { PATH: process.env.PATH, npm_config_registry: registry, npm_config_cache: cache } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), printed: stdout + stderr }),
    );
  });
}

async function registryWith(published: Readonly<Record<string, string>> | undefined): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(published ? 200 : 404, { "content-type": "application/json" });
    const version = { name: manifest.name, version: "1.0.5", dist: {}, ...published };
    const { name } = manifest;
    const found = { name, "dist-tags": { latest: "1.0.5" }, versions: { "1.0.5": version } };
    response.end(JSON.stringify(published ? found : { error: "not found" }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("a package name that is not in the npm registry is reported as free", async () => {
  expect(await ownerBy(await registryWith(undefined))).toEqual({
    code: 0,
    printed: "npm name kibitz-chess: free\n",
  });
});

test("a published npm package with this project's mcpName is reported as ours", async () => {
  const { code, printed } = await ownerBy(await registryWith({ mcpName: manifest.mcpName }));
  expect({ code, printed }).toEqual({
    code: 0,
    printed: "npm name kibitz-chess: ours, newest version 1.0.5\n",
  });
});

test("a package name that belongs to another project fails the release check, which prints that package's description", async () => {
  const { code, printed } = await ownerBy(
    await registryWith({ description: "Consensus for web applications." }),
  );
  expect(code).toBe(1);
  expect(printed).toContain('belongs to another project (1.0.5: "Consensus for web applications."');
});

test("a package name is reported as not checked if the npm registry does not respond", async () => {
  const { code, printed } = await ownerBy("http://127.0.0.1:9/");
  expect(code).toBe(0);
  expect(printed).toMatch(/^npm name kibitz-chess: not checked, the registry did not answer: .*ECONNREFUSED/);
});
