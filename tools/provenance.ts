/**
 * Provenance of a release: a statement of in-toto with a predicate of SLSA 1, of which commit, by what, which files were made.
 * `npm run release` writes it, unsigned; who publishes signs by `npm publish --provenance`, and the signature is of the same digest.
 *
 *     node tools/provenance.ts write release     makes release/provenance.intoto.json
 *     node tools/provenance.ts verify release    fails where files and statement differ
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const statementFile = "provenance.intoto.json";
/** What says things of the other files, and is none of them. */
const notSubjects: ReadonlySet<string> = new Set([statementFile, "SHA256SUMS"]);

export interface Statement {
  readonly _type: "https://in-toto.io/Statement/v1";
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicateType: "https://slsa.dev/provenance/v1";
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string;
      readonly externalParameters: Readonly<Record<string, string>>;
      readonly internalParameters: Readonly<Record<string, string | boolean>>;
      readonly resolvedDependencies: readonly {
        readonly uri: string;
        readonly digest: Readonly<Record<string, string>>;
      }[];
    };
    readonly runDetails: {
      readonly builder: { readonly id: string; readonly version: Readonly<Record<string, string>> };
      readonly metadata: { readonly invocationId?: string; readonly finishedOn: string };
    };
  };
}

/** Of the files in a folder, as of the commit that is checked out. */
export function statementOf(folder: string, env: NodeJS.ProcessEnv = process.env): Statement {
  const printed = (file: string, ...args: readonly string[]) =>
    execFileSync(file, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  const { repository, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const source = sourceOf(repository, env);
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjectsIn(folder),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        // How the files come about: the script of that name, in the sources.
        buildType: `${source}#npm-run-release`,
        externalParameters: { command: "npm run release", version },
        internalParameters: {
          // What is uncommitted is in no commit.
          clean: printed("git", "status", "--porcelain") === "",
          platform: `${process.platform}-${process.arch}`,
        },
        resolvedDependencies: [
          { uri: source, digest: { gitCommit: printed("git", "rev-parse", "HEAD") } },
          { uri: "package-lock.json", digest: { sha256: sha256(join(root, "package-lock.json")) } },
        ],
      },
      runDetails: {
        builder: {
          id: builderOf(env),
          version: { node: process.version, npm: printed("npm", "--version") },
        },
        metadata: {
          ...(env.GITHUB_RUN_ID && { invocationId: env.GITHUB_RUN_ID }),
          finishedOn: new Date().toISOString(),
        },
      },
    },
  };
}

/** What is wrong with the files in a folder or their statement, in a sentence each. Nothing is asked of the network. */
export function faultsOf(folder: string, { subject, predicate }: Statement): readonly string[] {
  const stated = new Map(subject.map(({ name, digest }) => [name, digest.sha256]));
  const found = new Map(subjectsIn(folder).map(({ name, digest }) => [name, digest.sha256]));
  const names = new Set([...stated.keys(), ...found.keys()]);
  const faults = [...names].flatMap((name) => {
    if (!found.has(name)) {
      return `${name} is stated, and not there`;
    }
    if (!stated.has(name)) {
      return `${name} is there, and not stated`;
    }
    return stated.get(name) === found.get(name) ? [] : `${name} is not what was stated`;
  });
  const [sources] = predicate.buildDefinition.resolvedDependencies;
  const head = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
  if (sources?.digest.gitCommit !== head) {
    faults.push(`made from ${sources?.digest.gitCommit}, and ${head} is checked out`);
  }
  return faults;
}

function subjectsIn(folder: string): Statement["subject"] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !notSubjects.has(entry.name))
    .map(({ name }) => ({ name, digest: { sha256: sha256(join(folder, name)) } }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function sha256(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

function sourceOf(repository: { readonly url: string } | undefined, env: NodeJS.ProcessEnv): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = env;
  return server && name ? `git+${server}/${name}` : (repository?.url ?? "git+local");
}

/** GitHub's, as its own attestations name it, or whoever runs this by hand. */
function builderOf({
  GITHUB_WORKFLOW_REF: workflow,
  GITHUB_SERVER_URL: server,
  RUNNER_ENVIRONMENT: kind,
}: NodeJS.ProcessEnv) {
  if (workflow && server) {
    return `${server}/${workflow.split("@")[0]}#${kind ?? "self-hosted"}`;
  }
  return "by-hand";
}

if (import.meta.main) {
  const [task, folder = "release"] = process.argv.slice(2);
  const path = join(folder, statementFile);
  if (task === "write") {
    writeFileSync(path, `${JSON.stringify(statementOf(folder), undefined, 2)}\n`);
  } else if (task === "verify") {
    const statement: Statement = JSON.parse(readFileSync(path, "utf8"));
    const faults = faultsOf(folder, statement);
    for (const fault of faults) {
      console.error(fault);
    }
    console.log(`${path}: ${statement.subject.length} files, ${faults.length} faults`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } else {
    console.error("node tools/provenance.ts write|verify FOLDER");
    process.exitCode = 2;
  }
}
