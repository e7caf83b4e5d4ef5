import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { onTestFinished } from "vitest";
import type { Block } from "../../docs/blocks.ts";
import type { Need } from "../../support/components.ts";
import { withoutChance } from "../../support/without-chance.ts";
import { goToolFile } from "../../tools/go-tools.ts";
import { installedPackage } from "./installed-package.ts";
import { type Scene, type Story, type Treated, treatBlocks } from "./story.ts";
import { openWorld, type Ran, type World } from "./world.ts";

const nothing: Ran = { stdout: "", stderr: "", failed: [] };

/**
 * Runs the blocks of documents from top to bottom, as printed.
 * @param atNight whether the blocks run that need toolchains and registries
 * @returns a text for each block that is wrong
 */
export async function runStory(story: Story, atNight: boolean): Promise<readonly string[]> {
  const documents = story.documents.map((document) =>
    treatBlocks(story, document).filter((treated) => runs(treated, atNight)),
  );
  if (documents.every((blocks) => blocks.length === 0)) {
    return [];
  }
  const world = await openWorld({
    isRoot: story.reader === "root",
    ...(story.kibitz === "installed" && { installed: await installedPackage() }),
    ...(story.kibitz === "checkout" && { checkout: atNight ? "as cloned" : "with node_modules" }),
    boots: story.boots === true,
    registries: atNight || story.boots === true,
    blockMaxMs: (atNight ? 15 : 2) * 60_000,
  });
  onTestFinished(() => world.close());
  await linkToolchains(world, atNight ? (story.needsAtNight ?? []) : []);
  await prepare(story, world);
  const wrong: string[] = [];
  for (const blocks of documents) {
    wrong.push(...(await runDocument(blocks, await openScene(story, world))));
  }
  return wrong;
}

/** True if a run has something to do for a block. */
export function runs({ treatment, atNight }: Treated, isNight: boolean): boolean {
  return (isNight || !atNight) && ["shell", "special", "output"].includes(treatment?.kind ?? "");
}

/** Starts the service that the documents presume, from this checkout. */
async function prepare(story: Story, world: World): Promise<void> {
  if (story.service !== undefined) {
    const terminal = world.openTerminal({ KIBITZ_DATA_DIR: `${world.home}/service`, ...story.service });
    const command = "cd /opt/kibitz && node_modules/.bin/node bin/kibitz.js serve";
    await terminal.start(command, "curl -sf localhost:8080/readyz >/dev/null");
  }
  await story.prepare?.(await openScene(story, world));
}

/** Programs of `components` that an ordinary user would have installed, but that this machine has only in a folder of root. */
const programsOf: Readonly<Partial<Record<Need, () => string>>> = {
  go: () => execFileSync("which", ["go"], { encoding: "utf8" }).trim(),
  grpcurl: () => goToolFile("grpcurl"),
};

async function linkToolchains(world: World, needs: readonly Need[]): Promise<void> {
  for (const need of needs) {
    const program = programsOf[need]?.();
    if (program !== undefined) {
      const to = `/usr/local/bin/${need}`;
      await (need === "go" ? world.run("ln", "-sf", program, to) : world.run("cp", program, to));
    }
  }
}

async function openScene(story: Story, world: World): Promise<Scene> {
  const terminal = world.openTerminal(story.env);
  if (story.kibitz === "checkout") {
    await terminal.run(`cd kibitz/${story.folder ?? ""}`);
  }
  return { world, terminal, last: nothing };
}

async function runDocument(blocks: readonly Treated[], start: Scene): Promise<readonly string[]> {
  const wrong: string[] = [];
  let scene = start;
  for (const { block, treatment } of blocks) {
    const note = (what: string) => wrong.push(`${block.document}:${block.line} ${what}`);
    if (treatment?.kind === "special") {
      await treatment.special.does(block, scene).catch((error) => note(error.message));
    } else if (treatment?.kind === "shell") {
      const ran = await scene.terminal.run(block.text);
      scene = { ...scene, last: ran };
      for (const what of wrongIn(ran, treatment.shown)) {
        note(`${what}\n${ran.stdout.slice(0, 2000)}${ran.stderr}`);
      }
    }
  }
  return wrong;
}

function wrongIn({ stdout, failed }: Ran, shown: Block | undefined): readonly string[] {
  if (failed.length > 0) {
    return failed;
  }
  if (shown === undefined) {
    return isProblem(stdout) ? ["printed a problem, and the document does not show one"] : [];
  }
  return isAsShown(stdout, shown) ? [] : [`printed something else than line ${shown.line} shows`];
}

/** Curl succeeds whatever the status is, so a wrong request would be noticed by nothing else. */
function isProblem(printed: string): boolean {
  const answer = jsonIn(printed);
  return typeof answer === "object" && answer !== null && "status" in answer && Number(answer.status) >= 400;
}

function isAsShown(printed: string, { language, text }: Block): boolean {
  if (language === "json") {
    return jsonIn(printed) !== undefined && isDeepStrictEqual(withoutChance(printed), withoutChance(text));
  }
  return printed.trimEnd() === text.trimEnd();
}

function jsonIn(printed: string): unknown {
  try {
    return JSON.parse(printed);
  } catch {
    return undefined;
  }
}
