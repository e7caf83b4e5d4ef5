import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { copySources, sourcesOf } from "../../support/build-once.ts";
import { booted, bootScript, createGroup } from "./boot.ts";
import { openRegistries } from "./registries.ts";

const root = join(import.meta.dirname, "../../..");

/** The output of a command of a document, and the commands of the block that failed. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly failed: readonly string[];
}

/** A shell, in which blocks run one after another. Variables and the folder of a block remain for the next one. */
export interface Terminal {
  run(block: string): Promise<Ran>;
  /**
   * Runs a block that does not end by itself in another terminal, in the same folder. Resolves when `ready`, a shell command,
   * succeeds.
   */
  start(block: string, ready: string): Promise<Started>;
}

export interface Started {
  /** Ends the programs of the block, as Ctrl-C does, and waits until they have ended. */
  stop(): Promise<void>;
}

/**
 * A reader's machine: this machine with a network of its own, which has only the loopback, with processes of its own, and with
 * files of its own. What a document changes in the folders of `ownFolders` and in `/home` is gone afterwards.
 */
export interface World {
  /** The reader's home folder, where each terminal begins. */
  readonly home: string;
  /** The path by which this test reaches a file of the world. */
  outside(path: string): string;
  /** Runs a program as root, and returns what it prints. Throws if the program fails. */
  run(...command: readonly string[]): Promise<string>;
  openTerminal(env?: Readonly<Record<string, string>>): Terminal;
  close(): Promise<void>;
}

interface WorldOptions {
  /** True if the reader is root. Otherwise the reader is an ordinary user, who has no `/usr/sbin` in the `PATH`. */
  readonly isRoot?: boolean;
  /** A folder whose files appear in `/usr/local`, as after `npm install --global`. */
  readonly installed?: string;
  /** Puts a checkout of the reader's own into `~/kibitz`. */
  readonly checkout?: "with node_modules" | "as cloned";
  /** True if the world reaches the registries of packages, and nothing else. */
  readonly registries?: boolean;
  /** True if the world boots systemd. Then all files are its own, and it has neither `/opt/kibitz` nor an ordinary user. */
  readonly boots?: boolean;
  /** The longest time for a block, in milliseconds. */
  readonly blockMaxMs?: number;
}

const ownFolders = ["etc", "opt", "root", "usr/local", "var/lib", "var/cache"];
const uid = 4242;

/** This checkout is also in `/opt/kibitz`, read-only. */
const script = String.raw`
set -e
folder=$1 checkout=$2 installed=$3 root=$4 uid=$5
ip link set lo up
scratch=$folder/scratch
mount -t tmpfs -o mode=755 kibitz-docs "$scratch"
layer() { # lower folders, where, options
  mkdir -p "$scratch/upper$2" "$scratch/work$2" "$2"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$scratch/upper$2,workdir=$scratch/work$2$3" "$2"
}
shift 5
for own in "$@"; do layer "$([ "$own" != usr/local ] || printf '%s' "$installed")/$own" "/$own"; done
mount --bind "$folder/home" /home
echo "reader:x:$uid:$uid::/home/reader:/bin/bash" >>/etc/passwd
echo "reader:x:$uid:" >>/etc/group
printf '127.0.0.1 localhost\n::1 localhost\n' >/etc/hosts
mkdir /opt/kibitz
mount --bind "$root" /opt/kibitz
mount -o remount,bind,ro /opt/kibitz
if [ "$checkout" = "with node_modules" ]; then
  layer "$root/node_modules" /home/reader/kibitz/node_modules ,metacopy=on
fi
chown -R "$uid:$uid" /home/reader
echo ready
read -r _ || :
`;

