import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";

/**
 * `npm run test:openapi`: schemathesis asks a real server all that its own document allows and forbids, and fails
 * on every answer that is not as the document says. Needs Python 3.11 or newer with venv.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

function run(command: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error || status !== 0) {
    throw new Error(`${command} ${args.join(" ")} failed`, { cause: error });
  }
}

/** Made once for each list of requirements. */
function virtualEnvironment(): string {
  const requirements = join(here, "requirements.txt");
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const folder = join(root, "node_modules", ".cache", `schemathesis-${digest}`);
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
const { url, stop } = await startServer({
  ...quickestSettings,
  KIBITZ_ACCESS: "public",
  KIBITZ_PLANS: join(here, "plans.json"),
  KIBITZ_KEYS_PER_DAY: "1000000",
  KIBITZ_DATA_DIR: dataDir,
});
try {
  const args = [
    "--config-file",
    join(here, "schemathesis.toml"),
    "run",
    `${url}/openapi.json`,
    ...process.argv.slice(2),
  ];
  const tests = spawn(program, args, {
    // It leaves folders where it runs.
    cwd: dataDir,
    stdio: "inherit",
    env: { ...process.env, KIBITZ_URL: url, PYTHONPATH: here, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const [code] = await once(tests, "exit");
  process.exitCode = code ?? 1;
} finally {
  await stop();
  rmSync(dataDir, { recursive: true, force: true });
}
