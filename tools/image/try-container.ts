import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../test/support/free-port.ts";
import type { Containers } from "./containers.ts";

const readyMaxMs = 30_000;
const name = "kibitz-tried";

interface TriedImage {
  readonly readyMs: number;
  readonly engines: readonly string[];
}

/** Runs the image as `deploy/README.md` recommends, with each engine and the health check. Throws Error if a step fails. */
export async function tryContainer({ podman }: Containers, tag: string): Promise<TriedImage> {
  const port = await freePort();
  const begun = performance.now();
  podman(
    ...["run", "--detach", "--name", name, "--network", "host", "--health-interval", "disable"],
    ...["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    ...["--env", `KIBITZ_PORT=${port}`, "--env", "KIBITZ_METRICS_PORT=0", "--volume", "kibitz:/data", tag],
  );
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (performance.now() - begun > readyMaxMs) {
      throw new Error(`not ready within ${readyMaxMs} ms: ${podman("logs", name)}`);
    }
    await sleep(20);
  }
  const readyMs = Math.round(performance.now() - begun);

  const { engines } = (await (await fetch(`${url}/engines`)).json()) as {
    readonly engines: readonly {
      readonly id: string;
      readonly paths: readonly { readonly path: string }[];
    }[];
  };
  const asked = engines.flatMap(({ id, paths }) => paths.map(({ path }) => ({ engine: id, path })));
  for (const one of asked) {
    const response = await fetch(`${url}/v1/bestmove`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", depth: 6, ...one }),
    });
    const answer = await response.text();
    assert.match(answer, /"e1e8"/, `${one.engine}: ${answer}`);
  }

  // Run the Dockerfile's health check, as orchestrators do.
  podman("healthcheck", "run", name);
  const pid = podman("inspect", "--format", "{{.State.Pid}}", name);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  assert.match(status, /^Uid:\t10001\t10001/m);
  assert.match(status, /^CapEff:\t0+$/m);
  assert.match(status, /^NoNewPrivs:\t1$/m);
  assert.throws(() => podman("exec", name, "sh", "-c", ": > /app/written"), /Read-only file system/);
  assert.match(podman("exec", name, "node", "/app/bin/kibitz.js", "--version"), /^\d+\.\d+\.\d+/m);

  podman("stop", "--time", "30", name);
  assert.equal(podman("inspect", "--format", "{{.State.ExitCode}}", name), "0");
  podman("rm", name);
  return { readyMs, engines: asked.map(({ engine, path }) => `${engine} (${path})`) };
}