export async function openWorld({
  isRoot = false,
  installed,
  checkout,
  registries = false,
  boots = false,
  blockMaxMs = 120_000,
}: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-docs-"));
  chmodSync(folder, 0o755);
  for (const name of ["scratch", "home", "home/reader", "blocks"]) {
    mkdirSync(join(folder, name));
  }
  if (checkout !== undefined) {
    await copySources(sourcesOf("checkout", "."), join(folder, "home/reader/kibitz"));
  }
  if (!isRoot) {
    chownSync(join(folder, "blocks"), uid, uid);
  }
  const layers = installed === undefined ? "" : `${installed}/usr/local:`;
  const own = ["--net", "--mount", "--pid", "--ipc", "--fork", "--kill-child"];
  const given = [folder, checkout ?? "", layers, root, String(uid), ...ownFolders];
  const group = boots ? createGroup(basename(folder)) : undefined;
  const [flag, opens] = boots ? ["--cgroup", bootScript] : ["--mount-proc", script];
  const [command = "", ...args] = [
    ...(group?.through ?? []),
    ...["unshare", ...own, flag, "bash", "-c", opens, "world", ...given],
  ];
  const holder = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [first] = await Promise.race([once(createInterface(holder.stdout), "line"), once(holder, "exit")]);
  if (first !== "ready") {
    throw new Error(`the world of the documents ended with ${first}`);
  }
  const pid = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim();
  const enter = ["--target", pid, "--net", "--mount", "--pid", "--ipc"];
  if (boots) {
    await booted(enter);
  }
  const outside = (path: string) => `/proc/${pid}/root${path}`;
  const network = registries ? await openRegistries(enter, folder, outside) : undefined;
  const home = isRoot ? "/root" : "/home/reader";
  let terminals = 0;
  return {
    home,
    outside,
    async run(...command) {
      const child = spawn("nsenter", [...enter, ...command], { stdio: ["ignore", "pipe", "pipe"] });
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      if (code !== 0) {
        throw new Error(`${command.join(" ")} ended with ${code}\n${stdout}${stderr}`);
      }
      return stdout;
    },
    openTerminal(env = {}) {
      terminals++;
      return openTerminal({
        blocks: join(folder, "blocks", `${terminals}-`),
        blockMaxMs,
        open: () => openShell(enter, home, isRoot, env),
      });
    },
    async close() {
      network?.close();
      holder.kill("SIGKILL");
      await once(holder, "exit");
      await group?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const paths = {
  root: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ordinary: "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
};

/** How this machine reaches registries belongs to the machine, as `/etc/npmrc` does. */
const registrySettings =
  /^(PIP_\w+|GOPROXY|GOSUMDB|GOFLAGS|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|SSL_CERT_FILE)$/;

function openShell(
  enter: readonly string[],
  home: string,
  isRoot: boolean,
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const become = isRoot ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const name = isRoot ? "root" : "reader";
  const all = {
    ...Object.fromEntries(Object.entries(process.env).filter(([key]) => registrySettings.test(key))),
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: isRoot ? paths.root : paths.ordinary,
    ...env,
  };
  const settings = Object.entries(all).map(([key, value]) => `${key}=${value}`);
  return spawn(
    "nsenter",
    [...enter, ...become, "env", "--ignore-environment", ...settings, "bash", "--norc"],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
}

interface TerminalParts {
  /** The beginning of the paths of the files of each block. */
  readonly blocks: string;
  readonly blockMaxMs: number;
  open(): ChildProcess;
}

/**
 * The shell also notes a command that fails before the last command of a block, and a program of a pipeline. A program whose
 * reader has ended, such as before `head`, ends with 141 and has not failed.
 */
const noteFailures = String.raw`cd
set -E -o pipefail
trap '__code=$?; [ $__code -eq 141 ] || printf "%s ended with %s\n" "$BASH_COMMAND" $__code >&8' ERR
`;

function openTerminal({ blocks, blockMaxMs, open }: TerminalParts): Terminal {
  const shell = open();
  const lines = createInterface(shell.stdout as NonNullable<typeof shell.stdout>);
  const shellEnded = once(shell, "exit").then(() => ["with its shell"]);
  shell.stdin?.write(noteFailures);
  let count = 0;
  const read = (path: string) => readFileSync(path, "utf8");

  async function run(block: string): Promise<Ran> {
    count++;
    const path = `${blocks}${count}`;
    writeFileSync(`${path}.sh`, `${block}\n`);
    shell.stdin?.write(
      `exec 8>${path}.failed; . ${path}.sh >${path}.out 2>${path}.err </dev/null; echo "with $?"\n`,
    );
    const late = AbortSignal.timeout(blockMaxMs);
    const [end] = await Promise.race([
      once(lines, "line"),
      shellEnded,
      once(late, "abort").then(() => ["never"]),
    ]);
    // The last line is about the block itself, if its last command failed.
    const failed = read(`${path}.failed`)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith(`. ${path}.sh `));
    const isFine = failed.length > 0 || end === "with 0" || end === "with 141";
    return {
      stdout: read(`${path}.out`),
      stderr: read(`${path}.err`),
      failed: isFine ? failed : [`the block ended ${end}`],
    };
  }

  return {
    run,
    async start(block, ready) {
      const folder = (await run("pwd")).stdout.trim();
      const other = (name: string) =>
        openTerminal({ blocks: `${blocks}${count}-${name}-`, blockMaxMs, open });
      const server = other("server");
      const shell = (await server.run(`cd ${folder} && echo $$`)).stdout.trim();
      // As in a terminal, standard input stays open: some servers stop when it ends.
      const ended = server.run(`exec < <(sleep infinity)\n${block}`);
      const end = await Promise.race([
        ended,
        other("ready")
          .run(`until ${ready}; do sleep 0.1; done`)
          .then(({ failed: [never] }) => never),
      ]);
      if (end !== undefined) {
        throw new Error(`a block that should stay does not: ${JSON.stringify(end)}\n${block}`);
      }
      return {
        async stop() {
          await other("stop").run(`pkill --signal INT --parent ${shell}`);
          await ended;
        },
      };
    },
  };
}
