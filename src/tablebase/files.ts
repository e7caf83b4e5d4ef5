import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { now } from "../time/time.ts";
import { checksumOf, chunkBytes, chunksMax } from "./checksum.ts";
import { DamagedTable } from "./damaged-table.ts";
import { createHasher, startHashThread } from "./hasher.ts";
import { checksumBytes, headBytesMax, type Layout, readLayout, type TableKind } from "./layout.ts";
import { type Material, materialFromName } from "./material.ts";
import { TableMiss } from "./miss.ts";
import type { ReadBytes } from "./values.ts";

/** The only module that reads files. Reads are positioned and run outside of the event loop. */
interface TableFiles extends AsyncDisposable {
  /** All materials of which there is a file. */
  readonly listed: readonly Material[];
  /** The materials with a file of results and a file of distances that are not known to be unusable. */
  materials(): readonly Material[];
  /** Changes if a file is added, removed, or gets other content. */
  digest(): string;
  /**
   * Waits until the file is verified, if it is not, at most until `signal` is aborted.
   * @throws TableMiss
   */
  open(name: string, kind: TableKind, signal?: AbortSignal): Promise<OpenFile>;
}

interface OpenFile {
  readonly layout: Layout;
  readonly read: ReadBytes;
  /** Remembers that the file is unusable. Returns the error to throw. */
  reject(error: unknown): TableMiss;
}

export interface FilesOptions {
  /** The limit of all pages and heads in memory. Default: 16 MB. */
  readonly cacheBytes?: number;
  /** Called once for each new problem of a folder or of a file. */
  readonly onProblem?: (path: string, problem: string) => void;
  /** Starts the thread that computes checksums. The system may refuse a thread for a while. */
  readonly startThread?: typeof startHashThread;
}

interface TableFile {
  readonly path: string;
  readonly material: Material;
  readonly kind: TableKind;
  /** The size and the last bytes of the file, which stand for its content. */
  content: string;
  state: FileState;
  verification: Promise<void> | undefined;
  /** The number of verifications that have failed since the last one that succeeded. */
  failures: number;
}

type FileState = { readonly kind: "unknown" } | UsableFile | UnusableFile;

interface UnusableFile {
  readonly kind: "unusable";
  /** The version that has the problem. Undefined if the file could not be opened. */
  readonly identity: string | undefined;
  /** False for a problem that may pass. */
  readonly isDamaged: boolean;
  readonly problem: string;
  readonly failedAt: number;
}

/** A version of a file that stays open. The keys of the cache are made of its `id`. */
interface UsableFile {
  readonly kind: "usable";
  readonly opened: Opened;
  readonly id: number;
}

interface Opened {
  readonly handle: FileHandle;
  readonly identity: string;
  readonly bytes: number;
}

const defaultCacheBytes = 16_000_000;
const pageBytes = 4096;
/** No file has so many pages. */
const pagesMax = 2 ** 32;
const headPage = pagesMax - 1;
/** The pause before a file is verified again. It doubles with each failure. */
const pauseMs = { first: 1000, max: 60_000 };
/** To read all of a larger table would take minutes. */
export const verifiedMenMax = 5;
const suffixes: readonly (readonly [string, TableKind])[] = [
  [".rtbw", "wdl"],
  [".rtbz", "dtz"],
];

