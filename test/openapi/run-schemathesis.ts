import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, digestOfFiles } from "../support/cache-folder.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";
import { recordResult } from "../support/test-result.ts";

/**
 * Runs `npm run lane -- openapi`: schemathesis sends allowed and forbidden requests to a real server, and fails if a response does
 * not match the OpenAPI document.
 * Runs once without limits and once with the built-in plans. Needs Python 3.11 or newer with venv.
 */
const here = fileURLToPath(new URL(".", import.meta.url));

function run(command: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error || status !== 0) {
    throw new Error(`${command} ${args.join(" ")} failed`, { cause: error });
  }
}

/**
 * Returns the path of a Python environment with the packages of the requirements file. Creates the environment if the file has
 * changed.
 */
function virtualEnvironment(): string {
  const requirements = join(here, "requirements.txt");
  const folder = cacheFolder("schemathesis", digestOfFiles(requirements));
  const program = join(folder, "bin", "schemathesis");
  if (!existsSync(program)) {
    rmSync(folder, { recursive: true, force: true });
    run("python3", "-m", "venv", folder);
    run(join(folder, "bin", "pip"), "install", "--quiet", "--no-deps", "-r", requirements);
  }
  return program;
}

const program = virtualEnvironment();
const dataDir = mkdtempSync(join(tmpdir(), "kibitz-openapi-"));
const metFile = join(dataDir, "met.json");

async function check(
  name: string,
  configuration: string,
  settings: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<number> {
  const startedAt = performance.now();
  const { url, stop } = await startServer({
    ...quickestSettings,
    KIBITZ_ACCESS: "public",
    // With one worker, requests are slow only if the machine is busy.
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
    KIBITZ_DATA_DIR: mkdtempSync(join(dataDir, "data-")),
    KIBITZ_SYZYGY: join(here, "../tablebase/tables"),
    ...settings,
  });
  try {
    await verifyTable(url);
    const config = ["--config-file", join(here, configuration)];
    const given = [...args, ...process.argv.slice(2)];
    const tests = spawn(program, [...config, "run", `${url}/openapi.json`, ...given], {
      // schemathesis creates folders in its working directory.
      cwd: dataDir,
      stdio: "inherit",
      env: {
        ...process.env,
        KIBITZ_URL: url,
        KIBITZ_MET: metFile,
        PYTHONPATH: here,
        PYTHONDONTWRITEBYTECODE: "1",
      },
    });
    const [code] = await once(tests, "exit");
    record(name, code === 0, performance.now() - startedAt);
    return code ?? 1;
  } finally {
    await stop();
  }
}

/** Waits until the table of the looked up positions is verified. */
async function verifyTable(url: string): Promise<void> {
  const query = new URLSearchParams({ fen: "8/8/8/8/8/2k5/8/K6Q w - - 0 1" });
  let status: number;
  do {
    const response = await fetch(`${url}/v1/tablebase?${query}`);
    await response.text();
    ({ status } = response);
  } while (status === 503);
}

function record(name: string, passed: boolean, ms: number): void {
  const file = "test/openapi/run-schemathesis.ts";
  recordResult({ file, name, state: passed ? "passed" : "failed", ms: Math.round(ms) });
}

try {
  // First without limits, so that every valid request is answered.
  const unlimited = await check(
    "a service without limits answers as its document says",
    "schemathesis.toml",
    {
      KIBITZ_PLANS: join(here, "plans.json"),
      KIBITZ_KEYS_PER_DAY: "1000000",
    },
  );
  // Then with the default limits of the built-in plans.
  const limited = await check(
    "a service with the limits of the built-in plans answers as its document says",
    "limited.toml",
    { KIBITZ_TRUST_PROXY: "127.0.0.1" },
    ...["--exclude-path", "/v1/keys/self"],
  );
  const met: Readonly<Record<string, number>> = JSON.parse(readFileSync(metFile, "utf8"));
  console.log(`Limits that were met: ${JSON.stringify(met)}`);
  const unmet = ["402 upgrade_needed", "429 rate_limited"].filter((limit) => !met[limit]);
  if (unmet.length > 0) {
    console.error(`Limits that were not met, and so were not tested: ${unmet.join(", ")}`);
  }
  record("the limits of the built-in plans are met, 402 and 429", unmet.length === 0, 0);
  process.exitCode = unlimited || limited || (unmet.length > 0 ? 1 : 0);
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
