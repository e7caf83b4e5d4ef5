import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { echo } from "../../text/echo.ts";
import { after, wall } from "../../time/time.ts";

export interface LoadOptions {
  /** The hosts that may answer, over https only. Undefined allows every host, also over http. */
  readonly hosts: readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Called after each part. `total` is undefined if the server does not say how much comes. */
  readonly onProgress?: (bytes: number, total: number | undefined) => void;
  /** The longest time without a byte, in milliseconds. */
  readonly silenceMaxMs?: number | undefined;
  readonly maxBytes?: number | undefined;
}

const redirectsMax = 5;

/** Copies a file or the answer of a server to `target`. Returns the SHA-256 digest. */
export async function loadFile(source: string | URL, target: string, options: LoadOptions): Promise<string> {
  const hash = createHash("sha256");
  const hashed = async function* (parts: AsyncIterable<Buffer>) {
    for await (const part of parts) {
      hash.update(part);
      yield part;
    }
  };
  await load(source, options, (parts, signal) =>
    pipeline(parts, hashed, createWriteStream(target, { flags: "wx" }), { signal }),
  );
  return hash.digest("hex");
}

/** Returns the answer of a server, which must be JSON. */
export async function loadJson(source: URL, options: LoadOptions): Promise<unknown> {
  const content = await load(source, options, buffer);
  try {
    return JSON.parse(content.toString());
  } catch (error) {
    throw transferError(source, error);
  }
}

/** Passes the parts of a file, or of the answer of a server, to `consume`, within the limits of `options`. */
async function load<Result>(
  source: string | URL,
  { signal, hosts, onProgress = () => {}, silenceMaxMs = 60_000, maxBytes = 300e6 }: LoadOptions,
  consume: (parts: AsyncIterable<Buffer>, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const silent = new AbortController();
  const silence = after(silenceMaxMs, () =>
    silent.abort(new Error(`${nameOf(source)} sent nothing for ${silenceMaxMs / 1000} s; try again later`)),
  );
  const limited = AbortSignal.any([signal, silent.signal]);
  try {
    const { body, total } = await openSource(source, { hosts, signal: limited });
    if (total !== undefined && total > maxBytes) {
      body.destroy();
      throw tooLarge(source, maxBytes);
    }
    let bytes = 0;
    const counted = async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        silence.refresh();
        bytes += part.length;
        if (bytes > maxBytes) {
          throw tooLarge(source, maxBytes);
        }
        onProgress(bytes, total);
        yield part;
      }
    };
    return await consume(counted(body), limited);
  } catch (error) {
    limited.throwIfAborted();
    throw source instanceof URL ? transferError(source, error) : error;
  } finally {
    silence.cancel();
  }
}

interface OpenSource {
  readonly body: Readable;
  readonly total: number | undefined;
}

type RequestOptions = Pick<LoadOptions, "hosts" | "signal">;

async function openSource(source: string | URL, options: RequestOptions): Promise<OpenSource> {
  if (typeof source === "string") {
    return openFile(source);
  }
  const { body, headers } = await request(source, options);
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    await body?.cancel();
    // `fetch` has removed the encoding, and the digest is for the file as another program saves it.
    throw new LoadError(
      `${nameOf(source)} is sent with the content encoding ${echo(encoding)}, which changes its digest; load the file with another program, and use --from FILE with its --sha256`,
    );
  }
  const length = headers.get("content-length");
  const total = length === null ? undefined : Number(length);
  return {
    body: body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream<Uint8Array>),
    total,
  };
}

/** Checks the kind of the file before opening it, because opening a pipe without a writer never ends. */
async function openFile(path: string): Promise<OpenSource> {
  try {
    const found = await stat(path);
    if (!found.isFile()) {
      throw new LoadError(`${path} is not a regular file; give the file of the engine or its archive`);
    }
    return { body: (await open(path)).createReadStream(), total: found.size };
  } catch (error) {
    throw error instanceof LoadError
      ? error
      : new LoadError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function tooLarge(source: string | URL, maxBytes: number): Error {
  return new LoadError(`${nameOf(source)} is larger than ${maxBytes / 1e6} MB, so it is not loaded`);
}

/** Leaves out the password and the query of an address, because both may be secret. */
export function nameOf(source: string | URL): string {
  return source instanceof URL ? `${source.protocol}//${source.host}${source.pathname}` : source;
}

/** Says what is wrong and what to do. */
class LoadError extends Error {}

/** Follows redirects itself, because the host and the protocol of each redirect must be checked. */
async function request(
  url: URL,
  { hosts, signal }: RequestOptions,
  redirectsLeft = redirectsMax,
): Promise<Response> {
  if (hosts && (url.protocol !== "https:" || !hosts.includes(url.host))) {
    throw new LoadError(
      `the download leads to ${nameOf(url)}, but only these hosts are allowed, over https: ${hosts.join(", ")}`,
    );
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new LoadError(`the download leads to ${nameOf(url)}, but only https and http can be loaded`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new LoadError(
      `${nameOf(url)}: the address has a user or a password, which Kibitz does not send; load the file with another program, and use --from FILE with its --sha256`,
    );
  }
  const headers = { "accept-encoding": "identity", "user-agent": "kibitz" };
  const response = await fetch(url, { redirect: "manual", headers, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw transferError(url, error);
  });
  const location = response.headers.get("location");
  if (response.status >= 300 && response.status < 400 && location !== null) {
    await response.body?.cancel();
    if (redirectsLeft === 0) {
      throw new LoadError(`${nameOf(url)} redirects more than ${redirectsMax} times`);
    }
    const next = URL.parse(location, url);
    if (next === null) {
      throw new LoadError(`${nameOf(url)} redirects to ${echo(location)}, which is not an address`);
    }
    return request(next, { hosts, signal }, redirectsLeft - 1);
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new LoadError(`${nameOf(url)} answers ${response.status}${reasonOf(response)}`);
  }
  return response;
}

function reasonOf({ status, headers }: Response): string {
  if (status === 404) {
    return ": the file is not there";
  }
  if (status !== 403 && status !== 429) {
    return status >= 500 ? ": try again later" : "";
  }
  const resetS = Number(headers.get("x-ratelimit-reset"));
  const waitS = resetS > 0 ? resetS - wall() / 1000 : Number(headers.get("retry-after"));
  return waitS > 0
    ? `: the server limits how often this address may ask; try again in ${Math.ceil(waitS / 60)} min`
    : ": the server refuses this address; try again later";
}

/** True for an error of this machine, for example of its disk. An error of the network has such an error as its cause. */
export function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** Adds the way out to an error of the network. */
function transferError(url: URL, error: unknown): Error {
  if (error instanceof LoadError || isOfSystem(error)) {
    return error as Error;
  }
  const { message, cause } = error as Error;
  const { code: inner, message: reason = message } = (cause ?? {}) as NodeJS.ErrnoException;
  return new LoadError(
    `${nameOf(url)} could not be loaded (${inner ?? reason}). Try again; or load the file on another machine, and use --from FILE with its --sha256. Behind a proxy, set NODE_USE_ENV_PROXY=1 and HTTPS_PROXY.`,
    { cause: error },
  );
}
