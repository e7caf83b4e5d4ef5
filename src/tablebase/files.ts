import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { checksumOf, chunkBytes, chunksMax } from "./checksum.ts";
import { DamagedTable } from "./damaged-table.ts";
import { createHasher } from "./hasher.ts";
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
}

interface TableFile {
  readonly path: string;
  readonly material: Material;
  readonly kind: TableKind;
  /** The size and the last bytes of the file, which stand for its content. */
  content: string;
  state: FileState;
  verification: Promise<void> | undefined;
}

/** `identity` says for which version of the file the state holds. */
type FileState =
  | { readonly kind: "unknown" }
  /** `id` is a number for this version, from which the keys of the cache are made. */
  | { readonly kind: "usable"; readonly identity: string; readonly id: number }
  /** The identity is undefined if the file could not be opened, or has changed during a read. */
  | { readonly kind: "unusable"; readonly identity: string | undefined; readonly problem: string };

interface Opened {
  readonly handle: FileHandle;
  readonly identity: string;
  readonly bytes: number;
}

/** A handle that is kept open. It is closed when it is evicted and nobody uses it. */
interface KeptHandle {
  readonly opened: Promise<Opened>;
  users: number;
  isEvicted: boolean;
}

const defaultCacheBytes = 16_000_000;
const pageBytes = 4096;
/** No file has so many pages. */
const pagesMax = 2 ** 32;
const headPage = pagesMax - 1;
const handlesMax = 128;
/** To read all of a larger table would take minutes. */
const verifiedMenMax = 5;
const suffixes: readonly (readonly [string, TableKind])[] = [
  [".rtbw", "wdl"],
  [".rtbz", "dtz"],
];