/** Lists the tables in these folders. If two folders have the same file, the first counts. */
export async function openFiles(
  folders: readonly string[],
  { cacheBytes = defaultCacheBytes, onProblem = () => {}, startThread = startHashThread }: FilesOptions = {},
): Promise<TableFiles> {
  const files = new Map<string, TableFile>();
  const cache = new LRUCache<number, Uint8Array | Layout>({
    maxSize: cacheBytes,
    // A head that is decoded takes less than twice its bytes, and some objects.
    sizeCalculation: (item) => (item instanceof Uint8Array ? item.length + 200 : 2 * item.headBytes + 30_000),
  });
  const hasher = createHasher(startThread);
  let lastVerification: Promise<void> = Promise.resolve();
  let lastId = 0;
  let isClosed = false;

  for (const folder of folders) {
    await listFolder(folder);
  }

  async function listFolder(folder: string): Promise<void> {
    const names = await readdir(folder).catch((error: Error) => {
      onProblem(folder, `cannot be read: ${error.message}`);
      return [];
    });
    for (const [suffix, kind] of suffixes) {
      for (const name of names.filter((one) => one.endsWith(suffix)).toSorted()) {
        const material = materialFromName(name.slice(0, -suffix.length));
        if (material && !files.has(keyOf(material.name, kind))) {
          const path = join(folder, name);
          const state: FileState = { kind: "unknown" };
          const rest = { content: "", state, verification: undefined, failures: 0 };
          const file: TableFile = { path, material, kind, ...rest };
          files.set(keyOf(material.name, kind), file);
          await readContent(file).catch((error) => setUnusable(file, error));
        }
      }
    }
  }

  /** Reports the problem if it is new. */
  function setUnusable(file: TableFile, error: unknown, identity?: string): void {
    const problem = problemOf(error);
    const isKnown = file.state.kind === "unusable" && file.state.problem === problem;
    const isDamaged = error instanceof DamagedTable;
    file.state = { kind: "unusable", identity, isDamaged, problem, failedAt: now() };
    if (!isKnown && !isClosed) {
      onProblem(file.path, problem);
    }
  }

  /** Stops the use of a version, unless the file was verified again meanwhile. */
  function reject(file: TableFile, version: UsableFile, error: unknown): TableMiss {
    const { handle, identity } = version.opened;
    if (file.state === version) {
      setUnusable(file, error, identity);
      // A file that was only read is closed in any case.
      handle.close().catch(() => {});
    }
    return missOf(file, problemOf(error));
  }

  /** Starts the verification of a file after all others, because each reads a whole file. */
  function startVerification(file: TableFile): Promise<void> {
    if (!file.verification) {
      file.verification = lastVerification.then(() => verify(file));
      lastVerification = file.verification;
    }
    return file.verification;
  }

  /** Checks the head of a file, and the checksum of small tables. Never rejects. */
  async function verify(file: TableFile): Promise<void> {
    let opened: Opened | undefined;
    try {
      // Many files may wait for their verification, and each takes up to a second.
      if (isClosed) {
        throw new Error("is not verified, because the tables are closed");
      }
      opened = await openFile(file.path);
      const id = ++lastId;
      cache.set(pageKey(id, headPage), await readHead(file, opened));
      if (file.material.men <= verifiedMenMax) {
        await verifyChecksum(opened);
      }
      file.content = await contentOf(opened);
      file.state = { kind: "usable", opened, id };
      file.failures = 0;
    } catch (error) {
      file.failures++;
      setUnusable(file, error, opened?.identity);
      await opened?.handle.close().catch(() => {});
    } finally {
      file.verification = undefined;
    }
  }

  async function verifyChecksum({ handle, bytes }: Opened): Promise<void> {
    const end = bytes - checksumBytes;
    if (end > chunksMax * chunkBytes) {
      throw new DamagedTable("is too large for its pieces");
    }
    const hashes: Uint8Array[] = [];
    for (let at = 0; at < end; at += chunkBytes) {
      const chunk = await readFully(handle, at, Math.min(chunkBytes, end - at));
      hashes.push(await hasher.hash(chunk.buffer as ArrayBuffer));
    }
    const stored = await readFully(handle, end, checksumBytes);
    if (!Buffer.from(stored).equals(checksumOf(Buffer.concat(hashes)))) {
      throw new DamagedTable("is damaged: its checksum is wrong");
    }
  }

  /** A verification reads a whole file, so a file that has failed is not verified again at every look-up. */
  async function mayBeUsable(
    { path, failures }: TableFile,
    { identity, isDamaged, failedAt }: UnusableFile,
  ): Promise<boolean> {
    const present = await stat(path, { bigint: true }).then(identityOf, () => undefined);
    if (present !== identity && (identity === undefined || failures <= 1)) {
      // The file may have been repaired.
      return true;
    }
    const pause = Math.min(pauseMs.max, pauseMs.first * 2 ** Math.max(0, failures - 1));
    return (present !== identity || !isDamaged) && now() - failedAt >= pause;
  }

  /** Returns a version that is verified, after a wait if necessary. */
  async function verified(file: TableFile, signal: AbortSignal | undefined): Promise<UsableFile> {
    const { state: before } = file;
    if (before.kind === "unusable" && !(await mayBeUsable(file, before))) {
      throw missOf(file, before.problem);
    }
    if (file.state.kind !== "usable") {
      await waitFor(startVerification(file), signal, file.path);
    }
    const { state } = file;
    if (state.kind !== "usable") {
      throw missOf(file, state.kind === "unusable" ? state.problem : "has changed");
    }
    return state;
  }

  async function cached<T extends Uint8Array | Layout>(
    { id, opened }: UsableFile,
    page: number,
    read: () => Promise<T>,
  ): Promise<T> {
    const content = await read();
    await requireUnchanged(opened);
    cache.set(pageKey(id, page), content);
    return content;
  }

  async function readBytes(version: UsableFile, offset: number, length: number): Promise<Uint8Array> {
    const { id, opened } = version;
    const page = Math.floor(offset / pageBytes);
    const at = page * pageBytes;
    const bytes =
      (cache.get(pageKey(id, page)) as Uint8Array | undefined) ??
      (await cached(version, page, () =>
        readFully(opened.handle, at, Math.min(pageBytes, opened.bytes - at)),
      ));
    const end = offset + length - at;
    if (end <= pageBytes) {
      return bytes.subarray(offset - at, end);
    }
    const rest = await readBytes(version, at + pageBytes, end - pageBytes);
    return Buffer.concat([bytes.subarray(offset - at), rest]);
  }

  function materials(): readonly Material[] {
    const isUsable = (name: string, kind: TableKind) => {
      const state = files.get(keyOf(name, kind))?.state.kind;
      return state !== undefined && state !== "unusable";
    };
    return [...files.values()]
      .filter(
        ({ kind, material: { name } }) => kind === "wdl" && isUsable(name, kind) && isUsable(name, "dtz"),
      )
      .map(({ material }) => material);
  }

  return {
    listed: [...files.values()].map(({ material }) => material),
    materials,
    digest() {
      const names = new Set(materials().map(({ name }) => name));
      const lines = [...files].flatMap(([key, { material, content }]) =>
        names.has(material.name) ? [`${key} ${content}\n`] : [],
      );
      return createHash("sha256").update(lines.toSorted().join("")).digest("hex");
    },
    async open(name, kind, signal) {
      const file = files.get(keyOf(name, kind));
      if (!file) {
        throw new TableMiss("no_table", `there is no table ${name}`);
      }
      const version = file.state.kind === "usable" ? file.state : await verified(file, signal);
      try {
        const layout =
          (cache.get(pageKey(version.id, headPage)) as Layout | undefined) ??
          (await cached(version, headPage, () => readHead(file, version.opened)));
        return {
          layout,
          read: (offset, length) => readBytes(version, offset, length),
          reject: (error) => reject(file, version, error),
        };
      } catch (error) {
        throw reject(file, version, error);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      hasher[Symbol.dispose]();
      await lastVerification;
      for (const { state } of files.values()) {
        await (state.kind === "usable" ? state.opened.handle.close() : undefined);
      }
    },
  };
}

const pageKey = (id: number, page: number) => id * pagesMax + page;
const problemOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const missOf = ({ path }: TableFile, problem: string) =>
  new TableMiss("unusable_table", `${path}: ${problem}`);

async function readHead({ material, kind }: TableFile, { handle, bytes }: Opened): Promise<Layout> {
  return readLayout(material, kind, await readFully(handle, 0, Math.min(bytes, headBytesMax)), bytes);
}

async function readContent(file: TableFile): Promise<void> {
  const opened = await openFile(file.path);
  try {
    file.content = await contentOf(opened);
  } finally {
    await opened.handle.close();
  }
}

async function contentOf(opened: Opened): Promise<string> {
  const { handle, bytes } = opened;
  const last = await readFully(handle, Math.max(0, bytes - checksumBytes), checksumBytes);
  await requireUnchanged(opened);
  return `${bytes} ${Buffer.from(last).toString("hex")}`;
}

const keyOf = (name: string, kind: TableKind) => `${name} ${kind}`;

async function openFile(path: string): Promise<Opened> {
  // A named pipe would otherwise block until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) {
      throw new DamagedTable("is not a file");
    }
    return { handle, identity: identityOf(stats), bytes: Number(stats.size) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Differs for another file, and for the same file after a write. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

async function requireUnchanged({ handle, identity }: Opened): Promise<void> {
  if (identityOf(await handle.stat({ bigint: true })) !== identity) {
    throw new Error("has changed");
  }
}

/** @throws DamagedTable if the file is shorter */
async function readFully(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let read = 0; read < length; ) {
    const { bytesRead } = await handle.read(bytes, read, length - read, offset + read);
    if (bytesRead === 0) {
      throw new DamagedTable("ends too early");
    }
    read += bytesRead;
  }
  return bytes;
}

async function waitFor(
  verification: Promise<void>,
  signal: AbortSignal | undefined,
  path: string,
): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new TableMiss("unverified_table", `${path} is being verified`));
  if (signal?.aborted) {
    abort();
  }
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([verification, aborted.promise]);
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
