import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { rpcOf } from "./calls.ts";
import { mib } from "./health-watch.ts";
import { useService } from "./started-service.ts";
import { emptyGrpc, floodWithStreams } from "./stream-flood.ts";

const liveBytesFile = join(mkdtempSync(join(tmpdir(), "kibitz-freed-")), "live-bytes");
afterAll(() => rmSync(dirname(liveBytesFile), { recursive: true }));

const service = useService({
  KIBITZ_ACCESS: "public",
  NODE_OPTIONS: `--import ${new URL("heap-on-signal.ts", import.meta.url)}`,
  LIVE_BYTES_FILE: liveBytesFile,
});

const heldMs = 8000;
const freedWithinMs = 60_000;
const liveMaxMore = 50 * mib;

/** The heap in use after a full collection, in bytes. */
async function liveBytes(): Promise<number> {
  rmSync(liveBytesFile, { force: true });
  process.kill(service.pid, "SIGUSR2");
  return vi.waitFor(
    () => {
      const bytes = Number(readFileSync(liveBytesFile, "utf8"));
      expect(bytes).toBeGreaterThan(0);
      return bytes;
    },
    { timeout: 10_000, interval: 20 },
  );
}

const addresses = (count: number) => Array.from({ length: count }, (_, index) => `127.0.9.${index + 1}`);

const check = { path: "/grpc.health.v1.Health/Check", ...emptyGrpc, connectionsPerAddress: 256 };
const price = { path: rpcOf("GetPrice"), ...emptyGrpc, connectionsPerAddress: 3 };

test.each([
  ["25,600 checks of one address", { ...check, addresses: addresses(1) }],
  ["18,000 calls of 60 addresses", { ...price, addresses: addresses(60) }],
])(
  "44: a minute after %s that nobody reads, the heap in use is within 50 MB of its size before",
  async (_, flood) => {
    const before = await liveBytes();
    const end = await floodWithStreams({ port: service.port, tinyHeaders: 110, ...flood });
    await sleep(heldMs);
    end();
    const isFreed = async () => expect((await liveBytes()) - before).toBeLessThan(liveMaxMore);
    await vi.waitFor(isFreed, { timeout: freedWithinMs, interval: 1000 });
  },
  120_000,
);
