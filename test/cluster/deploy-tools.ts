import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, digestOfFiles } from "../support/cache-folder.ts";

type DeployTool = "envoy" | "hadolint" | "kubernetes-validate" | "check-jsonschema";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
const venv = cacheFolder("deploy-tools", digestOfFiles(requirements));
const complete = join(venv, "complete");

export const isInstalled = () => existsSync(complete);

export const pathOf = (tool: DeployTool) => join(venv, "bin", tool);

/**
 * Installs the tools, or prints why the installation failed. A tool is installed again only after a change of
 * `requirements.txt`.
 */
export default function installDeployTools(): void {
  if (isInstalled()) {
    return;
  }
  const run = (file: string, ...args: readonly string[]) => execFileSync(file, args, { stdio: "pipe" });
  try {
    rmSync(venv, { recursive: true, force: true });
    run("python3", "-m", "venv", venv);
    run(join(venv, "bin/pip"), "install", "--quiet", "--no-deps", "-r", requirements);
    mkdirSync(complete);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: Buffer };
    console.log(`Not installed: Envoy and what checks deploy/, because ${stderr ?? error}.`);
  }
}