/** Lists the tables in these folders. If two folders have the same file, the first counts. */
export async function openFiles(
  folders: readonly string[],
  { cacheBytes = defaultCacheBytes, onProblem = () => {} }: FilesOptions = {},
): Promise<TableFiles> {
  const files = new Map<string, TableFile>();
  const handles = new LRUCache<string, KeptHandle>({ max: handlesMax, dispose: evict });
  const cache = new LRUCache<number, Uint8Array | Layout>({
    maxSize: cacheBytes,
    sizeCalculation: (item) => (item instanceof Uint8Array ? item.length + 200 : memoryOf(item)),
  });
  /** The reads of pages in progress. */
  const reading = new Map<number, Promise<Uint8Array>>();
  const hasher = createHasher();
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
          const file: TableFile = { path, material, kind, content: "", state, verification: undefined };
          files.set(keyOf(material.name, kind), file);
          await use(file, (opened) => readContent(file, opened)).catch((error) => reject(file, error));
        }
      }
    }
  }

  async function use<T>({ path }: TableFile, action: (opened: Opened) => Promise<T>): Promise<T> {
    let kept = handles.get(path);
    if (!kept) {
      kept = { opened: openFile(path), users: 0, isEvicted: false };
      handles.set(path, kept);
    }
    kept.users++;
    try {
      return await action(await kept.opened);
    } finally {
      kept.users--;
      closeIfUnused(kept);
    }
  }

  function evict(kept: KeptHandle): void {
    kept.isEvicted = true;
    closeIfUnused(kept);
  }

  async function readContent(file: TableFile, { handle, bytes, identity }: Opened): Promise<void> {
    const last = await readFully(handle, Math.max(0, bytes - checksumBytes), checksumBytes);
    await requireUnchanged(handle, identity);
    file.content = `${bytes} ${Buffer.from(last).toString("hex")}`;
  }

  /**
   * Remembers that a file is unusable, and reports this if it is new.
   * @param identity the version that is damaged. Undefined if a later attempt may succeed
   */
  function reject(file: TableFile, error: unknown, identity?: string): TableMiss {
    if (error instanceof TableMiss) {
      return error;
    }
    const problem = error instanceof Error ? error.message : String(error);
    const isKnown = file.state.kind === "unusable" && file.state.problem === problem;
    file.state = { kind: "unusable", identity, problem };
    handles.delete(file.path);
    if (!isKnown && !isClosed) {
      onProblem(file.path, problem);
    }
    return new TableMiss("unusable_table", `${file.path}: ${problem}`);
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
      opened = await openFile(file.path);
      const id = ++lastId;
      cache.set(pageKey(id, headPage), await readHead(file, opened));
      if (file.material.men <= verifiedMenMax) {
        await verifyChecksum(opened);
      }
      await readContent(file, opened);
      file.state = { kind: "usable", identity: opened.identity, id };
      // The kept handle may be of an earlier file at this path.
      handles.delete(file.path);
    } catch (error) {
      reject(file, error, opened?.identity);
    } finally {
      file.verification = undefined;
      await opened?.handle.close();
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

  /** Makes a file usable, or throws. */
  async function requireUsable(file: TableFile, signal: AbortSignal | undefined): Promise<void> {
    if (file.state.kind === "unusable") {
      // The file may have been repaired.
      const identity = await stat(file.path, { bigint: true }).then(identityOf, () => undefined);
      if (file.state.kind === "unusable" && file.state.identity === identity && identity !== undefined) {
        throw new TableMiss("unusable_table", `${file.path}: ${file.state.problem}`);
      }
    }
    if (file.state.kind !== "usable") {
      await waitFor(startVerification(file), signal, file.path);
    }
  }

  async function openTable(file: TableFile, signal: AbortSignal | undefined): Promise<OpenFile> {
    if (file.state.kind !== "usable") {
      await requireUsable(file, signal);
    }
    const { state } = file;
    if (state.kind !== "usable") {
      throw new TableMiss(
        "unusable_table",
        `${file.path}: ${state.kind === "unusable" ? state.problem : "has changed"}`,
      );
    }
    const key = pageKey(state.id, headPage);
    let layout = cache.get(key) as Layout | undefined;
    if (!layout) {
      layout = await readVersion(file, state.identity, (opened) => readHead(file, opened));
      cache.set(key, layout);
    }
    return {
      layout,
      read: (offset, length) => readPages(file, state, offset, length),
      reject: (error) => reject(file, error, error instanceof DamagedTable ? state.identity : undefined),
    };
  }

  /** @throws DamagedTable if the file is no longer this version */
  async function readVersion<T>(
    file: TableFile,
    identity: string,
    read: (opened: Opened) => Promise<T>,
  ): Promise<T> {
    return use(file, async (opened) => {
      if (opened.identity !== identity) {
        throw new Error("has changed");
      }
      const content = await read(opened);
      await requireUnchanged(opened.handle, identity);
      return content;
    });
  }

  async function readPages(
    file: TableFile,
    version: FileState & { readonly kind: "usable" },
    offset: number,
    length: number,
  ): Promise<Uint8Array> {
    const page = Math.floor(offset / pageBytes);
    const start = offset - page * pageBytes;
    const bytes = await readPage(file, version, page);
    if (start + length <= pageBytes) {
      return bytes.subarray(start, start + length);
    }
    const next = (page + 1) * pageBytes;
    return Buffer.concat([
      bytes.subarray(start),
      await readPages(file, version, next, offset + length - next),
    ]);
  }

  async function readPage(
    file: TableFile,
    { identity, id }: FileState & { readonly kind: "usable" },
    page: number,
  ): Promise<Uint8Array> {
    const key = pageKey(id, page);
    const cached = cache.get(key) as Uint8Array | undefined;
    if (cached) {
      return cached;
    }
    let read = reading.get(key);
    if (!read) {
      read = readVersion(file, identity, async ({ handle, bytes }) => {
        const at = page * pageBytes;
        return readFully(handle, at, Math.min(pageBytes, bytes - at));
      }).then((content) => {
        cache.set(key, content);
        return content;
      });
      reading.set(key, read);
      const forget = () => reading.delete(key);
      read.then(forget, forget);
    }
    return read;
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
      try {
        return await openTable(file, signal);
      } catch (error) {
        throw reject(file, error);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      hasher[Symbol.dispose]();
      await lastVerification;
      handles.clear();
    },
  };
}

const pageKey = (id: number, page: number) => id * pagesMax + page;

function closeIfUnused({ opened, users, isEvicted }: KeptHandle): void {
  if (isEvicted && users === 0) {
    opened.then(
      ({ handle }) => handle.close().catch(() => {}),
      // A file that could not be opened needs no close.
      () => {},
    );
  }
}

async function readHead({ material, kind }: TableFile, { handle, bytes }: Opened): Promise<Layout> {
  return readLayout(material, kind, await readFully(handle, 0, Math.min(bytes, headBytesMax)), bytes);
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

async function requireUnchanged(handle: FileHandle, identity: string): Promise<void> {
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

/** Returns about how many bytes a head takes in memory. */
function memoryOf({ sides }: Layout): number {
  return sides.flat().reduce((sum, { values, valueMaps = [] }) => {
    const symbols = values.kind === "coded" ? 5 * values.left.length : 0;
    return sum + 2000 + symbols + valueMaps.reduce((bytes, map) => bytes + 2 * map.length, 0);
  }, 1000);
}
