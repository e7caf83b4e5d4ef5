import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { cacheFolder, digestOfFiles } from "../support/cache-folder.ts";

const goTools = {
  grpcurl: { module: "github.com/fullstorydev/grpcurl/cmd/grpcurl", version: "v1.9.4" },
  ghz: { module: "github.com/bojand/ghz/cmd/ghz", version: "v0.121.0" },
  actionlint: { module: "github.com/rhysd/actionlint/cmd/actionlint", version: "v1.7.12" },
  helm: { module: "helm.sh/helm/v3/cmd/helm", version: "v3.18.6" },
  // The collector is built by its builder from the modules in `collector.yaml`.
  otelcol: { module: "go.opentelemetry.io/collector/cmd/builder", version: "v0.160.0" },
} as const;

const collectorParts = fileURLToPath(new URL("collector.yaml", import.meta.url));

type GoTool = keyof typeof goTools;

function folderOf(tool: GoTool): string {
  const { version } = goTools[tool];
  return cacheFolder(tool, tool === "otelcol" ? `${version}-${digestOfFiles(collectorParts)}` : version);
}

export function goToolFile(tool: GoTool): string {
  return `${folderOf(tool)}/${tool}`;
}

export function isInstalled(tool: GoTool): boolean {
  try {
    accessSync(goToolFile(tool), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const isGoTool = (need: string): need is GoTool => need in goTools;

/** Installs the missing tools that these tests need. */
export default function installGoTools(project: TestProject): void {
  for (const tool of project.getProvidedContext().needs.filter(isGoTool)) {
    if (isInstalled(tool)) {
      continue;
    }
    const { status, error, stderr } = install(tool);
    if (status === 0) {
      continue;
    }
    const reason = error
      ? "there is no Go toolchain"
      : `go install failed: ${stderr.trim().split("\n").at(-1)}`;
    console.log(`Not installed: ${tool}, because ${reason}.`);
  }
}

function install(tool: GoTool): SpawnSyncReturns<string> {
  const { module, version } = goTools[tool];
  const folder = folderOf(tool);
  const env = { ...process.env, GOBIN: folder };
  const installed = spawnSync("go", ["install", `${module}@${version}`], { env, encoding: "utf8" });
  if (tool !== "otelcol" || installed.status !== 0) {
    return installed;
  }
  return spawnSync(`${folder}/builder`, ["--config", collectorParts], {
    cwd: folder,
    env: { ...env, GOFLAGS: "-mod=mod" },
    encoding: "utf8",
  });
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const runGoTool = (tool: GoTool, ...args: readonly string[]) => run(goToolFile(tool), args);

export const runBuf = (...args: readonly string[]) => run("node_modules/.bin/buf", args);

async function run(file: string, args: readonly string[]): Promise<Finished> {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
