import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, copySources, sourcesOf } from "../../support/build-once.ts";
import { runProgram } from "../run-program.ts";

/** The packages of npm and PyPI: generators, and what the generated clients import. Installed again only after a change. */
const npmPackages = sourcesOf(
  "generator-npm",
  ...["package.json", "package-lock.json"].map((file) => `test/clients/generated/typescript/${file}`),
);
const pythonPackages = sourcesOf("generator-python", "test/clients/generated/python/requirements.txt");

export const npmFolder = join(npmPackages.folder, "test/clients/generated/typescript");
export const pythonPrograms = join(pythonPackages.folder, "bin");
export const python = join(pythonPrograms, "python");

export function installNpmPackages(): Promise<void> {
  return buildOnce(npmPackages.folder, async (folder) => {
    await copySources(npmPackages, folder);
    const cwd = join(folder, "test/clients/generated/typescript");
    await runProgram(["npm", "ci", "--no-audit", "--no-fund"], { cwd });
  });
}

export function installPythonPackages(): Promise<void> {
  return buildOnce(pythonPackages.folder, async (folder) => {
    await runProgram(["python3", "-m", "venv", folder]);
    const requirements = fileURLToPath(new URL("python/requirements.txt", import.meta.url));
    const install = ["-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements];
    await runProgram([join(folder, "bin/python"), ...install]);
  });
}

export async function linkNpmPackages(folder: string): Promise<void> {
  await symlink(join(npmFolder, "node_modules"), join(folder, "node_modules"));
}
