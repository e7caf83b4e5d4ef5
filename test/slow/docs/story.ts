import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blocksOf, isShell } from "../../docs/blocks.ts";
import type { Need } from "../../support/components.ts";
import type { Ran, Terminal, World } from "./world.ts";

const root = join(import.meta.dirname, "../../..");

/** How the blocks of documents run or are checked. One reader follows the documents of a story, on one machine. */
export interface Story {
  readonly documents: readonly string[];
  /** The components that the blocks need besides a world. Only the nightly run has toolchains. */
  readonly needs?: readonly Need[];
  readonly needsAtNight?: readonly Need[];
  /** Absent for an ordinary user. */
  readonly reader?: "root";
  /**
   * How the reader has Kibitz. In a `checkout` in `~/kibitz`, where each terminal begins, the machine's Node may be an older one. If
   * Kibitz is `installed`, as by `npm install --global`, the machine's Node is the one of this run. Absent if the documents need
   * no command of Kibitz.
   */
  readonly kibitz?: "checkout" | "installed";
  /** True if the machine boots systemd, and reaches the registry of npm, because the documents install the service. */
  readonly boots?: true;
  /** The settings of a service that the documents presume, on the default ports. Absent if there is none, or a document starts it. */
  readonly service?: Readonly<Record<string, string>>;
  /** Variables of the terminals. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the checkout in which the terminals begin. */
  readonly folder?: string;
  /** Prepares the machine, for example files that a document names. */
  prepare?(scene: Scene): Promise<void>;
  /** Blocks that are more than commands that end by themselves, or than the output of the commands above them. */
  readonly blocks?: readonly SpecialBlock[];
}

export interface SpecialBlock {
  readonly document: string;
  /** Words that only this block of the document contains. */
  readonly has: string;
  /** Runs or checks the block. By default, a shell runs it. */
  does?(block: Block, scene: Scene): Promise<void>;
  /** A file with the same commands, which CI or the nightly run runs already. */
  readonly ranBy?: string;
  /** True if the block needs the toolchain of a language, so that only the nightly run runs it. */
  readonly atNight?: true;
}

export interface Scene {
  readonly world: World;
  readonly terminal: Terminal;
  /** The output of the last block that the shell has run. */
  readonly last: Ran;
}

/** The way in which a story runs or checks a block. */
type Treatment =
  | { readonly kind: "not run" }
  | { readonly kind: "ran elsewhere"; readonly by: string }
  | { readonly kind: "special"; readonly special: SpecialBlock & Required<Pick<SpecialBlock, "does">> }
  | { readonly kind: "shell"; readonly shown?: Block }
  | { readonly kind: "output" };

export interface Treated {
  readonly block: Block;
  /** Undefined if nothing runs or checks the block, which `test/docs/blocks.test.ts` reports. */
  readonly treatment: Treatment | undefined;
  readonly atNight: boolean;
}

/** Programs of toolchains at the beginning of a command: they download, compile or start slowly. */
const toolchains =
  /^(?:npm ci|npx openapi-typescript|pip|python|buf|go|mvn|java|cargo|grpcurl|openapi-python-client)\b/m;

/** The languages of snippets that need packages which Kibitz does not install. */
const snippets = ["python", "ts"];

export function treatBlocks(story: Story, document: string): readonly Treated[] {
  const blocks = blocksOf(document);
  const specials = (story.blocks ?? []).filter((special) => special.document === document);
  return blocks.map((block, index) => {
    const special = specials.find(({ has }) => block.text.includes(has));
    const [above, below] = [blocks[index - 1], blocks[index + 1]];
    return {
      block,
      treatment: treatmentOf(block, special, above, below),
      atNight:
        special?.atNight ??
        (snippets.includes(block.language) || (isShell(block) && toolchains.test(block.text))),
    };
  });
}

function treatmentOf(
  block: Block,
  special: SpecialBlock | undefined,
  above: Block | undefined,
  below: Block | undefined,
): Treatment | undefined {
  if (block.notRun !== undefined) {
    return { kind: "not run" };
  }
  if (special?.ranBy !== undefined) {
    return { kind: "ran elsewhere", by: special.ranBy };
  }
  if (special?.does !== undefined) {
    return { kind: "special", special: { ...special, does: special.does } };
  }
  if (isShell(block)) {
    return { kind: "shell", ...(below && isOutput(below) && { shown: below }) };
  }
  return above && isShell(above) && isOutput(block) ? { kind: "output" } : undefined;
}

/** True if the block shows what the commands above it print: nothing but a heading that can be opened stands between them. */
const isOutput = ({ language, before }: Block) =>
  ["json", "text"].includes(language) && /^(?:<details>.*)?$/.test(before.trim());

/** The commands of a block, without their comments. */
const commandsOf = ({ text }: Block) =>
  text
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");

/** Returns the commands of a block that a file does not contain. `npx` only chooses the Node of a checkout. */
export function missingIn(file: string, block: Block): readonly string[] {
  const content = readFileSync(join(root, file), "utf8");
  return commandsOf(block).filter((command) => !content.includes(command.replace(/^npx /, "")));
}
