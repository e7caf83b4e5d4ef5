import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { loadAtRate, loadByH2load, readH2load } from "../../bench/service/h2load.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** As h2load 1.52 prints it. */
const printed = ({ done = 2000, succeeded = 2000, failed = 0, dataBytes = 998_000 } = {}) => `
finished in 2.00s, 566.00 req/s, 309.26KB/s
requests: ${done} total, 1140 started, ${done} done, ${succeeded} succeeded, ${failed} failed, 0 errored, 0 timeout
status codes: ${succeeded} 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 618.52KB (633362) total, 35.41KB (36260) headers (space savings 74.37%), 551.62KB (${dataBytes}) data
`;

describe("what h2load has printed", () => {
  test("tells how many calls were answered", () => {
    expect(readH2load(printed(), 499)).toBe(2000);
  });

  test.each([
    ["a call that failed", { succeeded: 1999, failed: 1 }],
    ["no call at all", { done: 0, succeeded: 0 }],
    ["a refusal, whose status is 200 and which has no message", { dataBytes: 998_000 - 499 }],
  ])("is a failure with %s", (_, changed) => {
    expect(() => readH2load(printed(changed), 499)).toThrow();
  });
});

/** Writes what its calls took behind what is in the log, as h2load does: one of a millisecond. */
const program = `#!/bin/sh
for arg; do
  case $arg in --log-file=*) printf '1\\t200\\t1000\\n' >> "\${arg#*=}" ;; esac
done
cat <<'END'
${printed()}
END
`;

describe("a load of h2load", () => {
  const folder = useTemporaryFolder();

  test.each([
    ["gRPC", loadByH2load],
    ["a rate", (load: Parameters<typeof loadByH2load>[0]) => loadAtRate(load, 80)],
  ])("tells how long its own calls took, by %s, and not those before it", async (_, ask) => {
    const timesFile = join(folder, "times.log");
    writeFileSync(join(folder, "h2load"), program, { mode: 0o755 });
    writeFileSync(timesFile, "1\t200\t900000\n1\t200\t900000\n");
    vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
    const load = { url: "", headers: {}, bodyFile: "", answerBytes: 499, callers: 8, seconds: 2, timesFile };
    expect(await ask(load).finally(() => vi.unstubAllEnvs())).toEqual({
      requests: 2000,
      seconds: 2,
      p50Ms: 1,
      p99Ms: 1,
    });
  });
});
